"""Private distinguishers (G definition 5.5): which question shows best that the hypothesis is wrong.

**Privacy** each choice is one exponential mechanism over a public list of candidates: `Selection(epsilon)`. What is
compared is public, and rounded; the scores and their sensitivities are those of `kernel/scores.py`.

**Accuracy** with probability 1 - gamma the chosen error is within F = (2 sensitivity/epsilon) ln(|Q|/gamma) of the
largest one (G theorem 5.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.base.arrays import Columns
from core.kernel.kernel import Kernel
from core.kernel.query import Query, Statistic
from core.kernel.scores import Errors, PrefixErrors, TableErrors
from core.kernel.tables import Marginal
from core.privacy.events import Selection
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass, Source
from core.queries.kit.question import Question, log_size_of, place_of, whole, whole_totals
from core.queries.kit.sources import tables_of
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain

GRAIN = 64
"""Unequal weights of tables become whole numbers up to this one, because scores are whole numbers."""


class Distinguisher(Protocol):
    """Chooses the next question at the price of one selection."""

    def choose(self, kernel: Kernel, hypothesis: Source, event: Selection) -> Question: ...

    def log_size(self, domain: Domain) -> float:
        """Natural logarithm of the number of candidates."""


@dataclass(frozen=True)
class WorstMember:
    """Single questions of classes that can be listed, by the size of their error."""

    queries: tuple[QueryClass, ...]

    def choose(self, kernel: Kernel, hypothesis: Source, event: Selection) -> Query | Statistic:
        believed = whole_totals(self.queries, hypothesis)
        index = kernel.choose(Errors(self.queries, kernel.domain, np.concatenate(believed)), event)
        query, place = place_of(self.queries, [totals.size for totals in believed], index)
        if isinstance(query, Lipschitz):
            return Statistic(query, place, query.denominator(kernel.domain))
        return query.member(kernel.domain, place)

    def log_size(self, domain: Domain) -> float:
        return log_size_of(self.queries, domain)


@dataclass(frozen=True)
class WorstTable:
    """Whole tables, by the L1 distance that is left after the noise a measurement would add.

    Without taking the expected noise off, a large table would be chosen for the noise in it alone.
    """

    weights: tuple[tuple[Columns, float], ...]
    """The tables, each with how much it matters."""
    error: float
    """Mean absolute error of one cell when the table is measured; public."""

    def choose(self, kernel: Kernel, hypothesis: Source, event: Selection) -> Marginal:
        columns = tuple(key for key, _ in self.weights)
        believed = tuple(whole(table) for table in tables_of(hypothesis, columns))
        noise = tuple(round(self.error * table.size) for table in believed)
        return Marginal(columns[kernel.choose(TableErrors(columns, believed, self._whole_weights(), noise), event)])

    def log_size(self, domain: Domain) -> float:
        return math.log(len(self.weights))

    def _whole_weights(self) -> tuple[int, ...]:
        values = [weight for _, weight in self.weights]
        grain = 1 if min(values) == max(values) else GRAIN
        return tuple(max(1, round(grain * weight / max(values))) for weight in values)


@dataclass(frozen=True)
class WorstInterval:
    """All N(N+1)/2 signed intervals of one ordered column, drawn exactly in O(N) through their two ends."""

    intervals: Intervals

    def choose(self, kernel: Kernel, hypothesis: Source, event: Selection) -> Query:
        # Sums are rounded, not cells: rounding errors of many cells would add up.
        believed = whole(self.intervals.prefix(hypothesis))
        errors = PrefixErrors(self.intervals.column, self.intervals.edges(kernel.domain), believed)
        first, last = sorted(kernel.choose_ends(errors, event))
        return self.intervals.interval(kernel.domain, first, last)

    def log_size(self, domain: Domain) -> float:
        return math.log(2) + self.intervals.log_size(domain)
