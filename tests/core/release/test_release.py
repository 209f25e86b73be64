import io
import zipfile
from datetime import date

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.models.histogram import Histogram
from core.models.points import Points
from core.queries.marginals import Marginals
from core.release.release import Release
from core.release.reports.imprint import Imprint
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from tests.core.release.sealed import sealed
from tests.core.release.test_certificate import CERTIFICATE
from tests.core.samples import SMALL, small_cells

LAYOUT = SMALL.names


@pytest.fixture(scope="module")
def release() -> Release:
    return sealed(Histogram(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)


def test_records_have_the_original_header_and_types(release):
    frame = release.records()
    assert list(frame.columns) == ["colour", "size", "old"]
    assert len(frame) == 900
    assert set(frame["colour"]) == {"red", "green", "blue"}
    assert frame["size"].dtype == np.int64
    assert frame["old"].dtype == bool


def test_csv_and_parquet_hold_the_same_records(release):
    pd.testing.assert_frame_equal(
        pd.read_csv(io.BytesIO(release.csv())), release.records(), check_dtype=False, check_column_type=False
    )


def test_answers_come_from_the_released_tables(release):
    assert np.allclose(release.answers(Marginals(order=2)), release.answers([Marginals(order=2)]))
    assert np.allclose(release.marginal(("size",)), small_cells(900).sum(axis=(0, 2)))
    assert set(release.tables) == {SMALL.names}


def test_records_answer_where_no_table_does(release):
    without = sealed(_Silent(SMALL, small_cells(900)), CERTIFICATE, LAYOUT)
    assert without.tables == {}
    assert np.array_equal(without.marginal(("size", "old")), small_cells(900).sum(axis=0))
    assert without.answers([]).size == 0


class _Silent(Histogram):
    def tables(self):
        return {}


def test_zip_is_what_was_stored_and_reloads(release):
    again = Release(release.zip())
    assert again.zip() == release.stored
    assert again.certificate == CERTIFICATE
    assert again.domain == SMALL
    names = zipfile.ZipFile(io.BytesIO(release.zip())).namelist()
    assert {"synthetic.csv", "synthetic.parquet", "certificate.json", "schema.json", "tables.csv"} <= set(names)


def test_the_zip_names_who_publishes_where_that_is_known(release):
    said = Imprint(organisation="Office of Schools", contact="a@b.example", licence="CC BY 4.0")
    named, sealed_files = (zipfile.ZipFile(io.BytesIO(each)) for each in (release.zip(said), release.zip()))
    assert named.namelist() == sealed_files.namelist()
    changed = {name for name in named.namelist() if named.read(name) != sealed_files.read(name)}
    assert changed == {"report.html", "croissant.json", "README.txt"}
    assert all(b"Office of Schools" in named.read(name) for name in changed)
    assert named.read("README.txt").endswith(sealed_files.read("README.txt"))
    assert Release(release.zip(said)).certificate == CERTIFICATE and release.zip() == release.stored


def test_records_have_the_order_of_the_source_and_the_types_of_the_schema():
    year = {"low": date(2024, 1, 1), "high": date(2024, 12, 31), "bins": 12, "missing": True}
    domain = Domain(
        (
            Integers(name="age", low=0, high=99),
            Dates(name="day", **year),
            Reals(name="weight", low=0, high=10, bins=2),
            Integers(name="small", low=0, high=99, storage="int8", missing=True),
            Dates(name="moment", **year, storage="timestamp"),
            Reals(name="short", low=0, high=10, bins=2, storage="float32"),
            Categories(name="town", values=("Aa", "Bb"), missing=True),
            Categories(name="code", values=(1, 2**40), missing=True),
            Categories(name="long", values=(1, 10**30)),
            Booleans(name="ill", missing=True),
        )
    )
    types = {
        "weight": "double", "day": "date32[day]", "age": "int64", "moment": "timestamp[us]", "small": "int8",
        "short": "float", "town": "large_string", "code": "int64", "long": "large_string", "ill": "bool",
    }  # fmt: skip
    certificate = CERTIFICATE.model_copy(update={"synthetic_rows": 3})
    regular = [50, 3, 1, 50, 2, 1, 1, 1, 1, 1]
    every_missing = [50, 12, 1, 100, 12, 1, 2, 2, 1, 2]
    for record in (regular, every_missing):
        points = Points(domain, np.tile(record, (3, 1)), np.ones(3))
        release = sealed(points, certificate, list(types))
        schema = pq.read_schema(io.BytesIO(release.parquet()))
        # What the records happen to hold changes no type, not even where a column is all empty.
        assert {field.name: str(field.type) for field in schema} == types
        assert schema.names == list(types)
        assert release.csv().decode().startswith(",".join(types) + "\n")
        assert [release.marginal((name,))[code] for name, code in zip(domain.names, record, strict=True)] == [3] * 10
