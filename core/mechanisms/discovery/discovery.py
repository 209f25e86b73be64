"""Suggestions for a schema that are bought: bounds of numbers and dates, categories of texts.

Bounds and categories must not be read off the data for nothing. Where no code book has them, a slice of the budget
buys noisy counts over *public* candidates, and what stands out of the noise becomes a suggestion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

import numpy as np

from core.base.errors import BadParameter, printable
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.raw import END, Buckets, NextBytes
from core.mechanisms.kit.portions import share_of
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.spellings import EPOCH

SurveyKind = Literal["number", "date", "text"]
LONGEST = 24
"""Bytes of a category that can be found, in UTF-8; each byte is a level that must be paid for."""
MOST_PREFIXES = 200
"""Beginnings of texts that are followed up per level; the largest noisy counts go first."""
FALSE_ALARM = 0.05
"""Probability that anything is suggested for a column that is not there."""
ROUND = tuple(
    sorted({0.0} | {sign * digit * 10.0**power for sign in (-1, 1) for digit in (1, 2, 5) for power in range(-3, 13)})
)
"""Candidates for bounds of numbers: 1, 2 and 5 times powers of ten."""
YEARS = tuple(float(date(year, 1, 1).toordinal() - EPOCH) for year in range(1850, 2151))
"""Candidates for bounds of dates, in days since 1970: the first of every January."""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """What stands out of the noise; public, because it was paid for."""

    low: float | str | None = None
    high: float | str | None = None
    values: tuple[str, ...] = ()
    missing: bool = False

    @property
    def empty(self) -> bool:
        return self.low is None and not self.values


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """Buy bounds and categories of some columns, each column with an equal part of the budget.

    **Privacy** Numbers and dates: one table of counts over public candidate buckets. Texts: level by level the tables
    of the next byte after each beginning that stood out on the level before (`kernel/raw.py`); which beginnings are
    followed depends on noisy counts only. The parts of the LONGEST + 1 levels add up to the column's part (zCDP: Bun
    and Steinke 2016, lemma 2.3; pure: basic composition).

    **Accuracy** A bucket or category with more than twice the threshold of rows is found, and nothing else is
    suggested, each with probability at least 1 - FALSE_ALARM; `threshold` tells it from public facts.

    **Runtime** O(distinct texts x LONGEST + levels x MOST_PREFIXES x 257).
    """

    columns: Mapping[str, SurveyKind]
    budget: Budget

    def __post_init__(self) -> None:
        if not self.columns:
            raise BadParameter("columns", "choose at least one column to discover.")
        for name, kind in self.columns.items():
            if kind not in ("number", "date", "text"):
                raise BadParameter("columns", f"'{printable(name)}' must be a number, date or text column.")

    def cost(self) -> Cost:
        return Cost.of(self._event(kind) for kind in self.columns.values() for _ in range(_levels(kind)))

    def threshold(self, name: str, unit: Unit) -> float:
        """Rows that a bucket or category needs to stand out, about."""
        kind = self.columns[name]
        cells = (LONGEST + 1) * MOST_PREFIXES * (END + 1) if kind == "text" else len(ROUND) + len(YEARS)
        asked = NextBytes(name, (b"",)) if kind == "text" else self._buckets(name)
        return NoiseLevel.of(asked, self._event(kind), unit).tail(FALSE_ALARM / cells)

    def run(self, kernel: Kernel) -> dict[str, Suggestion]:
        return {
            name: self._find_categories(kernel, name) if kind == "text" else self._find_bounds(kernel, name)
            for name, kind in self.columns.items()
        }

    def _find_bounds(self, kernel: Kernel, name: str) -> Suggestion:
        asked, kind = self._buckets(name), self.columns[name]
        seen = kernel.measure(asked, self._event(kind)).values > self.threshold(name, kernel.unit)
        if not seen[:-1].any():
            return Suggestion(missing=bool(seen[-1]))
        first, last = np.flatnonzero(seen[:-1])[[0, -1]]
        low, high = asked.edges[max(first - 1, 0)], asked.edges[min(last, len(asked.edges) - 1)]
        if kind == "date":
            return Suggestion(low=_day(low), high=_day(high - 1), missing=bool(seen[-1]))
        return Suggestion(low=low, high=high, missing=bool(seen[-1]))

    def _find_categories(self, kernel: Kernel, name: str) -> Suggestion:
        least, event = self.threshold(name, kernel.unit), self._event("text")
        alive: list[bytes] = [b""]
        found: dict[bytes, float] = {}
        for _ in range(LONGEST + 1):
            # A level without beginnings is asked all the same, so that what happens next is what was paid for.
            noisy = kernel.measure(NextBytes(name, alive), event).values
            ended = zip(alive, noisy[:, END], strict=False)
            found |= {text: float(count) for text, count in ended if count > least}
            longer = [
                (float(noisy[place, byte]), alive[place] + bytes([byte]))
                for place, byte in np.argwhere(noisy[: len(alive), :END] > least)
            ]
            alive = [beginning for _, beginning in sorted(longer, reverse=True)[:MOST_PREFIXES]]
        texts = {_text(raw): count for raw, count in found.items() if _text(raw) is not None}
        named = sorted((text for text in texts if text), key=lambda text: -texts[text])
        return Suggestion(values=tuple(str(text) for text in named), missing=b"" in found)

    def _buckets(self, name: str) -> Buckets:
        dates = self.columns[name] == "date"
        return Buckets(name, YEARS if dates else ROUND, dates)

    def _event(self, kind: SurveyKind) -> Additive:
        return share_of(self.budget, Fraction(1, len(self.columns) * _levels(kind)))


def _levels(kind: SurveyKind) -> int:
    return LONGEST + 1 if kind == "text" else 1


def _text(raw: bytes) -> str | None:
    """A found text, or None where noise made up bytes that are none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def _day(number: float) -> str:
    return date.fromordinal(int(number) + EPOCH).isoformat()
