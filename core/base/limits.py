"""Checks of single values, so that each refusal is one sentence that names the parameter and what works."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from core.base.errors import BadParameter


def whole(value: Any, parameter: str, low: int | None = None, high: int | None = None) -> int:
    """A whole number within public limits."""
    if isinstance(value, bool) or not isinstance(value, int) or not _within(value, low, high):
        ends = _ends((low, "at least"), (high, "at most"))
        raise BadParameter(parameter, f"must be a whole number{f' of {ends}' if ends else ''}.")
    return value


def real(
    value: Any,
    parameter: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    example: float,
) -> float:
    """A finite number from `low` to `high`, and strictly between `above` and `below`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not _within(value, low, high)
        or (above is not None and value <= above)
        or (below is not None and value >= below)
    ):
        ends = _ends((low, "at least"), (above, "above"), (high, "at most"), (below, "below"))
        raise BadParameter(parameter, f"must be {ends or 'a number'}; try {example:g}.")
    return value


def choice(value: Any, parameter: str, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise BadParameter(parameter, f"must be one of: {', '.join(choices)}.")
    return value


def flag(value: Any, parameter: str) -> bool:
    if not isinstance(value, bool):
        raise BadParameter(parameter, "must be true or false.")
    return value


def column(value: Any, parameter: str = "column") -> str:
    if not isinstance(value, str):
        raise BadParameter(parameter, "must be the name of a column.")
    return value


def names(value: Any, parameter: str = "columns", low: int | None = None, high: int | None = None) -> tuple[str, ...]:
    """Column names as a tuple, each named once."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise BadParameter(parameter, "must be a list of column names.")
    columns = tuple(value)
    if not all(isinstance(name, str) for name in columns):
        raise BadParameter(parameter, "must be a list of column names.")
    if len(set(columns)) != len(columns):
        raise BadParameter(parameter, "a column may be named only once.")
    if not _within(len(columns), low, high):
        noun = "column" if (low, high) == (1, None) else "columns"
        raise BadParameter(parameter, f"must be {_ends((low, 'at least'), (high, 'at most'))} {noun}.")
    return columns


def _within(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _ends(*limits: tuple[float | None, str]) -> str:
    return " and ".join(f"{words} {_number(limit)}" for limit, words in limits if limit is not None)


def _number(limit: float) -> str:
    return f"{int(limit):,}" if limit == int(limit) else f"{limit:g}"
