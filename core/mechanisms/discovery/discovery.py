"""Suggestions for a schema that are bought: bounds of numbers and dates, categories of texts.

Bounds and categories must not be read off the data for nothing. Where no code book has them, a slice of the budget
buys noisy counts over *public* candidates, and what stands out of the noise becomes a suggestion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter, printable
from core.mechanisms.kit.portions import Portion
from core.privacy.accounting import rho_for
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.schema.values import EPOCH, days, number

Integers = NDArray[np.int64]
Kind = Literal["number", "date", "text"]
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
END = 256
"""The mark after the last byte of a text."""


@dataclass(frozen=True, eq=False)
class Values:
    """One column before any schema: its distinct texts and how many rows have each. Private."""

    texts: list[str]
    counts: Integers
    nulls: int


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

    **Privacy** Numbers and dates: one table of counts over public candidate buckets, to which a unit adds or from
    which it takes at most unit.l1 rows. Texts: level by level the tables of the next byte after each beginning that
    stood out on the level before; a row falls into at most one cell of a level, so each of the LONGEST + 1 levels
    changes by at most unit.l1 in L1 and unit.l2_squared in squared L2, and which beginnings are followed depends on
    noisy counts only. The levels' parts add up to the column's part (zCDP: Bun and Steinke 2016, lemma 2.3; pure:
    basic composition).

    **Accuracy** A bucket or category with more than twice the threshold of rows is found, and nothing else is
    suggested, each with probability at least 1 - FALSE_ALARM; `threshold` tells it from public facts.

    **Runtime** O(distinct texts x LONGEST + levels x MOST_PREFIXES x 257).
    """

    columns: Mapping[str, Kind]
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
        return self._threshold(self.columns[name], unit)

    def run(self, values: Mapping[str, Values], unit: Unit, noise: NoiseSource) -> dict[str, Suggestion]:
        found = {}
        for name, kind in self.columns.items():
            private = values[name]
            if kind == "text":
                found[name] = self._categories(private, unit, noise)
            else:
                found[name] = self._bounds(private, kind, unit, noise)
        return found

    def _bounds(self, values: Values, kind: Kind, unit: Unit, noise: NoiseSource) -> Suggestion:
        edges = YEARS if kind == "date" else ROUND
        read = days if kind == "date" else number
        table = np.zeros(len(edges) + 2, dtype=np.int64)
        table[-1] = values.nulls
        for text, count in zip(values.texts, values.counts, strict=True):
            value = read(text)
            bucket = -1 if value is None or math.isnan(value) else int(np.searchsorted(edges, value, side="right"))
            table[bucket] += count
        seen = self._noisy(table, kind, unit, noise) > self._threshold(kind, unit)
        if not seen[:-1].any():
            return Suggestion(missing=bool(seen[-1]))
        first, last = np.flatnonzero(seen[:-1])[[0, -1]]
        low, high = edges[max(first - 1, 0)], edges[min(last, len(edges) - 1)]
        if kind == "date":
            return Suggestion(low=_day(low), high=_day(high - 1), missing=bool(seen[-1]))
        return Suggestion(low=low, high=high, missing=bool(seen[-1]))

    def _categories(self, values: Values, unit: Unit, noise: NoiseSource) -> Suggestion:
        rows = _merged(values)
        least = self._threshold("text", unit)
        alive: list[bytes] = [b""]
        found: dict[bytes, float] = {}
        for level in range(LONGEST + 1):
            places = {beginning: place for place, beginning in enumerate(alive)}
            table = np.zeros((max(len(alive), 1), END + 1), dtype=np.int64)
            for text, count in rows.items():
                if len(text) >= level and (place := places.get(text[:level])) is not None:
                    table[place, text[level] if len(text) > level else END] += count
            # A level without beginnings is drawn all the same, so that what happens next is what was paid for.
            noisy = self._noisy(table, "text", unit, noise)
            found |= {text: float(noisy[place, END]) for text, place in places.items() if noisy[place, END] > least}
            longer = [
                (float(noisy[place, byte]), alive[place] + bytes([byte]))
                for place, byte in np.argwhere(noisy[:, :END] > least)
                if place < len(alive)
            ]
            alive = [beginning for _, beginning in sorted(longer, reverse=True)[:MOST_PREFIXES]]
        texts = {_text(raw): count for raw, count in found.items() if _text(raw) is not None}
        named = sorted((text for text in texts if text), key=lambda text: -texts[text])
        return Suggestion(values=tuple(str(text) for text in named), missing=b"" in found)

    def _noisy(self, table: Integers, kind: Kind, unit: Unit, noise: NoiseSource) -> Integers:
        event = self._event(kind)
        if isinstance(event, Laplace):
            return noise.laplace(table, epsilon=event.epsilon, sensitivity=unit.l1)
        return noise.gaussian(table, rho=event.rho, sensitivity_squared=unit.l2_squared)

    def _threshold(self, kind: Kind, unit: Unit) -> float:
        cells = (LONGEST + 1) * MOST_PREFIXES * (END + 1) if kind == "text" else len(ROUND) + len(YEARS)
        return Portion((), self._event(kind)).tail(unit, FALSE_ALARM / cells)

    def _event(self, kind: Kind) -> Laplace | Gaussian:
        part = Fraction(1, len(self.columns) * _levels(kind))
        if self.budget.pure:
            return Laplace(self.budget.epsilon * part)
        return Gaussian(rho_for(self.budget) * part)


def _levels(kind: Kind) -> int:
    return LONGEST + 1 if kind == "text" else 1


def _merged(values: Values) -> dict[bytes, int]:
    """Rows per text without surrounding blanks, in UTF-8; null is the empty text.

    Counts are added up, because texts that cannot be encoded share their bytes with others.
    """
    rows = {b"": values.nulls}
    for text, count in zip(values.texts, values.counts, strict=True):
        key = text.strip().encode("utf-8", "replace")
        rows[key] = rows.get(key, 0) + int(count)
    return rows


def _text(raw: bytes) -> str | None:
    """A found text, or None where noise made up bytes that are none."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def _day(number: float) -> str:
    return date.fromordinal(int(number) + EPOCH).isoformat()


def values_of(positions: NDArray[Any], texts: list[str]) -> Values:
    """How often each distinct text occurs in the rows that count."""
    return Values(
        texts, np.bincount(positions[positions >= 0], minlength=len(texts)), int(np.count_nonzero(positions < 0))
    )
