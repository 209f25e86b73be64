"""One measured answer of an adaptive mechanism, and the private counts kept at hand between rounds.

**Privacy** a single question changes by at most `unit.limit * denominator` between neighbours, a whole table by at
most `unit.l1` in L1 and `unit.l2_squared` in squared L2; noise is calibrated to that. For a replaced unit of several
rows and a statistic that is not linear: its rows are replaced, added or removed one by one in at most `limit` steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.kit.measurement import Portion
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import Columns, QueryClass
from core.queries.kit.question import Question, WholeTable
from core.schema.domain import Domain
from core.table.counts import Counts

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answer:
    """A question with its noisy value: a number, or the cells of a table."""

    question: Question
    value: NDArray[Any]
    sigma: float
    """Standard deviation of the noise in each number."""


def ask(counts: Counts, question: Question, event: Laplace | Gaussian, noise: NoiseSource) -> Answer:
    """Measure one question at the price of an event."""
    hidden = np.asarray(question.total(counts), dtype=np.int64)
    unit, grid = touched(question, counts.unit), question.denominator
    if isinstance(event, Laplace):
        value = noise.laplace(hidden, epsilon=event.epsilon, sensitivity=unit.l1 * grid)
    else:
        value = noise.gaussian(hidden, rho=event.rho, sensitivity_squared=unit.l2_squared * grid**2)
    return Answer(question, np.asarray(value), Portion(question.columns, event).sigma(unit) * grid)


def touched(question: Question, unit: Unit) -> Unit:
    """The unit whose `l1` and `l2_squared` bound the change of this question's answer.

    A replacement moves rows between cells of a table, which counts twice; but it lowers and raises a single question
    by at most `limit` rows each, so the net change is that of adding or removing.
    """
    single = not isinstance(question, WholeTable) or not question.columns
    return replace(unit, neighbours="add-remove") if single else unit


def merged(answers: Sequence[Answer], new: Answer) -> list[Answer]:
    """The answers with a new one; a table that was measured before becomes one table with less noise."""
    if not isinstance(new.question, WholeTable):
        return [*answers, new]
    kept, precision, value = [], 1 / new.sigma**2, new.value / new.sigma**2
    for answer in answers:
        if answer.question == new.question:
            precision, value = precision + 1 / answer.sigma**2, value + answer.value / answer.sigma**2
        else:
            kept.append(answer)
    return [*kept, Answer(new.question, value / precision, 1 / math.sqrt(precision))]


@dataclass(frozen=True)
class Remembered:
    """Counts that are counted once: every round looks at the same private tables."""

    counts: Counts
    tables: dict[Columns, Integers] = field(default_factory=dict)
    totals: dict[int, Integers] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        return self.counts.domain

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        return self.counts.public_rows

    def marginal(self, columns: Sequence[str]) -> Integers:
        key = tuple(columns)
        if key not in self.tables:
            self.tables[key] = self.counts.marginal(key)
        return self.tables[key]

    def points(self, columns: Sequence[str]) -> tuple[Integers, Integers]:
        return self.counts.points(columns)

    def totals_for(self, query: QueryClass) -> Integers:
        if id(query) not in self.totals:
            self.totals[id(query)] = np.asarray(query.totals(self))
        return self.totals[id(query)]
