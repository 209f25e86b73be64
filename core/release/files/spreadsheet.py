"""CSV that a spreadsheet opens as text: no cell of it can start a formula, and the text can be had back."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Literal

import pandas as pd

CELL_STARTS = r"(?:^|(?<=[;\t\r\n]))"
"""Where a spreadsheet may begin a cell: some split at semicolons and tabs too, and then do not heed the quotes."""
FORMULA = re.compile(CELL_STARTS + r"""(?=[" ]*[=+\-@\t\r\n'\uff1d\uff0b\uff0d\uff20])""")
"""Text that a spreadsheet may run as a formula, full-width signs included; the apostrophe is here so that undoing is
unambiguous."""
UNDONE = re.compile(CELL_STARTS + "'")


def to_csv(frame: pd.DataFrame) -> bytes:
    """CSV in which no text can start a formula when a spreadsheet opens it."""
    safe = frame.copy()
    for name in safe.columns:
        column = safe[name]
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
            continue
        # Few distinct texts stand in many rows, and most columns need no change at all.
        if any(neutral(value) is not value for value in column.unique()):
            safe[name] = column.map(neutral, na_action="ignore")
    safe.columns = pd.Index([neutral(str(name)) for name in safe.columns])
    # Before Python 3.13 a carriage return alone is not quoted, and what follows it would start a cell of its own.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if any("\r" in text for text in _texts(safe)) else csv.QUOTE_MINIMAL
    return safe.to_csv(index=False, lineterminator="\n", quoting=quoting).encode()


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Every different text of a table, its names included."""
    yield from (str(name) for name in frame.columns)
    for _, column in frame.select_dtypes(exclude=["number", "bool", "datetime"]).items():
        yield from (str(value) for value in column.unique())


def neutral(value: object) -> object:
    """Text with an apostrophe wherever a cell could begin that is read as a formula; `plain` undoes it.

    Such a place that is followed by an apostrophe always gets another, so what `plain` takes away was put there here.

    >>> neutral("x;=1+1"), plain(neutral("x;=1+1"))
    ("x;'=1+1", 'x;=1+1')
    """
    return FORMULA.sub("'", value) if isinstance(value, str) and FORMULA.search(value) else value


def plain(value: object) -> object:
    return UNDONE.sub("", value) if isinstance(value, str) else value


def field(text: str) -> str:
    """One text as a field of such a file, for lines that are put together from parts.

    >>> print(field("=1, 2"), field("north"))
    "'=1, 2" north
    """
    safe = str(neutral(text))
    return '"' + safe.replace('"', '""') + '"' if any(sign in safe for sign in ',"\r\n') else safe
