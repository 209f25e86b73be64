"""Conditions on the order of one column: at least, at most, from .. to. They are exact or they are refused.

Cells are bins, and a bin is counted as a whole, so a bound must fall between two bins. Whole numbers and days have a
next value, so that above 64 and at least 65 are the same. A bin of real numbers holds its left end, and the last one
also its right end: `>=` and `<` can be answered at the edges, `>` and `<=` only at the high bound, and `between a and
b` holds the bins from a to b, b itself only where it is the high bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

import numpy as np

from core.base.arrays import Columns, Flags
from core.base.errors import BadParameter, printable
from core.formulas.cells import Among, code_of, gap, labelled
from core.formulas.tokens import wrong
from core.formulas.writing import column_text
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.schema.ordered import Dates, Integers, Reals
from core.schema.spellings import EPOCH, days, integral, number, text_of

Ordered = Integers | Reals | Dates
NEAR = 1e-9
"""Of a bin's width: a number this close to an edge is that edge, such as 0.3 and the third of ten edges from 0 to 1."""


@dataclass(frozen=True)
class Span:
    """An ordered column lies in the ordinary cells first to end - 1."""

    column: str
    first: int
    end: int

    @property
    def columns(self) -> Columns:
        return (self.column,)

    def holds(self, domain: Domain) -> Flags:
        found = np.zeros(domain[self.column].size, dtype=np.bool_)
        found[self.first : self.end] = True
        return found

    def text(self, domain: Domain, denied: bool) -> str:
        attribute, name = ordered(domain[self.column]), column_text(self.column)
        low, high = edge_text(attribute, self.first), _last_text(attribute, self.end)
        if self._single(attribute):
            return f"{name} {'!=' if denied else '='} {low}"
        if self.end == attribute.regular:
            return f"{'not ' * denied}{name} >= {low}"
        if self.first == 0:
            return f"{'not ' * denied}{name} {'<' if isinstance(attribute, Reals) else '<='} {high}"
        return f"{name} {'not ' * denied}between {low} and {high}"

    def words(self, domain: Domain, denied: bool) -> str:
        attribute, name = ordered(domain[self.column]), printable(self.column)
        if denied and not attribute.missing and (rest := self._rest(attribute)):
            return rest.words(domain, False)
        low, high = edge_text(attribute, self.first), _last_text(attribute, self.end)
        after = gap(attribute) if denied else ""
        if self._single(attribute):
            return f"{name} {'other than' if denied else '='} {low}{after}"
        below = "below " if isinstance(attribute, Reals) else ""
        if self.end == attribute.regular:
            bounds = f"at least {low}"
        else:
            bounds = f"{below or 'at most '}{high}" if self.first == 0 else f"from {low} to {below}{high}"
        return f"{name} {'not ' * denied}{bounds}{after}"

    def others(self, attribute: Ordered) -> tuple[Span, ...]:
        """All other ordinary cells: before it and after it."""
        around = Span(self.column, 0, self.first), Span(self.column, self.end, attribute.regular)
        return tuple(span for span in around if span.first < span.end)

    def _rest(self, attribute: Ordered) -> Span | None:
        """All other ordinary cells, where they lie side by side."""
        around = self.others(attribute)
        return around[0] if len(around) == 1 else None

    def _single(self, attribute: Ordered) -> bool:
        return self.end == self.first + 1 and _exact(attribute, self.first)


def ordered(attribute: Attribute) -> Ordered:
    """The attribute, if its values have an order."""
    if isinstance(attribute, Integers | Reals | Dates):
        return attribute
    raise wrong(f"column '{printable(attribute.name)}' has no order; use =, != or in.")


def compared(attribute: Attribute, operator: str, text: str) -> Span:
    """The condition that a column is >=, >, < or <= a value."""
    column = ordered(attribute)
    value = _value(column, text)
    place = _place(column, operator, value)
    first, end = (place, column.regular) if operator in (">=", ">") else (0, place)
    if first == end:
        side = "above" if operator == ">" else "below"
        raise wrong(f"no value of column '{printable(column.name)}' lies {side} {printable(text)}, its bound.")
    return Span(column.name, first, end)


def between(attribute: Attribute, low: str, high: str) -> Span:
    """The condition that a column lies between two values, both included (see above for real numbers)."""
    column = ordered(attribute)
    start, stop = _value(column, low), _value(column, high)
    if start > stop:
        raise wrong(f"nothing lies between {printable(low)} and {printable(high)}; write the smaller one first.")
    first = _place(column, ">=", start)
    if not isinstance(column, Reals):
        return Span(column.name, first, _place(column, "<=", stop, first + 1))
    end = _nearest_edge(column, stop)
    if end is None or end == first:
        raise _inside(column, stop, range(first + 1, column.regular + 1))
    return Span(column.name, first, end)


def equal(attribute: Attribute, texts: list[str]) -> Among | Span:
    """The condition that a column has one of a few values, or labels of cells."""
    codes = tuple(sorted({_code(attribute, text) for text in texts}))
    if len(codes) == 1 and attribute.ordered and codes[0] < attribute.regular:
        return Span(attribute.name, codes[0], codes[0] + 1)
    return Among(attribute.name, codes)


def edge_text(attribute: Ordered, place: int, back: int = 0) -> str:
    """An edge as it is written in a formula; whole numbers and days can be asked for a value that lies before it."""
    edge = attribute.edges[place]
    short = _spelled(attribute, edge - back)
    exact = not isinstance(attribute, Reals) or _nearest_edge(attribute, float(short)) == place
    return short if exact else repr(float(edge))


def _spelled(attribute: Ordered, value: float) -> str:
    if isinstance(attribute, Dates):
        return date.fromordinal(int(value) + EPOCH).isoformat()
    return str(int(value)) if isinstance(attribute, Integers) else f"{value:.10g}"


def _last_text(attribute: Ordered, end: int) -> str:
    return edge_text(attribute, end, 0 if isinstance(attribute, Reals) else 1)


def _exact(attribute: Ordered, code: int) -> bool:
    """Whether a cell holds a single value."""
    return not isinstance(attribute, Reals) and bool(attribute.edges[code + 1] - attribute.edges[code] == 1)


def _code(attribute: Attribute, text: str) -> int:
    if not isinstance(attribute, Integers | Reals | Dates):
        return code_of(attribute, text)
    if (code := labelled(attribute, text)) is not None or (code := _bin_called(attribute, text)) is not None:
        return code
    code = _bin(attribute, _value(attribute, text))
    if not _exact(attribute, code):
        label, name = attribute.label(code), printable(attribute.name)
        raise wrong(f"{printable(text)} lies inside the bin {label} of column '{name}'; use '{label}' for all of it.")
    return code


def _bin_called(attribute: Ordered, text: str) -> int | None:
    """The bin with this label, if it is the only one."""
    start = _read(attribute, text_of(text).split(" to ")[0])
    if start is None:
        return None
    near = _bin(attribute, start)
    # the label of a bin of real numbers is rounded, so that its start may lie just outside the bin
    codes = range(max(near - 1, 0), min(near + 2, attribute.regular))
    found = [code for code in codes if attribute.label(code) == text_of(text)]
    return found[0] if len(found) == 1 else None


def _read(attribute: Ordered, text: str) -> float | None:
    """A finite number, or days since 1970 for dates; None if it is neither."""
    found = number(text) if not isinstance(attribute, Dates) else days(text) if len(text) == 10 else None
    return found if found is not None and math.isfinite(found) else None


def _value(attribute: Ordered, text: str) -> float:
    """A value within the public bounds."""
    name, shown = printable(attribute.name), printable(text)
    bounds = f"goes from {edge_text(attribute, 0)} to {_last_text(attribute, attribute.regular)}"
    value = _read(attribute, text_of(text))
    if value is None:
        what = "a date such as 2024-12-31" if isinstance(attribute, Dates) else "a number"
        raise wrong(f"'{shown}' is not {what}; column '{name}' {bounds}.")
    whole = not isinstance(attribute, Reals)
    if whole and not integral(value):
        raise wrong(f"column '{name}' holds whole numbers only, and {shown} is not one.")
    if not attribute.edges[0] <= value <= attribute.edges[-1] - whole:
        raise wrong(f"{shown} lies outside column '{name}', which {bounds}.")
    place = _nearest_edge(attribute, value) if isinstance(attribute, Reals) else None
    return value if place is None else float(attribute.edges[place])


def _bin(attribute: Ordered, value: float) -> int:
    return int(np.clip(np.searchsorted(attribute.edges, value, side="right") - 1, 0, attribute.regular - 1))


def _place(attribute: Ordered, operator: str, value: float, least: int = 1) -> int:
    """The edge at which the condition begins or ends; for an end, `least` is the first that leaves anything."""
    if isinstance(attribute, Reals):
        return _real_place(attribute, operator, value)
    step = 1 if operator in (">", "<=") else 0
    place = int(np.searchsorted(attribute.edges, int(value) + step))
    if attribute.edges[place] != int(value) + step:
        usable = range(0 if operator == ">=" else least, attribute.regular + (operator == "<="))
        raise _inside(attribute, value, usable, step)
    return place


def _real_place(attribute: Reals, operator: str, value: float) -> int:
    place, top = _nearest_edge(attribute, value), attribute.regular
    if operator in (">", "<="):
        if place == top:
            return place
        name, instead = printable(attribute.name), ">=" if operator == ">" else "<"
        raise wrong(f"each bin of column '{name}' holds its left end; use {instead} instead of {operator}.")
    if place is None or place == top:
        raise _inside(attribute, value, range(0 if operator == ">=" else 1, top))
    return place


def _nearest_edge(attribute: Reals, value: float) -> int | None:
    """The edge that a number means, if it means one: the same, or the same in the ten digits of a label."""
    after = int(np.clip(np.searchsorted(attribute.edges, value), 1, attribute.regular))
    place = after if attribute.edges[after] - value <= value - attribute.edges[after - 1] else after - 1
    edge = attribute.edges[place]
    width = attribute.edges[after] - attribute.edges[after - 1]
    return place if abs(edge - value) <= NEAR * width or f"{edge:.10g}" == f"{value:.10g}" else None


def _inside(attribute: Ordered, value: float, usable: range, step: int = 0) -> BadParameter:
    """A bound inside a bin, and the nearest ones that work."""
    code = _bin(attribute, value)
    edges = [edge_text(attribute, place, step) for place in (code, code + 1) if place in usable]
    advice = f"use {' or '.join(edges)}" if edges else "the bin cannot be divided"
    place = f"the bin {attribute.label(code)} of column '{printable(attribute.name)}'"
    return wrong(f"{_spelled(attribute, value)} lies inside {place}; {advice}.")
