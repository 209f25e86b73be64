"""Files that are no tables: one clear sentence each, no cell value in it, nothing written, no other exception."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.base.errors import BadFile, BadSchema, DeskError
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.table import Table, inspect

AB = Domain((Integers(name="a", low=0, high=9, missing=True), Categories(name="b", values=("x",), other="else")))


def load(where: object, domain: Domain = AB, unit: Unit | None = None) -> Table:
    return Table.load(where, domain, unit or Unit.row(), Noise())  # type: ignore[arg-type]


def refused(where: object, words: str, domain: Domain = AB, unit: Unit | None = None) -> None:
    with pytest.raises(DeskError, match=words) as problem:
        load(where, domain, unit)
    text = str(problem.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "secret" not in text
    assert len(text) < 250
    assert problem.value.__cause__ is None
    assert not isinstance(problem.value.__context__, UnicodeDecodeError | duckdb.Error)  # these carry file contents


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "a,b\n1,x\n")
    return buffer.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


FRAME = pd.DataFrame({"a": range(500), "b": ["secret"] * 500})
GOOD = b"a,b\n1,x\n"
BAD = {
    "empty": (b"", "empty"),
    "only a line end": (b"\n", "first line is empty"),
    "only a mark": (b"\xef\xbb\xbf", "first line is empty"),
    "header only": (b"a,b\n", "no rows"),
    "header without line end": (b"a,b", "no rows"),
    "too few fields": (b"a,b\n1,x\nsecret\n", r"fewer fields .*line 3"),
    "too many fields": (b"a,b\n1,x\nsecret,2,3\n", r"more or fewer fields .*line 3"),
    "open quote": (b'a,b\n1,"secret\n2,x\n', "quote"),
    "text after quote": (b'a,b\n1,"sec"ret\n2,x\n', "quote"),
    "open quote in header": (b'a,"b\n1,x\n', "."),
    "NUL": (b"a,b\n1,secret\0\n", "NUL"),
    "NUL in header": (b"a\0,b\n1,x\n", "NUL"),
    "UTF-16": ("a,b\n1,secret\n".encode("utf-16"), "UTF-16"),
    "UTF-16 without mark": ("a,b\n1,secret\n".encode("utf-16-le"), "NUL"),
    "UTF-32": ("a,b\n1,secret\n".encode("utf-32"), "UTF-16|NUL"),
    "Latin-1": ("a,b\n1,sécret\n".encode("latin-1"), "not UTF-8"),
    "cut character": (b"a,b\n1,secret\xc3", "not UTF-8"),
    "zip": (zipped("x.csv"), "ZIP"),
    "spreadsheet": (zipped("xl/workbook.xml"), "spreadsheet"),
    "gzip": (gzip.compress(GOOD), "gzip"),
    "pickle": (pickle.dumps({"a": "secret"}), "pickle"),
    "old pickle": (pickle.dumps({"a": "secret"}, protocol=2), "pickle"),
    "picture": (b"\x89PNG\r\n\x1a\nsecret", "picture"),
    "PDF": (b"%PDF-1.7 secret", "PDF"),
    "SQLite": (b"SQLite format 3\0secret", "SQLite"),
    "array": (b"\x93NUMPY\x01\0secret", "NUL|UTF-8"),
    "random bytes": (np.random.default_rng(1).bytes(5000), "NUL|UTF-8"),
    "cut Parquet": (parquet(FRAME)[:-30], "cut off"),
    "Parquet start": (b"PAR1", "cannot be read|cut off"),
    "Parquet ends": (b"PAR1secretPAR1", "cannot be read"),
    "Parquet with a hole": (parquet(FRAME)[:40] + parquet(FRAME)[90:], "cannot be read"),
    "line too long": (b"a,b\n1," + b"s" * 3_000_000 + b"\n", "longer than 2,000,000"),
    "endless header": (b"a" * 5_000_000, "first line"),
    "endless names": (b"abc," * 1_500_000, "first line|columns"),
    "too many columns": (",".join(f"n{place}" for place in range(10_001)).encode() + b"\n", "10,001 columns"),
    "other columns": (b"c,d\n1,secret\n", "no column 'a'"),
    "one column short": (b"a\n1\n", "no column 'b'"),
}


@pytest.mark.crossing(keep=40)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ""])
@pytest.mark.parametrize("case", BAD)
def test_bad_file(case: str, suffix: str, tmp_path: Path) -> None:
    content, words = BAD[case]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    refused(path, words if suffix != ".parquet" else f"{words}|named like Parquet")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["gone.csv", "../gone.csv", "a\0b.csv", "x" * 5000, "http://127.0.0.1:9/a.csv"])
def test_no_such_file(name: str, tmp_path: Path) -> None:
    refused(tmp_path / name if not name.startswith("http") else name, "no such file|cannot be opened")


def test_a_folder_and_a_pipe(tmp_path: Path) -> None:
    refused(tmp_path, "folder")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "no such file")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(tmp_path / "loop", "no such file|cannot be opened")


@pytest.mark.exhaustive
def test_duckdb_files(tmp_path: Path) -> None:
    path = tmp_path / "base.duckdb"
    (tmp_path / "outside.csv").write_bytes(b"a,b\n1,secret\n")
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE good (a INT, b VARCHAR); INSERT INTO good VALUES (1, 'x')")
        engine.execute("CREATE TABLE none (a INT, b VARCHAR)")
        engine.execute(f"CREATE VIEW leak AS SELECT * FROM read_csv('{tmp_path}/outside.csv')")
    assert load((path, "good")).rows == 1
    refused(path, "name one of its tables")
    refused((path, "none"), "no rows")
    refused((path, "nobody"), "no table 'nobody'")
    refused((path, "leak"), "views cannot")
    refused((path, "'; DROP TABLE good; --"), "no table")
    refused((path, "good\0"), ".")
    (tmp_path / "a.csv").write_bytes(GOOD)
    refused((tmp_path / "a.csv", "good"), "neither a database nor a workbook")
    path.write_bytes(path.read_bytes()[:5000])
    refused((path, "good"), "cannot be read")


def test_frames() -> None:
    refused(pd.DataFrame(), "column names|empty")
    refused(pd.DataFrame({"a": [], "b": []}), "no rows")
    refused(pd.DataFrame([[1, 2]], columns=["a", "a"]), "1 and 2 have the same name")
    refused(pd.DataFrame([[1, 2]], columns=["a", 7]), "text as its name")
    refused(pd.DataFrame([[1, 2]], columns=["a", " "]), "no name")
    refused(pd.DataFrame({"a": [1]}), "no column 'b'")


def test_the_id_column_must_exist(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(GOOD)
    refused(tmp_path / "a.csv", "no id column 'patient'", unit=Unit.id("patient", 2))
    assert load(tmp_path / "a.csv", unit=Unit.id("b", 2)).rows == 1


def test_nested_parquet_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [["secret"], []], "s": [{"b": 1}, None], "A": [3, 4]})
    frame.to_parquet(tmp_path / "n.parquet")
    refused(tmp_path / "n.parquet", "'b' holds lists")
    refused(tmp_path / "n.parquet", "'s' holds lists", domain=Domain((Booleans(name="s"),)))
    assert [column.type for column in inspect(tmp_path / "n.parquet")][1:3] == ["LIST", "STRUCT"]
    domain = Domain((Integers(name="A", low=0, high=9), Integers(name="a", low=0, high=9)))
    loaded = load(tmp_path / "n.parquet", domain)
    assert (loaded.codes["A"].tolist(), loaded.codes["a"].tolist()) == ([3, 4], [1, 2])


def test_duplicate_parquet_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "d.parquet")
    refused(tmp_path / "d.parquet", "1 and 2 have the same name")
    pq.write_table(pa.table([[1], [2]], names=["a", ""]), tmp_path / "e.parquet")
    refused(tmp_path / "e.parquet", "number 2 has no name")
    pq.write_table(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), tmp_path / "z.parquet")
    refused(tmp_path / "z.parquet", "no rows")


FINE = {
    "one column": (b"b\nx\n", [0]),
    "blank line is a row of a single column": (b"b\nx\n\ny\n", [0, 1, 1]),
    "blank line between rows of several": (b"a,b\n1,x\n\n2,y\n", [0, 1]),
    "no line end": (b"a,b\n1,x", [0]),
    "carriage returns": (b"a,b\r\n1,x\r\n2,y\r\n", [0, 1]),
    "mark": (b"\xef\xbb\xbfb,a\nx,1\n", [0]),
    "semicolons": (b"a;b\n1;x\n", [0]),
    "bars": (b"a|b\n1|x\n", [0]),
    "tabs": (b"a\tb\n1\tx\n", [0]),
    "comma in a quoted name": (b'"c,,,,;";b\n1;x\n', [0]),
    "line end in a quoted field": (b'a,b\n1,"x\ny"\n2,x\n', [1, 0]),
    "line end in a quoted name": (b'"a\na",b\n1,x\n', [0]),
    "doubled quotes": (b'a,b\n1,"""x"""\n', [1]),
    "a quote inside a field": (b'a,b\n1,5" pipe\n2,x\n', [1, 0]),
    "unicode": ("a,b\n1,統計\n2,x\n".encode(), [1, 0]),
    "quoted blanks": (b'a,b\n1," x "\n', [0]),
    "a million characters": (b"a,b\n1," + b"y" * 1_000_000 + b"\n2,x\n", [1, 0]),
    "does not fit": (b"a,b\nabc,\n-1,NULL\n1e999,nan\n", [1, 1, 1]),
}


@pytest.mark.parametrize("case", FINE)
def test_unusual_but_fine(case: str, tmp_path: Path) -> None:
    content, codes = FINE[case]
    (tmp_path / "fine.csv").write_bytes(content)
    assert load(tmp_path / "fine.csv", AB.project(["b"])).codes["b"].tolist() == codes


def test_cells_that_do_not_fit_never_raise(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_bytes(b"a,b\nabc,x\n-7,\n1e999,q\nnan,x\n,x\n5.5,x\n")
    loaded = load(tmp_path / "cells.csv")
    assert loaded.codes["a"].tolist() == [10, 0, 9, 10, 10, 5]
    assert loaded.misfits == {"a": 4, "b": 2}


@pytest.mark.exhaustive
def test_ten_thousand_columns(tmp_path: Path) -> None:
    header = ",".join(f"n{place}" for place in range(9_998))
    row = ",".join(["7"] * 9_998)
    (tmp_path / "wide.csv").write_text(f"a,b,{header}\n1,x,{row}\n2,y,{row}\n")
    assert len(inspect(tmp_path / "wide.csv")) == 10_000
    assert load(tmp_path / "wide.csv").codes["a"].tolist() == [1, 2]


@pytest.mark.exhaustive
@given(content=st.binary(max_size=60) | st.text('ab1x,"\n\r\t;|é ', max_size=40).map(str.encode), start=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_table_or_a_sentence(content: bytes, start: bool, tmp_path: Path) -> None:
    (tmp_path / "any.csv").write_bytes((b"a,b\n" if start else b"") + content)
    try:
        assert load(tmp_path / "any.csv").rows > 0
    except (BadFile, BadSchema) as problem:
        assert str(problem).endswith(".")
    try:
        assert inspect(tmp_path / "any.csv")
    except BadFile as problem:
        assert str(problem).endswith(".")
