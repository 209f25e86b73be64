"""How one raw value is read: as text, as a number, as a day, as null. Nothing here raises, whatever the value is.

Each value is read by itself. That some other row holds a list, a fraction or nothing must not change how this one is
read: one person's row would then move everybody else's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

BLANKS = " \t\n\r\v\f"
"""What may stand around a value without changing it; the same characters that DuckDB ignores around a number."""
EPOCH = date(1970, 1, 1).toordinal()
MOST_DIGITS = 400
"""Digits before and after the point that are written out; a cell may claim a number with billions of them."""
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})([T ].*)?", re.ASCII | re.DOTALL)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?([+-][\d:]+|Z)?", re.ASCII)
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?", re.ASCII)
_EXACT = (str, bytes, bool, int, float, date, np.integer, np.floating, np.bool_, np.str_, np.bytes_)
"""Two values of one of these very types that are equal are read alike. Others are not merged: equal decimals may be
spelled differently, equal moments stand on different days of two time zones, and lists cannot be compared."""


def text_of(value: object) -> str:
    """A value as text without surrounding blanks; null is the empty text, and 3.0 is written '3'.

    Numbers and moments are written the same however they are stored: decimals without zeros at their end, midnight as
    its day, floats of any width as the double of the same value.
    """
    if isinstance(value, str):  # first, because most are
        return value.strip(BLANKS)
    if isinstance(value, Decimal):
        return _digits(value)
    if isinstance(value, np.floating):
        return spelled(float(value))
    if isinstance(value, complex | np.complexfloating) and value.imag == 0:
        return spelled(float(value.real))  # numbers beside a complex one become complex themselves
    if isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value):
        return ""
    if isinstance(value, datetime | np.datetime64):
        return moment(spelled(value))
    return spelled(value)


def spelled(value: object) -> str:
    """A value as the text that fingerprints of tables are made of; changing it would open new accounts for old data."""
    if isinstance(value, str):
        return value.strip(BLANKS)
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else str(int(value)) if integral(float(value)) else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip(BLANKS)
    try:
        return str(value).strip(BLANKS)
    except Exception:  # an object of any type may stand in a cell, and a cell never raises
        return "?"


def spellings(value: object) -> Iterator[str]:
    """The texts by which a value is looked for in a list, the best first.

    A program that keeps a column in one type rewrites all of it for one row: 1 becomes 1.0 beside an empty cell, a day
    gets its midnight beside a moment, and yes becomes 1 beside a number. Each of these means the same entry.
    """
    text = text_of(value)
    if not isinstance(value, str | bytes):
        yield from _TWINS.get(text, (text,))
        return
    yield text
    if _DECIMAL.fullmatch(text):
        yield _shortest(text)
    elif _MOMENT.fullmatch(text):
        yield moment(text)


_TWINS = {"0": ("0", "false"), "false": ("0", "false"), "1": ("1", "true"), "true": ("1", "true")}
"""What Python and pandas call equal, so that dictionaries and categoricals keep either of the two."""


def _shortest(text: str) -> str:
    """A decimal without zeros at its end."""
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


def _digits(value: Decimal) -> str:
    if value.is_nan():
        return ""
    if not value.is_finite() or abs(value.adjusted()) > MOST_DIGITS:
        return str(value)
    return _shortest(format(value, "f"))


def moment(text: str) -> str:
    """A moment without zeros at its end, midnight as its day; other texts as they are."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return text
    day, time, fraction, zone = found[1], found[2], (found[3] or "").rstrip("0").rstrip("."), found[4] or ""
    return day if time == "00:00:00" and not fraction and not zone else f"{day} {time}{fraction}{zone}"


def integral(value: Any) -> bool:
    """Whether a number is finite and whole."""
    return isinstance(value, int | np.integer) or bool(math.isfinite(value) and value == math.floor(value))


def number(value: object) -> float | None:
    """A value as a float; NaN for null, None if it is not a number. Too large a number becomes an infinity."""
    if isinstance(value, int | float | np.number | np.bool_) and not isinstance(value, np.complexfloating):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return number_in(text_of(value))


def number_in(text: str) -> float | None:
    """The same of a text without blanks around it."""
    if not text:
        return math.nan
    try:
        return float(text) if text.isascii() else None
    except ValueError:
        return None


def days(value: object) -> float | None:
    """A date, a time or ISO text as days since 1970-01-01; NaN for null, None if it is not a date."""
    if value is pd.NaT or not (text := text_of(value)):
        return math.nan
    try:
        if isinstance(value, datetime | date):
            return value.toordinal() - EPOCH
        if isinstance(value, np.datetime64):
            return math.nan if np.isnat(value) else float(value.astype("datetime64[D]").astype(np.int64))
        found = _DAY.fullmatch(text)
        return date.fromisoformat(found[1]).toordinal() - EPOCH if found else None
    except ValueError:
        return None


def distinct(values: Any) -> tuple[NDArray[np.intp], list[object]]:
    """Where each value stands in a list of values, in order of appearance; null is -1.

    Values share a place only if they are read alike: a column of one declared type is compared as it is, and mixed
    Python values are compared with those of the very same type only, because 1, 1.0 and True are one key elsewhere.
    """
    column = values if isinstance(values, pd.Series | pd.Categorical) else _column(values)
    if column.dtype != object:
        try:
            positions, found = pd.factorize(column)
            return positions, list(found)
        except (TypeError, NotImplementedError):  # lists and records, which cannot be compared
            pass
    return _mixed(np.asarray(column, dtype=object))


def _mixed(cells: NDArray[Any]) -> tuple[NDArray[np.intp], list[object]]:
    types = np.fromiter((id(type(cell)) for cell in cells), np.int64, len(cells))
    kinds, first = np.unique(types, return_index=True)
    positions = np.full(len(cells), -1, dtype=np.intp)
    found: list[object] = []
    for kind, start in zip(kinds, first, strict=True):
        rows = np.flatnonzero(types == kind)
        places, own = _alike(cells[rows], type(cells[start]))
        positions[rows] = np.where(places < 0, -1, places + len(found))
        found += own
    return (positions, found) if len(kinds) == 1 else _in_order(positions, found)


def _alike(cells: NDArray[Any], kind: type) -> tuple[NDArray[np.intp], list[object]]:
    """Distinct values of one type."""
    if kind in _EXACT or (issubclass(kind, np.generic) and issubclass(kind, _EXACT)):
        positions, found = pd.factorize(cells)
        return positions, list(found)
    null = np.fromiter((cell is None or cell is pd.NA or cell is pd.NaT for cell in cells), np.bool_, len(cells))
    return np.where(null, -1, np.cumsum(~null) - 1), list(cells[~null])


def _in_order(positions: NDArray[np.intp], found: list[object]) -> tuple[NDArray[np.intp], list[object]]:
    """The same with the values in order of their first appearance."""
    seen, first = np.unique(positions, return_index=True)
    order = seen[np.argsort(first)]
    order = order[order >= 0]
    places = np.full(len(found) + 1, -1, dtype=np.intp)  # the last entry is that of null
    places[order] = np.arange(len(order))
    return places[positions], [found[place] for place in order]


def _column(values: Any) -> pd.Series:
    if isinstance(values, np.ndarray | pd.Index):
        return pd.Series(values, dtype=values.dtype if values.dtype == object else None)
    # without a fixed type pandas would turn [1, None, True] into numbers and refuse some mixtures
    return pd.Series(np.fromiter(values, dtype=object, count=len(values)), dtype=object)


def by_value(
    values: Any, place: Callable[[object], tuple[int, bool]], dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Apply `place` once per distinct value, and to null."""
    positions, found = distinct(values)
    placed = [*map(place, found), place(None)]  # null has position -1, the last entry
    codes = np.fromiter((code for code, _ in placed), dtype, len(placed))
    misfits = np.fromiter((misfit for _, misfit in placed), np.bool_, len(placed))
    return codes[positions], misfits[positions]


def by_number(values: Any, read: Callable[[object], float | None]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values as numbers (NaN where there is none) and which of them could not be read."""
    positions, found = distinct(values)
    parsed = [*map(read, found), math.nan]
    numbers = np.array([math.nan if value is None else value for value in parsed], dtype=np.float64)
    unread = np.array([value is None for value in parsed], dtype=np.bool_)
    return numbers[positions], unread[positions]
