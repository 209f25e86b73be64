"""Rows that come as Arrow arrays are read like those of a file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from core.base.errors import BadFile
from core.table.formats.arrow_rows import arrow_rows
from core.table.row_source import counted
from tests.core.table.people import people, schema


def test_arrow_rows_are_encoded_as_any() -> None:
    frame = people(500)
    with arrow_rows(pa.Table.from_pandas(frame, preserve_index=False)) as rows:
        assert rows.take([*schema().names, "id"]) == len(frame)
        [piece] = rows.pieces(tuple(schema()))
        for attribute in schema():
            codes, misfits = piece.encode(attribute)
            wanted = counted(attribute.encode(frame[attribute.name]))
            assert np.array_equal(codes, wanted[0]) and misfits == wanted[1], attribute.name
        assert rows.ids("id").to_pylist() == frame["id"].tolist()


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (pa.array(["a", "", None, " b"]), ["a", None, None, " b"]),
        (pa.array([1, None, 3], pa.int8()), [1, None, 3]),
        (pa.array([-0.0, 0.0, float("nan"), 1.5]), ["0.0", "0.0", None, "1.5"]),
    ],
)
def test_ids_are_whole_numbers_or_exact_texts(ids: pa.Array, told: list) -> None:
    with arrow_rows(pa.table({"id": ids})) as rows:
        rows.take(["id"])
        assert rows.ids("id").to_pylist() == told


def test_floats_that_hold_no_exact_ids_are_refused() -> None:
    with arrow_rows(pa.table({"id": [2.0**53]})) as rows:
        rows.take(["id"])
        with pytest.raises(BadFile, match="too large for floats"):
            rows.ids("id")
