"""Neighbouring tables as a curator brings them: the same rows in every format, apart by one unit with odd values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pandas as pd

from core import Domain, Unit
from core.schema.domain import Booleans, Categories, Dates, Reals
from tests.privacy.kit import cases

DOMAIN = Domain(
    (
        *cases.DOMAIN,
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere", missing=True),
        Reals(name="weight", low=0, high=150, bins=3, missing=True),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=2),
        Booleans(name="ill"),
    )
)
"""The columns a, b and c that the cases ask about, and others that only some questions look at."""
TYPES = {
    "person": "VARCHAR", "a": "BIGINT", "b": "BIGINT", "c": "BIGINT", "town": "VARCHAR", "weight": "DOUBLE",
    "seen": "VARCHAR", "ill": "BOOLEAN",
}  # fmt: skip
PLAIN: dict[str, Any] = {
    "a": 0, "b": 0, "c": 0, "town": "Aa", "weight": 70.5, "seen": "2020-05-05", "ill": False
}  # fmt: skip
ODD: tuple[dict[str, Any], ...] = (
    {"a": 10**12, "b": 1, "c": 1, "town": "x" * 3_000, "weight": -1e300, "seen": "9999-12-31", "ill": True},
    {"a": 3, "b": 1, "c": -7, "town": 'A "b",\nc', "weight": float("inf"), "seen": "2020-02-31", "ill": True},
    {"a": 3, "b": 1, "c": 1, "town": None, "weight": None, "seen": None, "ill": None},
    {
        "a": Decimal("3.0"),
        "b": True,
        "c": Decimal(1),
        "town": True,
        "weight": Decimal("120.50"),
        "seen": date(2020, 9, 9),
        "ill": 1,
    },
)
"""Rows of the unit by which neighbours differ: beyond the schema, of no category, no date, no value at all, or of
another type than the same number has in other rows."""
PEOPLE, MANY = 40, 25
"""Other people, and the rows of the one by whom neighbours differ, which is more than any limit."""

Row = dict[str, Any]
Writer = Callable[[list[Row], Path], Any]
Place = Literal["first", "last"]


def neighbours(unit: Unit, place: Place, odd: int = 0) -> tuple[list[Row], list[Row]]:
    """The rows of two tables that differ by one unit, which stands before or after all others."""
    count = 1 if unit.column is None else MANY
    others, one, other = _others(unit), _rows("p-one", PLAIN, count // 3 + 1), _rows("p-two", ODD[odd], count)
    joined = (lambda rows: rows + others) if place == "first" else (lambda rows: others + rows)
    return (joined(one[:1] if unit.column is None else one) if unit.neighbours == "replace" else others), joined(other)


def _others(unit: Unit) -> list[Row]:
    """People with one row each, or with several: some of them more than a limit."""
    generator = np.random.default_rng(6)
    made: list[Row] = []
    for number in range(PEOPLE):
        row = PLAIN | {"a": int(generator.integers(0, 4)), "b": number % 2, "town": ("Aa", "Bb", "Cc")[number % 3]}
        row |= {"c": int(generator.integers(0, 2)), "weight": float(generator.integers(0, 200)), "ill": number % 5 == 0}
        made += _rows(f"p{number}", row, 1 if unit.column is None else 1 + number % 5)
    return made


def _rows(person: str, row: Row, count: int) -> list[Row]:
    return [{"person": person, **row} for _ in range(count)]


def _frame(rows: list[Row]) -> pd.DataFrame:
    """Values as they are, so that no column's type depends on all of its rows."""
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in TYPES})


def _text(ending: str, mark: str) -> Writer:
    def write(rows: list[Row], folder: Path) -> Path:
        path = folder / f"people.{ending}"
        _frame(rows).to_csv(path, sep=mark, index=False)
        return path

    return write


def _typed(folder: Path, rows: list[Row], name: str) -> duckdb.DuckDBPyConnection:
    """A database with the rows in columns of fixed types."""
    connection = duckdb.connect(str(folder / name))
    connection.execute(f"CREATE TABLE people ({', '.join(f'{column} {kind}' for column, kind in TYPES.items())})")
    marks = ", ".join("?" * len(TYPES))
    connection.executemany(f"INSERT INTO people VALUES ({marks})", [[row[name] for name in TYPES] for row in rows])
    return connection


def _database(rows: list[Row], folder: Path) -> tuple[Path, str]:
    _typed(folder, rows, "people.duckdb").close()
    return folder / "people.duckdb", "people"


def _parquet(rows: list[Row], folder: Path) -> Path:
    with _typed(folder, rows, "made.duckdb") as connection:
        connection.execute(f"COPY people TO '{folder / 'people.parquet'}' (FORMAT parquet)")
    return folder / "people.parquet"


FORMATS: dict[str, Writer] = {
    "csv": _text("csv", ","),
    "tsv": _text("tsv", "\t"),
    "parquet": _parquet,
    "duckdb": _database,
    "frame": lambda rows, _: _frame(rows),
}
"""Every kind of source that a desk takes."""
