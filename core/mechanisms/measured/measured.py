"""What was measured of a finished release: bounds and intervals of its errors, for machines and for people."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from core.base.wording import plural

CONFIDENCE = 0.95
DIGITS = 2


@dataclass(frozen=True, kw_only=True)
class MeasuredErrors:
    """Errors of some released answers or tables, as shares of the rows; every bound holds 95 % of the time."""

    about: str
    """What was compared."""
    number: int
    """How many answers or tables."""
    within: float
    """No answer is further off than this; of tables, no sum of cells of any table is."""
    mean: float
    """Mean error as measured; of tables, of the worst sum of cells of each."""
    mean_low: float
    mean_high: float
    count_within: float | None = None
    """Of tables: no single count is further off than this."""

    @property
    def single(self) -> float:
        """A bound for each answer or count alone.

        Never the smaller of two bounds: each holds 95 % of the time, the smaller one need not.
        """
        return self.within if self.count_within is None else self.count_within

    def sentence(self) -> str:
        """What was found, without what cannot be otherwise: nothing is off by more than all rows."""
        spread = f"{down(self.mean_low)} to {up(self.mean_high)} on average"
        if self.count_within is None:
            said = [
                f"every answer within {up(self.within)}" if self.within < 1 else "",
                f"off by {spread}" if self.mean_high < 1 else "",
            ]
        else:
            # A bound for all groups of cells bounds single ones too; a weaker one beside it would only confuse.
            said = [
                f"every count within {up(self.single)}" if self.single < min(self.within, 1) else "",
                f"every group of cells within {up(self.within)}" if self.within < 1 else "",
                f"the worst group of a table is off by {spread}" if self.mean_high < 1 else "",
            ]
        return f"{self.about}: {'; '.join(filter(None, said)) or 'the noise is too large to bound anything'}."


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The figures of one release. All of it is public: it was paid for."""

    share: float
    """Part of the release's budget that was spent on measuring."""
    rows: int
    """The number of rows as measured; the exact one where that is public."""
    rows_low: int
    rows_high: int
    parts: tuple[MeasuredErrors, ...]
    confidence: float = CONFIDENCE

    def headline(self) -> str:
        """The first figure in one line."""
        part = self.parts[0]
        if part.single >= 1:
            return "Measured, but the noise is too large to bound any error."
        answers = plural(part.number, "answer")
        what = f"all {answers}" if part.count_within is None else f"all counts of {plural(part.number, 'table')}"
        return f"Measured: {what} within {up(part.single)} (95 %)."

    def sentences(self) -> list[str]:
        """One line for each thing that was compared."""
        return [part.sentence() for part in self.parts]

    def note(self) -> str:
        """What the figures mean."""
        return (
            f"Compared with the private table, with noise, for {up(self.share)} of the release's budget. Errors are "
            "parts of all rows; each bound and each range for a mean holds with a probability of 95 %."
        )


def up(share: float) -> str:
    """A share in per cent, two digits, rounded up.

    >>> up(0.00698), up(0.1234), up(1.0), up(0.0)
    ('0.7 %', '13 %', '100 %', '0 %')
    """
    return _percent(share, math.ceil)


def down(share: float) -> str:
    """The same, rounded down.

    >>> down(0.00698), down(0.0)
    ('0.69 %', '0 %')
    """
    return _percent(share, math.floor)


def _percent(share: float, rounded: Callable[[float], int]) -> str:
    if share <= 0:
        return "0 %"
    place = DIGITS - 1 - math.floor(math.log10(100 * share))
    # What is a decimal on paper is none in floats: 0.7 % must not become 0.71 %.
    percent = rounded(round(100 * share * 10.0**place, 6)) / 10.0**place
    return f"{percent:.{max(0, place)}f}".rstrip("0").rstrip(".") + " %" if place > 0 else f"{percent:,.0f} %"
