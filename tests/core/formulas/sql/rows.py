"""A small table with every kind of column, as rows, in DuckDB and as exact counts."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import numpy as np
import pandas as pd

from core.formulas.sql.estimates import Known
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from core.table.counts import Cells

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=11, bins=4, missing=True),
        Integers(name="hours", low=-2, high=3, missing=True),
        Reals(name="income", low=0, high=1, bins=4),
        Categories(name="region", values=("north", "south side", "it's"), other="elsewhere", missing=True),
        Booleans(name="ill", missing=True),
        Dates(name="first day", low="2020-01-01", high="2020-01-06", bins=3),
    )
)
VALUES = {
    "age": [*range(12), None],
    "hours": [-2, -1, 0, 1, 2, 3, None],
    "income": [0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0],
    "region": ["north", "south side", "it's", "elsewhere", None],
    "ill": [True, False, None],
    "first day": [date(2020, 1, 1) + timedelta(step) for step in range(6)],
}
TYPES = {"age": "INT", "hours": "INT", "income": "DOUBLE", "region": "TEXT", "ill": "BOOLEAN", "first day": "DATE"}


def drawn(seed, count=80):
    """Rows whose columns are independent."""
    generator = np.random.default_rng(seed)
    return [{name: values[generator.integers(len(values))] for name, values in VALUES.items()} for _ in range(count)]


def in_duckdb(rows):
    connection = duckdb.connect()
    columns = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
    connection.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * len(TYPES))
    connection.executemany(f"INSERT INTO t VALUES ({marks})", [[row[name] for name in TYPES] for row in rows])
    return connection


def counted(rows, domain=DOMAIN):
    """The exact counts of all cells."""
    codes = [domain[name].encode(pd.Series([row[name] for row in rows], dtype=object))[0] for name in domain.names]
    table = np.zeros(domain.shape(), dtype=np.int64)
    np.add.at(table, tuple(code.astype(np.intp) for code in codes), 1)
    return Cells(domain, table, Unit.row())


def exactly(counts):
    """Answers every question with the truth."""
    return lambda query: Known(float(query.total(counts)) / query.denominator)
