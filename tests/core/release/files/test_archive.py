"""Bytes follow from what is written, and types from the schema."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from core.release.files.archive import npz, parquet, zipped
from core.schema.domain import Categories, Domain, Integers


def test_the_bytes_of_a_zip_follow_from_its_members():
    whole = zipped({"a.txt": b"one two", "b.txt": b""})
    assert whole == zipped({"a.txt": (part for part in (b"one", b" two")), "b.txt": []})
    assert whole != zipped({"b.txt": b"", "a.txt": b"one two"})
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.namelist() == ["a.txt", "b.txt"]
        assert archive.read("a.txt") == b"one two"
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_types_are_those_of_the_schema_whatever_the_records_are():
    domain = Domain(
        (Integers(name="age", low=0, high=99, storage="int8", missing=True), Categories(name="town", values=("A", "B")))
    )
    for ages in ([1, 2], [None, None], [1.0, None]):
        stored = pq.read_schema(io.BytesIO(parquet(pd.DataFrame({"age": ages, "town": ["A", "B"]}), domain)))
        assert {field.name: str(field.type) for field in stored} == {"age": "int8", "town": "large_string"}
        # Nothing that pandas would add about the source.
        assert stored.metadata is None


def test_tables_are_found_by_their_places():
    tables = [np.arange(6.0).reshape(2, 3), np.array(5.0)]
    with np.load(io.BytesIO(npz(tables))) as read:
        assert [read[f"table{place}"].tolist() for place in range(2)] == [table.tolist() for table in tables]
