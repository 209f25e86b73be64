"""Private distinguishers (G definition 5.5): which question shows best that the hypothesis is wrong.

**Privacy** each choice is one exponential mechanism over a public list of candidates: `Selection(epsilon)`. Scores are
integers: exact totals of the private table minus rounded totals of the public hypothesis. A unit changes a single
question by at most `unit.limit * denominator` (removing rows lowers it by at most that, adding them raises it by at
most that), and the L1 distance of a table by at most `unit.l1`.

**Accuracy** with probability 1 - gamma the chosen error is within F = (2 sensitivity/epsilon) ln(|Q|/gamma) of the
largest one (G theorem 5.5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.kernel.query import Query
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.protocol import Columns, QueryClass, Source
from core.queries.kit.question import Question, Statistic, WholeTable, place_of, totals_on
from core.queries.kit.sources import tables_of
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain
from core.table.counts import Counts

Integers = NDArray[np.int64]
GRAIN = 64
"""Unequal weights of tables become whole numbers up to this one, because scores are whole numbers."""


class Distinguisher(Protocol):
    """Chooses the next question at the price of `Selection(epsilon)`."""

    def choose(self, counts: Counts, hypothesis: Source, noise: NoiseSource, epsilon: Fraction) -> Question: ...

    def log_size(self, domain: Domain) -> float:
        """Natural logarithm of the number of candidates."""

    def sensitivity(self, domain: Domain, unit: Unit) -> int:
        """Largest change of a score between neighbours."""


def gaps(queries: Sequence[QueryClass], counts: Counts, hypothesis: Source) -> tuple[Integers, list[int], int]:
    """Signed errors of all members of several classes laid end to end, the size of each class, and the common grid.

    An entry is (true total - rounded hypothetical total) in units of 1/grid rows, where grid is the largest denominator
    of the classes.
    """
    domain = counts.domain
    grid = grid_of(queries, domain)
    parts = []
    for query in queries:
        believed = np.rint(totals_on(query, hypothesis)).astype(np.int64)
        parts.append((totals_on(query, counts).astype(np.int64) - believed) * (grid // query.denominator(domain)))
    return np.concatenate(parts), [part.size for part in parts], grid


def grid_of(queries: Sequence[QueryClass], domain: Domain) -> int:
    return max(query.denominator(domain) for query in queries)


@dataclass(frozen=True)
class Members:
    """Single questions of classes that can be listed, by the size of their error."""

    queries: tuple[QueryClass, ...]

    def choose(self, counts: Counts, hypothesis: Source, noise: NoiseSource, epsilon: Fraction) -> Query | Statistic:
        errors, sizes, _ = gaps(self.queries, counts, hypothesis)
        sensitivity = self.sensitivity(counts.domain, counts.unit)
        index = noise.select(np.abs(errors), epsilon=epsilon, sensitivity=sensitivity)
        query, place = place_of(self.queries, sizes, index)
        if isinstance(query, Lipschitz):
            return Statistic(query, place, query.denominator(counts.domain))
        return query.member(counts.domain, place)

    def log_size(self, domain: Domain) -> float:
        return _log_sum([query.log_size(domain) for query in self.queries])

    def sensitivity(self, domain: Domain, unit: Unit) -> int:
        return unit.limit * grid_of(self.queries, domain)


@dataclass(frozen=True)
class Tables:
    """Whole tables, by the L1 distance that is left after the noise a measurement would add.

    Without taking the expected noise off, a large table would be chosen for the noise in it alone.
    """

    weights: tuple[tuple[Columns, float], ...]
    """The tables, each with how much it matters."""
    error: float
    """Mean absolute error of one cell when the table is measured; public."""

    def choose(self, counts: Counts, hypothesis: Source, noise: NoiseSource, epsilon: Fraction) -> WholeTable:
        scores = [
            weight * (int(np.abs(counts.marginal(columns) - believed).sum()) - round(self.error * believed.size))
            for (columns, weight), believed in zip(self._whole_weights(), self._believed(hypothesis), strict=True)
        ]
        sensitivity = self.sensitivity(counts.domain, counts.unit)
        index = noise.select(np.array(scores, dtype=np.int64), epsilon=epsilon, sensitivity=sensitivity)
        return WholeTable(self.weights[index][0])

    def log_size(self, domain: Domain) -> float:
        return math.log(len(self.weights))

    def sensitivity(self, domain: Domain, unit: Unit) -> int:
        return unit.l1 * max(weight for _, weight in self._whole_weights())

    def _whole_weights(self) -> list[tuple[Columns, int]]:
        values = [weight for _, weight in self.weights]
        grain = 1 if min(values) == max(values) else GRAIN
        return [(columns, max(1, round(grain * weight / max(values)))) for columns, weight in self.weights]

    def _believed(self, hypothesis: Source) -> list[Integers]:
        return [np.rint(table).astype(np.int64) for table in tables_of(hypothesis, [key for key, _ in self.weights])]


@dataclass(frozen=True)
class Ends:
    """All N(N+1)/2 signed intervals of one ordered column, drawn exactly in O(N) through their two ends."""

    intervals: Intervals

    def choose(self, counts: Counts, hypothesis: Source, noise: NoiseSource, epsilon: Fraction) -> Query:
        # Sums are rounded, not cells: rounding errors of many cells would add up.
        believed = np.rint(self.intervals.prefix(hypothesis)).astype(np.int64)
        errors = self.intervals.prefix(counts) - believed
        sensitivity = self.sensitivity(counts.domain, counts.unit)
        first, last = sorted(noise.select_pair(errors, epsilon=epsilon, sensitivity=sensitivity))
        return self.intervals.interval(counts.domain, first, last)

    def log_size(self, domain: Domain) -> float:
        return math.log(2) + self.intervals.log_size(domain)

    def sensitivity(self, domain: Domain, unit: Unit) -> int:
        return unit.limit


def _log_sum(logs: Sequence[float]) -> float:
    largest = max(logs)
    return largest + math.log(sum(math.exp(value - largest) for value in logs)) if math.isfinite(largest) else largest
