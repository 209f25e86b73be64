"""How a column is fetched follows from its type and from what is asked; what comes of it does not."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from core.schema.domain import Attribute, Booleans, Categories, Dates, Integers, Reals
from core.table.formats.column_encoding import Readable, reading

WHOLE = Integers(name="c", low=0, high=9, missing=True)
LISTED = Categories(name="c", values=(1, 2, 3), missing=True)
REAL = Reals(name="c", low=0, high=4, bins=4, missing=True)
DAY = Dates(name="c", low="2020-01-01", high="2020-01-09", missing=True)
YES = Booleans(name="c", missing=True)


@pytest.mark.parametrize(
    ("storage", "cells", "asked", "codes", "misfits"),
    [
        ("INTEGER", "1, 2, NULL, 99", WHOLE, [1, 2, 10, 9], 1),
        ("INTEGER", "1, 2, NULL, 99", LISTED, [0, 1, 3, 3], 1),
        ("DOUBLE", "1.5, 'nan', NULL, -0.0", REAL, [1, 4, 4, 0], 0),
        ("FLOAT", "1.0, 2.0, NULL, 9.0", LISTED, [0, 1, 3, 3], 1),
        ("VARCHAR", "' 1.5 ', 'x', NULL, ' '", REAL, [1, 4, 4, 4], 1),
        ("VARCHAR", "'1', 'x', NULL, ' 3'", LISTED, [0, 3, 3, 2], 1),
        ("DECIMAL(9,2)", "1.50, 3.99, NULL, 9", REAL, [1, 3, 4, 3], 1),
        ("DECIMAL(9,2)", "1.00, 3, NULL, 9", LISTED, [0, 2, 3, 3], 1),
        ("BOOLEAN", "true, false, NULL, true", YES, [1, 0, 2, 1], 0),
        ("BOOLEAN", "true, false, NULL, true", WHOLE, [1, 0, 10, 1], 0),
        ("DATE", "'2020-01-02', 'infinity', NULL, '-infinity'", DAY, [1, 8, 9, 0], 2),
        ("TIMESTAMP", "'2020-01-02 23:59:59', '2020-01-03', NULL, '2019-01-01'", DAY, [1, 2, 9, 0], 1),
        ("BLOB", "'1', 'x', NULL, '3'", LISTED, [0, 3, 3, 2], 1),
    ],
)
def test_every_type_in_every_use(storage: str, cells: str, asked: Attribute, codes: list[int], misfits: int) -> None:
    found = reading(asked, "c", storage.partition("(")[0], lambda column: f"TRY_CAST({column} AS DOUBLE)")
    with duckdb.connect() as engine:
        values = ", ".join(f"(CAST({cell} AS {storage}))" for cell in cells.split(", "))
        wanted = ", ".join(f"{expression} AS e{place}" for place, expression in enumerate(found.expressions))
        [batch] = engine.sql(f"SELECT {wanted} FROM (VALUES {values}) AS t(c)").to_arrow_reader(100)
    positions, listed = found.values(batch.columns)
    assert positions[2] == -1 and len(positions) == 4
    if isinstance(found, Readable):
        assert [
            list(part) if isinstance(part, np.ndarray) else part for part in found.encode(asked, batch.columns)
        ] == [
            codes,
            misfits,
        ]
    else:
        encoded, changed = asked.encode([*listed, None])
        assert (encoded[positions].tolist(), int(changed[positions].sum())) == (codes, misfits)
