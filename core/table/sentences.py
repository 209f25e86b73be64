"""What is said instead of an error that may quote a cell: fixed sentences, raised with nothing behind them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import duckdb

from core.base.errors import BadFile, DeskError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
DAMAGED = "The stored table is damaged or incomplete; add the table again."
NO_ROWS = "The table has column names but no rows; it needs at least one row."
TOO_LARGE = "The table does not fit into memory; use fewer columns or rows."
_UNREADABLE = (
    "The table cannot be read; the file may be damaged or have a password, so write it again. A DataFrame must hold "
    "plain texts, numbers and dates."
)


def without_cell_values(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Replace whatever DuckDB, pandas or Python raise by a sentence without cell values.

    The new exception is raised outside the handler, so that not even its context keeps the old text.
    """

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        known: DeskError | None = None
        try:
            return function(*args, **kwargs)
        except duckdb.Error as error:
            problem = _plain(error)
        except MemoryError:
            problem = TOO_LARGE
        except DeskError as error:
            known = error
        except Exception:
            problem = _UNREADABLE
        if known is None:
            raise BadFile(problem)
        # A sentence that took the place of a driver's error while a connection was closed has that error behind it.
        known.__cause__ = known.__context__ = None
        raise known

    return guarded


def _plain(error: duckdb.Error) -> str:
    """A fixed sentence for an error of DuckDB; at most a line number is taken from its text."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d{1,18})\b", text)
    where = f" (line {int(line[1]):,})" if line else ""
    if isinstance(error, duckdb.OutOfMemoryException):
        return TOO_LARGE
    if "Maximum line size" in text or "max_line_size" in text.split("Possible", 1)[0]:
        return f"A line is longer than 2,000,000 bytes{where}; shorten it or remove the column."
    if "unterminated quote" in text:
        return f"A quoted field does not end properly{where}; quotes must come in pairs."
    if "Expected Number of Columns" in text:
        return f"A row has more or fewer fields than the first line has names{where}; correct the file."
    if isinstance(error, duckdb.IOException) and "lock" in text.lower():
        return "The DuckDB database is in use by another program; close it there first."
    return f"The file cannot be read as a table{where}; it may be damaged, so write it again."
