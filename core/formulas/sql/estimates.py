"""Numbers of a SELECT from counting questions: which are asked, how many at most, and what follows from the answers.

A row counts at the middle of its bin, which is its value where a bin holds one value only. Sums and averages are
weighted counts. The weights of a question lie between 0 and 1: a sum is asked as a part of the largest value and
multiplied by it, an average as the place between the smallest and the largest value, divided by the number of rows.
A quantile is found by halving: is it among the first half of the values, the first quarter, ..? Its interval takes two
more questions.

**Accuracy** Weights are whole numbers of 2^-30, which moves a sum over a thousand million rows by less than half of its
largest value. Every answer holds within its margin for 95 % of the time; a number that rests on k of them lies in its
interval, which follows from all k margins, for at least 1 - k/20 of the time, however they depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Flags
from core.base.errors import printable
from core.formulas.cells import Among
from core.formulas.question import in_words, laid_out
from core.formulas.spans import Span, ordered
from core.formulas.sql.statement import Aggregate
from core.formulas.syntax import Node, joined, negated
from core.formulas.writing import number_text
from core.kernel.query import MOST_DENOMINATOR, Query
from core.schema.attributes import Attribute
from core.schema.domain import Domain

FAILING = 0.05
"""How often the truth may lie outside the margin of one answer."""
SIDES = 2
"""Questions that make the interval of a quantile, one on each side."""
CLEAR = 1.5
"""Margins by which their counts should pass the quantile: one to be sure of it, and half for what is not known yet."""


class CountAnswer(Protocol):
    """What is known about a question after it was asked."""

    @property
    def count(self) -> float:
        """Rows, or the sum of the weights."""

    @property
    def margin(self) -> float | None:
        """The truth is within count ± margin, 95 % of the time; None where nothing can be promised."""


Asks = Callable[[Query], CountAnswer]


@dataclass(frozen=True)
class Known:
    """What needs no asking."""

    count: float
    margin: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class SelectNumber:
    """One number of the answer; everything in it is public."""

    value: float | None
    """None where no row was found to take the average or a quantile of."""
    low: float | None
    high: float | None
    """The truth lies between them, as often as `confidence` says; None where nothing can be promised."""
    confidence: float | None


def most_questions(aggregate: Aggregate, domain: Domain) -> int:
    """How many questions one number takes at most, by the schema alone."""
    if aggregate.measure == "count" or aggregate.column is None:
        return 1
    if aggregate.measure == "average":
        return 2
    values = _values(domain[aggregate.column])
    if aggregate.measure == "sum":
        return 2 if values.min() < 0 < values.max() else 1
    return 1 + math.ceil(math.log2(len(values))) + SIDES


def estimate(aggregate: Aggregate, condition: Node | None, domain: Domain, ask: Asks) -> SelectNumber:
    """The number for the rows that fulfil a condition, which some possible record does."""
    if aggregate.column is None:
        return _counted(condition, domain, ask)
    attribute = domain[aggregate.column]
    if attribute.missing:
        known = negated(Among(attribute.name, (attribute.size - 1,)))
        condition = known if condition is None else joined("and", [condition, known])
    if aggregate.measure == "count":
        return _counted(condition, domain, ask)
    column = _Column.of(attribute, condition, domain)
    if aggregate.measure == "sum":
        return _sum(column, ask)
    if not column.possible.any():
        return SelectNumber(value=None, low=None, high=None, confidence=None)
    return _average(column, ask) if aggregate.measure == "average" else _quantile(column, aggregate.share, ask)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of numbers among the rows that fulfil a condition, none of which has it missing."""

    attribute: Attribute
    condition: Node | None
    domain: Domain
    columns: Columns
    fulfilled: Flags

    @classmethod
    def of(cls, attribute: Attribute, condition: Node | None, domain: Domain) -> _Column:
        return cls(attribute, condition, domain, *laid_out(condition, domain, (attribute.name,)))

    @property
    def possible(self) -> Flags:
        """For each ordinary cell whether the condition allows it."""
        return np.asarray(self._along(self.fulfilled).any(axis=1))[: self.attribute.regular]

    def weighted(self, weights: NDArray[np.float64], words: str, ask: Asks) -> CountAnswer:
        """The sum of a weight from 0 to 1 for each ordinary cell over the rows."""
        whole = np.zeros(self.attribute.size, dtype=np.int64)
        whole[: len(weights)] = np.rint(np.clip(weights, 0, 1) * MOST_DENOMINATOR)
        shape = [self.attribute.size if name == self.attribute.name else 1 for name in self.columns]
        found = np.where(self.fulfilled, whole.reshape(shape), 0)
        if not found.any():
            return Known(0.0)
        rows = "all rows" if self.condition is None else f"rows with {in_words(self.condition, self.domain)}"
        middle = "" if self._exact else ", each bin taken at its middle"
        words = f"sum of {words}{middle}, over {rows}"
        return ask(Query(columns=self.columns, weights=found, denominator=MOST_DENOMINATOR, words=words))

    def counted(self, ask: Asks) -> CountAnswer:
        return ask(_count(self.condition, self.domain))

    def counted_up_to(self, code: int, ask: Asks) -> CountAnswer:
        span = Span(self.attribute.name, 0, code + 1)
        return ask(_count(span if self.condition is None else joined("and", [self.condition, span]), self.domain))

    @property
    def _exact(self) -> bool:
        edges = ordered(self.attribute).edges
        return self.attribute.kind == "integers" and bool((np.diff(edges) == 1).all())

    def _along(self, flags: Flags) -> Flags:
        return np.moveaxis(flags, self.columns.index(self.attribute.name), 0).reshape(self.attribute.size, -1)


def _count(condition: Node | None, domain: Domain) -> Query:
    columns, fulfilled = laid_out(condition, domain)
    words = "share of all rows" if condition is None else f"share of rows with {in_words(condition, domain)}"
    return Query(columns=columns, weights=fulfilled.astype(np.int64), words=words)


def _counted(condition: Node | None, domain: Domain, ask: Asks) -> SelectNumber:
    query = _count(condition, domain)
    found = ask(query) if query.weights.any() else Known(0.0)
    if found.margin is None:
        return SelectNumber(value=found.count, low=None, high=None, confidence=None)
    low, high = max(found.count - found.margin, 0.0), max(found.count + found.margin, 0.0)
    return SelectNumber(value=found.count, low=low, high=high, confidence=1 - FAILING)


def _sum(column: _Column, ask: Asks) -> SelectNumber:
    """The sum of what is above 0 less the sum of what is below, each as a part of its largest value."""
    values = np.where(column.possible, _values(column.attribute), 0.0)
    total = margin = 0.0
    promised, asked = True, 0
    for sign in (1, -1):
        parts = np.clip(sign * values, 0, None)
        largest = float(parts.max())
        if largest:
            name = f"{'-' if sign < 0 else ''}{printable(column.attribute.name)} / {number_text(largest)}"
            found = column.weighted(parts / largest, name, ask)
            total += sign * largest * found.count
            promised = promised and found.margin is not None
            margin += largest * (found.margin or 0.0)
            asked += 1
    if not promised:
        return SelectNumber(value=total, low=None, high=None, confidence=None)
    low = total - margin if values.min() < 0 else max(0.0, total - margin)
    high = total + margin if values.max() > 0 else min(0.0, total + margin)
    return SelectNumber(value=total, low=low, high=high, confidence=1 - FAILING * asked)


def _average(column: _Column, ask: Asks) -> SelectNumber:
    values, possible = _values(column.attribute), column.possible
    low, high = float(values[possible].min()), float(values[possible].max())
    rows = column.counted(ask)
    if rows.count <= 0:
        return SelectNumber(value=None, low=low, high=high, confidence=1.0)
    if low == high:
        return SelectNumber(value=low, low=low, high=high, confidence=1.0)
    name = f"({printable(column.attribute.name)} - {number_text(low)}) / {number_text(high - low)}"
    found = column.weighted((values - low) / (high - low), name, ask)

    def at(place: float) -> float:
        return low + (high - low) * min(max(place, 0.0), 1.0)

    value = at(found.count / rows.count)
    if found.margin is None or rows.margin is None:
        return SelectNumber(value=value, low=None, high=None, confidence=None)
    least, most = rows.count - rows.margin, rows.count + rows.margin
    top = (found.count + found.margin) / least if least > 0 else 1.0
    bottom = (found.count - found.margin) / most
    return SelectNumber(value=value, low=at(bottom), high=at(top), confidence=1 - 2 * FAILING)


def _quantile(column: _Column, share: float, ask: Asks) -> SelectNumber:
    """The first value up to which at least this share of the rows lies, by halving; then its interval.

    The interval rests on three questions alone: the number of rows, and one more on each side, far enough out to be
    sure by what the search has found. They were not asked before, so that choosing them is no choice among answers.
    """
    codes = np.flatnonzero(column.possible)
    last = len(codes) - 1
    rows = column.counted(ask)
    if rows.count <= 0:
        return _between(column, codes, None, 0, last, 1.0)
    place, found = _search(column, codes, share * rows.count, ask)
    if rows.margin is None or any(each.margin is None for each in found.values()):
        return _between(column, codes, place, 0, last, None)
    # Too few rows lie up to a value whose count is below the first of these, and enough where it reaches the second.
    few, enough = share * (rows.count - rows.margin), share * (rows.count + rows.margin)
    room = CLEAR * max((each.margin or 0.0 for each in found.values()), default=0.0)
    counts = _between_known(found, rows.count, last)
    asked, first, final = 1, 0, last
    if (below := _unasked(np.flatnonzero(counts[:place] <= few - room)[::-1], found)) is not None:
        checked = column.counted_up_to(int(codes[below]), ask)
        first = below + 1 if checked.count + _or_all(checked.margin) < few else 0
        asked += 1
    if (above := _unasked(place + np.flatnonzero(counts[place:last] >= enough + room), found)) is not None:
        checked = column.counted_up_to(int(codes[above]), ask)
        final = above if checked.count - _or_all(checked.margin) >= enough else last
        asked += 1
    return _between(column, codes, place, min(first, place), max(final, place), 1 - FAILING * asked)


def _search(column: _Column, codes: NDArray[np.intp], target: float, ask: Asks) -> tuple[int, dict[int, CountAnswer]]:
    """The first place up to which so many rows were counted, and all counts that it took."""
    found: dict[int, CountAnswer] = {}
    low, high = 0, len(codes) - 1
    while low < high:
        middle = (low + high) // 2
        found[middle] = column.counted_up_to(int(codes[middle]), ask)
        low, high = (low, middle) if found[middle].count >= target else (middle + 1, high)
    return low, found


def _or_all(margin: float | None) -> float:
    return math.inf if margin is None else margin


def _between_known(found: dict[int, CountAnswer], rows: float, last: int) -> NDArray[np.float64]:
    """Rows up to each value, on straight lines between those that were asked."""
    places = [-1, *sorted(found), last]
    counts = [0.0, *(found[place].count for place in sorted(found)), rows]
    return np.interp(np.arange(last + 1), places, np.maximum.accumulate(np.clip(counts, 0.0, rows)))


def _unasked(places: NDArray[np.intp], found: dict[int, CountAnswer]) -> int | None:
    """The first place that was not asked about, if there is one."""
    return next((int(place) for place in places if int(place) not in found), None)


def _between(
    column: _Column, codes: NDArray[np.intp], found: int | None, low: int, high: int, confidence: float | None
) -> SelectNumber:
    values = _values(column.attribute)[codes]
    value = None if found is None else float(values[found])
    if confidence is None:
        return SelectNumber(value=value, low=None, high=None, confidence=None)
    return SelectNumber(value=value, low=float(values[low]), high=float(values[high]), confidence=confidence)


def _values(attribute: Attribute) -> NDArray[np.float64]:
    """The number that each ordinary cell stands for."""
    return attribute.centers()[: attribute.regular]
