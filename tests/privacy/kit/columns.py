"""Hostile columns and every way to hand one over, as curators' programs do it.

A writer that keeps a column in one type chooses it from all rows. So each of these tables is written anew with and
without a row, by the library's own inference, and only what is read from the other rows is compared.
"""

from __future__ import annotations

import csv
import math
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from core.schema.domain import Attribute, Booleans, Categories, Dates, Integers, Reals
from core.schema.spellings import text_of

WORDS = ("0", "1", "1.5", "2.50", "true", "no", "Aa", "é", "2020-01-02", "2020-01-03 05:00:00", "[1]")
DAYS = {"low": "2020-01-01", "high": "2020-01-09"}
ATTRIBUTES: tuple[Attribute, ...] = (
    Categories(name="words", values=WORDS, other="else", missing=True),
    Categories(name="numbers", values=(0, 1, 2, 3), other="else", missing=True),
    Categories(name="answers", values=("true", "false"), other="else"),
    Booleans(name="flags", missing=True),
    Integers(name="wholes", low=-3, high=300, missing=True),
    Integers(name="bins", low=-(2**53), high=2**53, bins=7),
    Reals(name="reals", low=-3, high=300, bins=606, missing=True),
    Dates(name="days", **DAYS, missing=True),
)
"""Every kind reads the same hostile column."""


class Odd:
    """A value that nothing can be done with."""

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        raise ValueError("a cell never raises")

    def __eq__(self, other: object) -> bool:
        raise ValueError("cells are not compared")


EAST = timezone(timedelta(hours=9))
NUMBERS: tuple[Any, ...] = (
    0, 1, 2, 3, 127, 128, -128, 300, 2**31, 2**40, -(2**53), 0.0, -0.0, 1.0, 1.5, 2.5, 0.1, -1e300, float("inf"),
    float("nan"), True, False, None, Decimal("1.5"), Decimal("1.50"), Decimal("2.5"), Decimal("1"), Decimal("0.001"),
    Decimal("12345678901234567.25"), Decimal("NaN"), np.int8(1), np.float32(0.1), np.bool_(True), np.float64("nan"),
)  # fmt: skip
MOMENTS: tuple[Any, ...] = (
    date(2020, 1, 2), date(1600, 1, 1), date(9999, 12, 31), datetime(2020, 1, 2), datetime(2020, 1, 3, 5),
    datetime(2020, 1, 3, 23, 59, 59, 500_000), pd.Timestamp("2020-01-03 05:00:00.000000001"), pd.NaT, None,
    datetime(2020, 1, 2, 20, tzinfo=EAST), datetime(2020, 1, 2, 11, tzinfo=UTC), np.datetime64("NaT"),
    np.datetime64("2020-01-02"), "2020-01-02", "2020-01-03T05:00:00", "2020-13-45", "yesterday",
)  # fmt: skip
TEXTS: tuple[Any, ...] = (
    "Aa", " Aa", "é", "e\u0301", "1", "1.0", "1.50", "true", "True", "[1]", "", " ", "NaN", "null", "a,b", 'a "b"',
    "a\nb", "x" * 300, "\u00a0Aa", None, b"Aa", "é".encode(), b"\xff", np.str_("Aa"),
)  # fmt: skip
NESTED: tuple[Any, ...] = (
    [1], [True], (1, 2), (1, True), {"a": 1}, {"a": 1, "b": None}, frozenset({1}), Odd(), Fraction(1, 2), 1 + 0j,
    10**30, -(10**30), 10**5000, UUID(int=1), pd.Interval(0, 1), pd.Period("2020-01"), np.array([1, 2]), object,
)  # fmt: skip
FAMILIES = ((*NUMBERS[:15], None), NUMBERS, MOMENTS, TEXTS, NUMBERS + MOMENTS + TEXTS, NESTED + NUMBERS + TEXTS)


@st.composite
def changes(draw: Any) -> tuple[list[Any], list[Any], list[tuple[int, int]]]:
    """A column, the same column with one row added, removed or changed, and the rows that both have."""
    cells = st.sampled_from(draw(st.sampled_from(FAMILIES)))
    before = draw(st.lists(cells, min_size=2, max_size=9))
    place = draw(st.integers(0, len(before) - 1))
    kind = draw(st.sampled_from(("add", "remove", "change")))
    after = [*before[:place], *([] if kind == "remove" else [draw(cells)]), *before[place + (kind != "add") :]]
    shift = {"add": 1, "remove": -1, "change": 0}[kind]
    kept = [(row, row) for row in range(place)]
    return before, after, kept + [(row, row + shift) for row in range(place + (kind != "add"), len(before))]


def _frame(column: Any) -> pd.DataFrame:
    return pd.DataFrame(dict.fromkeys(("id", *(attribute.name for attribute in ATTRIBUTES)), column))


def _objects(cells: Sequence[Any]) -> pd.Series:
    return pd.Series(np.fromiter(cells, dtype=object, count=len(cells)), dtype=object)


def objects(cells: Sequence[Any], folder: Path) -> Any:
    """Python values as they are."""
    return _frame(_objects(cells))


def inferred(cells: Sequence[Any], folder: Path) -> Any:
    """The type that pandas infers."""
    return _frame(_objects(cells).infer_objects())


def nullable(cells: Sequence[Any], folder: Path) -> Any:
    """One of pandas' types with a null of its own, where one fits."""
    return _frame(_objects(cells).convert_dtypes())


def categorical(cells: Sequence[Any], folder: Path) -> Any:
    """Categories merge what Python calls equal."""
    return _frame(pd.Series(pd.Categorical(_objects(cells))))


def _arrow(cells: Sequence[Any]) -> pa.Array:
    """The type that Arrow infers; refused where it drops something, such as the time of a moment beside a day."""
    array = pa.array([cell.item() if isinstance(cell, np.generic) else cell for cell in cells], from_pandas=True)
    if pa.types.is_nested(array.type):
        raise pa.ArrowInvalid
    for cell, kept in zip(cells, array.to_pylist(), strict=True):
        given = cell.encode() if isinstance(cell, str) and isinstance(kept, bytes) else cell
        same = isinstance(given, bool) == isinstance(kept, bool) and text_of(given) == text_of(kept)
        if not same or (text_of(given) and given != kept):
            raise pa.ArrowInvalid
    return array


def arrow_frame(cells: Sequence[Any], folder: Path) -> Any:
    array = _arrow(cells)
    return _frame(pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type))))


def parquet(cells: Sequence[Any], folder: Path) -> Any:
    """Stored in Arrow's type, whole numbers in the narrowest that holds them all."""
    array = _arrow(cells)
    if pa.types.is_int64(array.type):
        for narrow in (pa.int8(), pa.uint8(), pa.int16(), pa.int32()):
            try:
                array = array.cast(narrow)
                break
            except pa.ArrowInvalid:
                continue
    pq.write_table(pa.table(dict.fromkeys(_frame([]).columns, array)), folder / "rows.parquet")
    return folder / "rows.parquet"


def _text(cells: Sequence[Any], path: Path, separator: str) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter=separator, lineterminator="\n")
        lines.writerow(_frame([]).columns)
        for cell in cells:
            text = text_of(cell) if not isinstance(cell, str) else cell
            lines.writerow([text.encode("utf-8", "replace").decode()] * len(_frame([]).columns))
    return path


def comma(cells: Sequence[Any], folder: Path) -> Any:
    return _text(cells, folder / "rows.csv", ",")


def tab(cells: Sequence[Any], folder: Path) -> Any:
    return _text(cells, folder / "rows.tsv", "\t")


def pandas_text(cells: Sequence[Any], folder: Path) -> Any:
    """pandas writes 1 as 1.0 beside an empty cell, and a day with its time beside a moment."""
    inferred(cells, folder).to_csv(folder / "pandas.csv", index=False)
    return folder / "pandas.csv"


def database(cells: Sequence[Any], folder: Path) -> Any:
    array = _arrow(cells)
    (folder / "rows.duckdb").unlink(missing_ok=True)
    table = pa.table(dict.fromkeys(_frame([]).columns, array))
    with duckdb.connect(str(folder / "rows.duckdb")) as engine:
        engine.register("given", table)
        engine.execute("CREATE TABLE people AS SELECT * FROM given")
    return (folder / "rows.duckdb", "people")


def workbook(cells: Sequence[Any], folder: Path) -> Any:
    """Each cell has a type of its own; the last column keeps a line from being empty, which would be no row."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("people")
    names = _frame([]).columns
    sheet.append([*names, "there"])
    for cell in cells:
        given = cell.item() if isinstance(cell, np.generic) else cell
        if isinstance(given, float) and not math.isfinite(given):
            raise ValueError("no cell of a workbook holds it")
        sheet.append([*[given] * len(names), 1])
    book.save(folder / "rows.xlsx")
    return (folder / "rows.xlsx", "people")


def lite(cells: Sequence[Any], folder: Path) -> Any:
    """SQLite keeps any value in any column."""
    (folder / "rows.sqlite").unlink(missing_ok=True)
    names = _frame([]).columns
    with closing(sqlite3.connect(folder / "rows.sqlite")) as engine:
        engine.execute(f"CREATE TABLE people ({', '.join(names)})")
        for cell in cells:
            given = cell.item() if isinstance(cell, np.generic) else cell
            if not isinstance(given, int | float | str | bytes | None):
                raise TypeError("no cell of the database holds it")
            engine.execute(f"INSERT INTO people VALUES ({', '.join('?' * len(names))})", [given] * len(names))
        engine.commit()
    return (folder / "rows.sqlite", "people")


Writer = Callable[[Sequence[Any], Path], Any]
EXACT: tuple[Writer, ...] = (objects, inferred, nullable, arrow_frame, parquet, comma, tab, database, workbook, lite)
"""Ways that hand every value over as it is, in whatever type."""
ROUGH: tuple[Writer, ...] = (categorical, pandas_text)
"""Ways that write some values differently because of others, in a spelling that means the same."""
REFUSED = (pa.ArrowException, TypeError, ValueError, OverflowError, duckdb.Error, NotImplementedError)
"""What a writer raises for a column that it cannot hold; the column is then tried with the other writers."""
