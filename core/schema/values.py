"""How one raw value is read: as text, as a number, as a day, as null. Nothing here raises, whatever the value is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

BLANKS = " \t\n\r\v\f"
"""What may stand around a value without changing it; the same characters that DuckDB ignores around a number."""
EPOCH = date(1970, 1, 1).toordinal()
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})([T ].*)?", re.ASCII | re.DOTALL)


def text_of(value: object) -> str:
    """A value as text without surrounding blanks; null is the empty text, and 3.0 is written '3'."""
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
    text = text_of(value)
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
    """Where each value stands in a list of distinct values; null is -1."""
    column = values if isinstance(values, pd.Series | pd.Categorical) else _column(values)
    try:
        positions, found = pd.factorize(column)
    except TypeError:  # lists, dictionaries and other things that cannot be compared
        return distinct(np.array([text_of(value) for value in column], dtype=object))
    return positions, list(found)


def _column(values: Any) -> pd.Series:
    if isinstance(values, np.ndarray | pd.Index):
        return pd.Series(values)
    # without a fixed type pandas would turn [1, None, True] into numbers and refuse some mixtures
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    return pd.Series(column)


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
