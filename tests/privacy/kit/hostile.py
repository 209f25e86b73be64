"""Neighbouring tables that differ by one hostile row, stored in the types that a writer infers from all rows.

An outlier, an empty cell, a bad date, a longer text, another type: whatever the writer makes of the storage types, what
the desk publishes must not follow it.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import Domain, Unit
from core.schema.domain import Booleans, Categories, Dates, Integers, Reals
from tests.privacy.kit.sources import Row, Writer

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=99, bins=5),
        Categories(name="children", values=(0, 1, 2), other="more", missing=True),
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere"),
        Reals(name="price", low=0, high=4, bins=4, missing=True),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=4, storage="timestamp"),
        Dates(name="born", low="1990-01-01", high="2009-12-31", bins=4, missing=True),
        Booleans(name="ill"),
    )
)
PLAIN: dict[str, Any] = {
    "age": 34, "children": 1, "town": "Aa", "price": Decimal("1.5"), "seen": datetime(2020, 2, 3),
    "born": date(1999, 1, 2), "ill": True,
}  # fmt: skip
HOSTILE: dict[str, Row] = {
    "outlier": {"age": 300},
    "huge": {"age": 10**12, "price": Decimal("123456789.0125")},
    "fraction": {"age": 1.5},
    "null": dict.fromkeys(PLAIN),
    "bad date": {"seen": "unknown", "born": "n/a"},
    "moment": {"seen": datetime(2020, 2, 3, 4, 5, 6, 789), "born": datetime(1999, 1, 2, 3)},
    "far date": {"seen": datetime(9999, 1, 1), "born": date(1, 1, 1)},
    "long text": {"town": "x" * 5_000, "ill": "perhaps"},
    "other type": {"children": True, "age": "34", "price": 1.5, "ill": 1, "town": 7},
    "other spelling": {"price": Decimal("1.50"), "children": Decimal("1.0")},
    "bytes": {"town": b"\xff\xfe"},
    "mixed": {"age": True, "children": Decimal(1), "price": True, "ill": Decimal(0), "town": True},
    "nested": {"town": [1], "children": {"a": 1}},
}
KINDS: dict[str, Any] = {"age": "number", "town": "text", "children": "text", "seen": "date", "price": "number"}


def rows(count: int = 60) -> list[Row]:
    """Plain rows, two for each id, that every writer stores in the narrowest types."""
    return [
        {
            "id": row // 2, "age": row, "children": row % 3, "town": ("Aa", "Bb", "é")[row % 3],
            "price": Decimal(row % 8) / 2, "seen": datetime(2020, 1 + row % 12, 3),
            "born": date(1990 + row % 20, 1, 2), "ill": row % 4 == 0,
        }
        for row in range(count)
    ]  # fmt: skip


def neighbour(unit: Unit, hostile: Row) -> list[Row]:
    """One more row of a new id, or another row in the place of one."""
    found, odd = rows(), {"id": 1_000_000, **PLAIN, **hostile}
    if unit.neighbours == "replace":
        return [*found[:-1], {**odd, "id": found[-1]["id"]}]
    return [*found, odd]


def inferred(records: list[Row], folder: Path) -> Any:
    """As pandas infers types, with whole numbers in the narrowest one."""
    frame = pd.DataFrame(records)
    for name in frame.select_dtypes("integer"):
        frame[name] = pd.to_numeric(frame[name], downcast="integer")
    return frame


def objects(records: list[Row], folder: Path) -> Any:
    return pd.DataFrame(records, dtype=object)


def stored(records: list[Row]) -> pa.Table:
    """As Arrow infers types; a column that it cannot hold is stored as text."""
    frame, columns = inferred(records, Path()), {}
    for name in frame:
        try:
            columns[name] = pa.Array.from_pandas(frame[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([None if text in ("", "None") else text for text in map(str, frame[name])])
    return pa.table(columns)


def parquet(records: list[Row], folder: Path) -> Any:
    pq.write_table(stored(records), folder / "rows.parquet")
    return folder / "rows.parquet"


def comma(records: list[Row], folder: Path) -> Any:
    inferred(records, folder).to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def tab(records: list[Row], folder: Path) -> Any:
    objects(records, folder).to_csv(folder / "rows.tsv", index=False, sep="\t")
    return folder / "rows.tsv"


def database(records: list[Row], folder: Path) -> Any:
    with duckdb.connect(str(folder / "rows.duckdb")) as engine:
        engine.register("given", stored(records))
        engine.execute("CREATE TABLE people AS SELECT * FROM given")
    return (folder / "rows.duckdb", "people")


WRITERS: tuple[Writer, ...] = (inferred, objects, parquet, comma, tab, database)
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("id", 2))
TYPED: tuple[Writer, ...] = (inferred, objects, parquet, database)
"""Ways that store a column in one type; in text files every value is text."""
