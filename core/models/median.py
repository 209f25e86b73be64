"""A set of databases that answers by its median, and the update that halves it (G definition 5.6, algorithm 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Floats, IntArray
from core.kernel.query import Statistic
from core.kernel.tables import Marginal
from core.models.points import Points
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import Learnt, Question
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain

MOST_HELD = 2**24
"""Cells of all members' tables that are held at a time: 128 MB."""


@dataclass(frozen=True, eq=False)
class MedianSet:
    """Databases of equally many rows, each scaled to the number of rows of the private table.

    A question is answered by the median of its members' answers, which need not fit together as any one table's would.
    Records are drawn from all members together.

    **Runtime** a question O(members x rows); a class O(members x questions), from the answers prepared at the start.
    """

    domain: Domain
    members: IntArray
    """One database per line: the places of its rows in the universe."""
    total: float
    answers: tuple[tuple[QueryClass, Floats], ...]
    """For each class the answers of every member, one line per member."""

    def __len__(self) -> int:
        return len(self.members)

    @property
    def scale(self) -> float:
        """Rows of the private table that one row of a member stands for."""
        return self.total / self.members.shape[1]

    def values(self, question: Learnt) -> Floats:
        """Each member's answer to a question."""
        if isinstance(question, Statistic):
            assert isinstance(question.query, Lipschitz)
            return self._lines(question.query)[:, question.index] * self.scale
        if isinstance(question, Marginal | GroupedTable):
            raise TypeError("a set of databases answers single questions only")
        places = _places(question.columns, self.domain, self.members)
        return question.weights.ravel()[places].sum(axis=1) * self.scale

    def total_for(self, question: Question) -> Any:
        return np.median(self.values(question))

    def totals_for(self, query: QueryClass) -> Floats:
        return np.median(self._lines(query), axis=0) * self.scale

    def kept(self, mask: NDArray[np.bool_]) -> MedianSet:
        answers = tuple((query, lines[mask]) for query, lines in self.answers)
        return replace(self, members=self.members[mask], answers=answers)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The median of every cell. Most cells are empty in most members, so only the others are looked at."""
        size, count = self.domain.cells(columns), len(self)
        if not columns:
            return np.asarray(self.total)
        places = _places(columns, self.domain, self.members)
        pairs, times = np.unique(np.arange(count)[:, None] * size + places, return_counts=True)
        cells = pairs % size
        table = np.zeros(size)
        for cell in np.flatnonzero(np.bincount(cells, minlength=size) * 2 >= count):
            found = times[cells == cell]
            table[cell] = np.median(np.concatenate([found, np.zeros(count - found.size)]))
        return table.reshape(self.domain.shape(columns)) * self.scale

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.points.sample(rows, generator)

    @property
    def points(self) -> Points:
        """All members together, as weighted records."""
        places, times = np.unique(self.members, return_counts=True)
        codes = np.stack(np.unravel_index(places, self.domain.shape()), axis=1).astype(np.int64)
        return Points(self.domain, codes, times.astype(np.float64) * (self.scale / len(self)))

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {}

    def _lines(self, query: QueryClass) -> Floats:
        """As prepared at the start; a class that is asked later is answered member by member."""
        prepared = next((lines for own, lines in self.answers if own is query), None)
        return _answers(query, self.domain, self.members) if prepared is None else prepared


@dataclass(frozen=True, eq=False)
class Halving:
    """Throw away every database on the wrong side of the median: T(alpha) = log2 |net| (G theorem 5.8).

    Nothing here needs linear questions, so it also serves classes that are not linear (G theorem 5.10).
    """

    queries: tuple[QueryClass, ...]
    net: IntArray

    def start(self, domain: Domain, total: float) -> MedianSet:
        answers = tuple((query, _answers(query, domain, self.net)) for query in self.queries)
        return MedianSet(domain, self.net, total, answers)

    def apply(self, hypothesis: MedianSet, question: Learnt, value: Any, slack: float = 0.0) -> MedianSet:
        """At least half of the members go; if that is all of them, those nearest to the value stay."""
        values, wanted = hypothesis.values(question), float(value)
        middle = float(np.median(values))
        if abs(wanted - middle) < slack:
            return hypothesis
        right = values < middle if wanted < middle else values > middle
        if not right.any():
            distance = np.abs(values - wanted)
            right = distance == distance.min()
        return hypothesis.kept(right)

    def steps(self, domain: Domain, alpha: float) -> float:
        return math.log2(len(self.net))


def _answers(query: QueryClass, domain: Domain, net: IntArray) -> Floats:
    """The totals of every member of a net, one line each; through single records where a class is linear and
    those are fewer than members."""
    if isinstance(query, Lipschitz) and len(net) * domain.cells(query.columns) <= MOST_HELD:
        return np.asarray(query.values(_tables(query.columns, domain, net), domain), dtype=np.float64)
    places, inverse = np.unique(net, return_inverse=True)
    if places.size > len(net) or isinstance(query, Lipschitz):
        return np.stack([_totals(query, domain, member) for member in net])
    single = np.stack([_totals(query, domain, place[None]) for place in places])
    lines = np.zeros((len(net), single.shape[1]))
    for column in inverse.reshape(net.shape).T:
        lines += single[column]
    return lines


def _tables(columns: Sequence[str], domain: Domain, net: IntArray) -> IntArray:
    """The table of every member over some columns, one line each."""
    cells = domain.cells(columns)
    lines = np.arange(len(net))[:, None] * cells + _places(columns, domain, net)
    return np.bincount(lines.ravel(), minlength=len(net) * cells).reshape(len(net), cells)


def _places(columns: Sequence[str], domain: Domain, net: IntArray) -> IntArray:
    """Where each row of each member falls in the table over the columns."""
    codes = np.unravel_index(net, domain.shape())
    places = np.zeros_like(net)
    for column in columns:
        places = places * domain[column].size + codes[domain.names.index(column)]
    return places


def _totals(query: QueryClass, domain: Domain, places: IntArray) -> Floats:
    codes = np.stack(np.unravel_index(places, domain.shape()), axis=1).astype(np.int64)
    return np.asarray(query.totals(Points(domain, codes, np.ones(len(codes)))), dtype=np.float64)
