"""Measure the errors of a finished release against the private table, with noise, and bound them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from core.base.arrays import Floats, IntArray
from core.base.errors import BadParameter
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.released import MOST_ROWS, STEPS, AnswerErrors, ShareDistances, few_numbers
from core.kernel.tables import TOTAL
from core.mechanisms.measured.measured import CONFIDENCE, Measured, MeasuredErrors
from core.mechanisms.measured.targets import Target, targets
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass, Source
from core.schema.domain import Domain

ROWS_PART = Fraction(1, 8)
"""Of the amount, for the number of rows: its noise moves an error of a few per cent by a few per cent of itself."""
ROWS_MISS = 0.01
"""The part of 1 - CONFIDENCE that is left to the number of rows, where it is private."""


@dataclass(frozen=True, kw_only=True)
class ErrorMeasuring:
    """The largest and the mean errors of a release: of each class, of all single columns, of all pairs of columns.

    **Privacy** the release is public by then, so its answers are constants. Every figure moves by at most L rows
    (`kernel/released.py`), so k figures and the number of rows take `amount` in all: epsilon of Laplace noise, or rho
    of Gaussian noise.

    **Accuracy** noise of scale k L/(7/8 amount) rows, or of variance k L^2/(2 7/8 amount), in each figure. An error as
    a share is the figure divided by the private number of rows N. Bounds take the noise of both into account: the
    figure misses its one-sided bound with a probability of at most 4 %, and N the smaller end of its interval with at
    most 1 %; of the two-sided interval of a mean, 4 % and 1 % likewise. Where N is public the figure has all 5 %.
    Errors are never below 0, so a figure that noise has taken below 0 is read as 0: no upper end is smaller than the
    noise, and nobody is told that an error is less than what could have been seen. This only raises upper ends.
    What the released shares lose when they are written as whole steps is known exactly and is added.

    **Runtime** one pass over the table for each of its tables of counts, and the same over the records.
    """

    queries: tuple[QueryClass, ...]
    amount: Fraction
    """Epsilon, or rho."""
    pure: bool
    """Whether Laplace noise is drawn."""

    def check(self, domain: Domain, unit: Unit) -> None:
        """Refuse where there is nothing to be measured, or nothing to be seen through the noise."""
        if not self.targets(domain):
            raise BadParameter("measure", "cannot be had for these classes; set it to 0.")
        if self.noise(domain, unit) > MOST_ROWS:
            raise BadParameter("measure", "is too small a part of this budget to see anything; set it to 0.")

    def targets(self, domain: Domain) -> tuple[Target, ...]:
        return targets(self.queries, domain)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        counting, comparing = self._events(domain, unit)
        return Cost.of([*([counting] if counting else []), *comparing])

    def noise(self, domain: Domain, unit: Unit) -> float:
        """The noise of a figure stays below this many rows, 95 % of the time; from public facts only."""
        chosen, (_, events) = self.targets(domain), self._events(domain, unit)
        level = NoiseLevel(events[0], few_numbers(chosen[0].numbers, unit))
        return level.tail(2 * (1 - CONFIDENCE)) / STEPS

    def run(self, kernel: Kernel, released: Source, share: Fraction) -> Measured:
        """Compare; `released` answers as the finished release does, over the schema of the kernel."""
        counting, comparing = self._events(kernel.domain, kernel.unit)
        rows = CountedRows.measured(kernel, counting)
        chosen = zip(self.targets(kernel.domain), comparing, strict=True)
        parts = [
            _tables(kernel, target, event, released, rows)
            if target.tables
            else _answers(kernel, target, event, released, rows)
            for target, event in chosen
        ]
        return Measured(share=float(share), rows=rows.about, rows_low=rows.low, rows_high=rows.high, parts=tuple(parts))

    def _events(self, domain: Domain, unit: Unit) -> tuple[Additive | None, list[Additive]]:
        """What the number of rows and each target get: all figures the same noise."""
        kind = Laplace if self.pure else Gaussian
        chosen = self.targets(domain)
        counting = None if unit.public_rows else kind(self.amount * ROWS_PART)
        left = self.amount if unit.public_rows else self.amount * (1 - ROWS_PART)
        every = sum(target.numbers for target in chosen)
        return counting, [kind(left * target.numbers / every) for target in chosen]


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """The number of rows that turns figures into shares."""

    about: int
    low: int
    """At least so many, but for a probability of `ROWS_MISS`; `high` likewise, also both together."""
    high: int
    miss: float
    """The probability that is left for a figure to miss its bound."""

    @classmethod
    def measured(cls, kernel: Kernel, event: Additive | None) -> CountedRows:
        if event is None:
            known = kernel.public_rows or 0
            return cls(about=known, low=known, high=known, miss=1 - CONFIDENCE)
        found = kernel.measure(TOTAL, event)
        value, reach = int(found.values), int(found.level.tail(ROWS_MISS))
        low, high = max(0, value - reach), max(0, value + reach)
        return cls(about=max(0, value), low=low, high=high, miss=1 - CONFIDENCE - ROWS_MISS)

    def bound(self, steps: int, level: NoiseLevel, slack: float) -> float:
        """A share that a figure stays below."""
        return _share(max(0, steps) + level.tail(2 * self.miss), self.low, slack)

    def around(self, steps: int, level: NoiseLevel, slack: float) -> tuple[float, float, float]:
        """A figure as a share, with both ends of its interval."""
        reach = level.tail(self.miss)
        low = min(1.0, max(0.0, (steps - reach) / STEPS / self.high - slack)) if self.high else 0.0
        high = _share(max(0, steps) + reach, self.low, slack)
        return min(max(_share(steps, self.about, 0.0), low), high), low, high

    def errors(
        self, about: str, number: int, largest: int, mean: int, level: NoiseLevel, slack: float
    ) -> MeasuredErrors:
        """What a largest and a mean figure say of so many answers or tables."""
        value, low, high = self.around(mean, level, slack)
        within = self.bound(largest, level, slack)
        return MeasuredErrors(about=about, number=number, within=within, mean=value, mean_low=low, mean_high=high)


def _share(steps: float, rows: int, slack: float) -> float:
    """Never above 1, which no error exceeds, and never below 0."""
    return min(1.0, max(0.0, steps / STEPS / rows) + slack) if rows > 0 else 1.0


def _answers(kernel: Kernel, target: Target, event: Additive, released: Source, rows: CountedRows) -> MeasuredErrors:
    assert target.query is not None
    shares = target.query.answers(released)
    steps = in_steps(shares)
    found = kernel.measure(AnswerErrors(target.query, steps), event)
    slack = float(np.abs(shares - steps / STEPS).max(initial=0.0))
    largest, mean = (int(value) for value in found.values)
    return rows.errors(target.about, len(shares), largest, mean, found.level, slack)


def _tables(kernel: Kernel, target: Target, event: Additive, released: Source, rows: CountedRows) -> MeasuredErrors:
    whole = float(released.marginal(()).sum()) or 1.0
    tables = [released.marginal(columns) / whole for columns in target.tables]
    steps = [table_in_steps(table) for table in tables]
    found = kernel.measure(ShareDistances(target.tables, tuple(steps)), event)
    slack = max(_lost(table, each) for table, each in zip(tables, steps, strict=True))
    cell, largest, mean = (int(value) for value in found.values)
    errors = rows.errors(target.about, len(tables), largest, mean, found.level, slack)
    return replace(errors, count_within=rows.bound(cell, found.level, slack))


def in_steps(shares: Floats) -> IntArray:
    """Shares as whole steps, rounded down."""
    return np.floor(np.clip(shares, 0.0, 1.0) * STEPS).astype(np.int64)


def table_in_steps(shares: Floats) -> IntArray:
    """The same for a table, whose steps sum to at most the whole whatever its shares sum to."""
    return in_steps(shares / max(1.0, float(np.clip(shares, 0.0, 1.0).sum()) * (1 + 2**-40)))


def _lost(shares: Floats, steps: IntArray) -> float:
    """What any sum of cells of a table can lose by the steps, or by shares that do not sum to 1 exactly."""
    written = steps / STEPS
    return float(np.abs(shares - written).sum() + abs(1 - shares.sum()) + (1 - written.sum()) / 2)
