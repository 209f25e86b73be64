"""An explicit set of small databases that answers by its median (T 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import sparse

from core.base.arrays import Floats, IntArray
from core.base.axes import summed
from core.kernel.query import Query
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False, kw_only=True)
class Databases:
    """Databases of equally many rows, each scaled to the number of rows of the private table.

    The possible ones answer: those within the limits of all released answers, or, if these are fewer than `fewest`,
    those that go beyond the limits least.

    **Runtime** a question O(members x different records of a member).
    """

    domain: Domain
    total: float
    """Rows of the private table, public or measured."""
    size: int
    """Rows of each member."""
    counts: sparse.csr_array
    """One member per line: how often each possible record occurs."""
    beyond: Floats
    """For each member the sum of squares of how far it is beyond the limits of released answers, in limits."""
    fewest: int = 1

    @classmethod
    def of(cls, domain: Domain, total: float, size: int, counts: sparse.csr_array, fewest: int = 1) -> Databases:
        """All of these databases, before any answer."""
        beyond = np.zeros(counts.shape[0])
        return cls(domain=domain, total=total, size=size, counts=counts, beyond=beyond, fewest=fewest)

    def __len__(self) -> int:
        return int(self._possible.shape[0])

    @cached_property
    def _possible(self) -> sparse.csr_array:
        least = min(self.fewest, self.beyond.size) - 1
        limit = np.partition(self.beyond, least)[least]
        return self.counts if limit == self.beyond.max() else self.counts[np.flatnonzero(self.beyond <= limit)]

    def values(self, question: Query) -> Floats:
        """Each possible member's answer in rows."""
        return self._answers(self._possible, question)

    def learnt(self, question: Query, value: float, half: float, generator: np.random.Generator) -> Databases:
        """The set after a released answer that is right to within `half` rows."""
        distance = np.abs(self._answers(self.counts, question) - value)
        return replace(self, beyond=self.beyond + np.maximum(distance / half - 1, 0.0) ** 2)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The mean over all possible members, which is a table that fits together."""
        cells = np.asarray(self._possible.sum(axis=0), dtype=np.float64) * (self.total / (self.size * len(self)))
        return summed(cells.reshape(self.domain.shape()), self.domain.names, columns)

    def _answers(self, counts: sparse.csr_array, question: Query) -> Floats:
        totals = counts @ everywhere(question, self.domain)
        return np.asarray(totals * (self.total / (self.size * question.denominator)))


def everywhere(question: Query, domain: Domain) -> IntArray:
    """A question's weight for every possible record."""
    order = sorted(range(len(question.columns)), key=lambda place: domain.names.index(question.columns[place]))
    shape = [domain[name].size if name in question.columns else 1 for name in domain.names]
    weights = question.weights.transpose(order).reshape(shape)
    return np.ascontiguousarray(np.broadcast_to(weights, domain.shape())).reshape(-1)


def listed(places: IntArray, cells: int) -> sparse.csr_array:
    """Databases given by the places of their rows, as counts."""
    members, rows = places.shape
    lines = np.repeat(np.arange(members), rows)
    counted = sparse.coo_array((np.ones(places.size, dtype=np.int64), (lines, places.reshape(-1))), (members, cells))
    return sparse.csr_array(counted)


def all_of(cells: int, rows: int) -> sparse.csr_array:
    """Every database of so many rows: bars between stars, in all ways."""
    bars = np.array(list(combinations(range(rows + cells - 1), cells - 1)), dtype=np.int64).reshape(-1, cells - 1)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, rows + cells - 1)))
    return sparse.csr_array(np.diff(ends, axis=1) - 1)
