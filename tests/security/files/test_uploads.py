"""Whatever bytes are uploaded, under whatever name: a table, or one declared sentence, in little memory and time."""

from __future__ import annotations

import functools
import io
import pickle
import random
import struct
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.base.errors import BadFile
from core.table import files, source
from tests.security.files import intake
from tests.security.files.intake import Upload, Way, take_in

NAMES = (
    "people{}", "../../people{}", "..\\..\\people{}", "/etc/passwd{}", "a\0b{}", "x" * 300 + "{}", "$(touch owned){}",
    "-rf{}", "two\nlines{}", "~/people{}", "people{}", "CON{}",
)  # fmt: skip
"""Names that a browser may send; the ending is the kind's."""

# Mutated files.


def text_files() -> list[bytes]:
    plain = b"a,b\n" + b"".join(b"%d,%s\n" % (row % 12, b"x" if row % 3 else b"other thing") for row in range(40))
    quoted = b'"a","b"\r\n' + b'1,"x, ""y"""\r\n2,"line\r\nend"\r\n' * 8
    return [
        plain,
        quoted,
        plain.replace(b",", b"\t"),
        plain.replace(b",", b";"),
        b"\xef\xbb\xbf" + plain,
        plain.decode().encode("utf-16"),
        "a,b\n1,統計\n2,é\n".encode() * 5,
        b"a,b\n" + b"1,2,3\n" * 3,
        b"",
    ]


def parquet_files() -> list[bytes]:
    frame = pd.DataFrame({"a": range(200), "b": ["x", "y", None, "z"] * 50, "c": np.linspace(0, 1, 200)})
    nested = pd.DataFrame({"a": [1, 2], "b": [["x"], []], "c": [{"d": 1}, None]})
    made = []
    for table, options in (
        (frame, {"compression": "snappy"}),
        (frame, {"compression": "none", "use_dictionary": False}),
        (frame, {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 50}),
        (nested, {"compression": "gzip"}),
    ):
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pandas(table), buffer, **options)  # type: ignore[arg-type]
        made.append(buffer.getvalue())
    return made


def duckdb_files() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as engine:
            engine.execute("CREATE TABLE t AS SELECT (i % 12)::INT AS a, 'x' || (i % 3) AS b FROM range(500) r(i)")
        return [path.read_bytes()]


KINDS = {".csv": text_files, ".parquet": parquet_files, ".duckdb": duckdb_files}
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x2C, 0x0A, 0x0D)
LENGTHS = (0, 1, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutated(base: bytes, other: bytes, draw: random.Random) -> bytes:
    """One to four small harms: to bits, lengths and pieces, more of them near both ends, where headers are."""
    content = bytearray(base)
    for _ in range(draw.randint(1, 4)):
        ends = draw.random() < 0.6
        size = max(1, len(content))
        place = (
            draw.choice((draw.randrange(min(size, 64)), size - 1 - draw.randrange(min(size, 512))))
            if ends
            else (draw.randrange(size))
        )
        match draw.randrange(8):
            case 0 if content:
                content[place] ^= 1 << draw.randrange(8)
            case 1 if content:
                content[place] = draw.choice(EDGES)
            case 2:
                content[place : place + 4] = struct.pack("<I", draw.choice(LENGTHS))
            case 3:
                del content[place:]
            case 4:
                del content[place : place + draw.randint(1, 40)]
            case 5:
                content[place:place] = content[place : place + draw.randint(1, 200)]
            case 6:
                content[place:place] = draw.randbytes(draw.randint(1, 30))
            case _:
                content[place:] = other[draw.randrange(max(1, len(other))) :]
    return bytes(content)


def harmed(ending: str, seed: int, count: int) -> Iterator[Upload]:
    """So many uploads, always the same for the same seed."""
    draw, own = random.Random(seed), KINDS[ending]()
    strangers = [content for make in KINDS.values() for content in make() if len(content) < 10_000]

    def one(number: int) -> Upload:
        other = draw.choice(own) if draw.random() < 0.5 else draw.choice(strangers)
        return NAMES[number % len(NAMES)].format(ending), mutated(draw.choice(own), other, draw)

    return map(one, range(count))


def passed(report: intake.Report, count: int) -> None:
    assert report.undeclared == []
    assert report.written == []
    assert report.left == []
    assert report.loaded + report.refused == count
    assert report.peak < intake.MEMORY
    assert report.slowest < 2, report.slowest_upload


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize(
    ("ending", "seed", "count"),
    [
        (".csv", 1, 120),
        (".parquet", 2, 100),
        (".duckdb", 3, 20),
        pytest.param(".csv", 11, 2_000, marks=pytest.mark.slow),
        pytest.param(".parquet", 12, 1_600, marks=pytest.mark.slow),
        pytest.param(".duckdb", 13, 400, marks=pytest.mark.slow),
    ],
)
def test_mutated_files(tmp_path: Path, ending: str, seed: int, count: int) -> None:
    report = take_in(tmp_path, harmed, ending, seed, count)
    passed(report, count)
    assert report.refused > count // 20, "the harm must be felt"
    assert report.loaded > 0, "and some files must get far"


# Files made to hurt.


def repeated(rows: int, groups: int, text: str) -> bytes:
    """A few kilobytes of Parquet that stand for rows times groups copies of a text."""
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
    table, buffer = pa.table({"a": pa.array(np.zeros(rows, np.int64)), "b": same}), io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)
    return buffer.getvalue()


def constant_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as engine:
            engine.execute("SET enable_progress_bar=false")
            engine.execute("CREATE TABLE t AS SELECT 1::BIGINT AS a, 'x' AS b FROM range(40_000_000)")
        return path.read_bytes()


def wide_parquet(columns: int) -> bytes:
    """A footer alone, in Thrift's compact form: version 2, and a schema of so many columns of bytes."""
    root = b"\x48\x04root" + b"\x15" + _varint(2 * columns) + b"\x00"
    nodes = b"".join(b"\x15\x02\x25\x02\x18" + _text(f"n{place}") + b"\x00" for place in range(columns))
    footer = b"\x15\x04\x19\xfc" + _varint(columns + 1) + root + nodes + b"\x16\x00\x19\x0c\x00"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _text(text: str) -> bytes:
    return _varint(len(text)) + text.encode()


def zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", b"a,b\n" + bytes(50_000_000))
    return buffer.getvalue()


class Owned:
    """What a pickle may do when it is read."""

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, ("owned", "w")


HOSTILE = {
    "long texts in Parquet": (".parquet", lambda: repeated(100_000, 1, "x" * 1_000_000)),
    "many rows in Parquet": (".parquet", lambda: repeated(1_000_000, 60, "x")),
    "many rows in DuckDB": (".duckdb", constant_database),
    "a million columns in Parquet": (".parquet", lambda: wide_parquet(1_000_000)),
    "a million columns in text": (".csv", lambda: ",".join(f"n{place}" for place in range(1_000_000)).encode()),
    "a million names alike": (".csv", lambda: b"a," * 1_000_000 + b"a\n"),
    "a million empty names": (".csv", lambda: b"," * 1_000_000 + b"\n"),
    "a million columns after a short header": (".csv", lambda: b"a,b\n" + b"1," * 1_000_000 + b"\n"),
    "a million quotes": (".csv", lambda: b'"' * 1_000_001),
    "a quoted field without end": (".csv", lambda: b'a,b\n1,"' + b"x\n" * 3_000_000),
    "NULs": (".csv", lambda: bytes(1_000_000)),
    "NULs after a header": (".csv", lambda: b"a,b\n" + bytes(1_000_000)),
    "NULs as Parquet": (".parquet", lambda: b"PAR1" + bytes(1_000_000) + b"PAR1"),
    "a footer longer than the file": (".parquet", lambda: b"PAR1" + b"\xff" * 40 + b"\xff\xff\xff\x7fPAR1"),
    "a ZIP bomb": (".csv", zip_bomb),
    "a pickle": (".csv", lambda: pickle.dumps(Owned())),
    "a pickle in protocol 0": (".csv", lambda: pickle.dumps(Owned(), protocol=0)),
    "a pickle as a database": (".duckdb", lambda: pickle.dumps(Owned())),
    "a database of nothing": (".duckdb", lambda: bytes(8) + b"DUCK" + bytes(16_384)),
    "a link": (".csv", lambda: b"../../../../etc/passwd"),
    "an XML entity": (".csv", lambda: b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'),
    "only line ends": (".csv", lambda: b"\n" * 5_000_000),
    "numbers beyond all bounds": (".csv", lambda: b"a,b\n" + (b"9" * 100_000 + b",x\n") * 20),
}


def given(name: str, made: Path) -> list[Upload]:
    return [(name, made.read_bytes())]


SLOW = ("many rows in Parquet", "many rows in DuckDB")


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in HOSTILE])
def test_files_made_to_hurt(tmp_path: Path, case: str) -> None:
    ending, make = HOSTILE[case]
    (tmp_path / "made").write_bytes(make())
    report = take_in(tmp_path, given, f"../../{case}{ending}", tmp_path / "made")
    assert report.undeclared == report.written == report.left == []
    assert report.loaded + report.refused == 1
    assert report.refused or case == "numbers beyond all bounds"
    assert report.peak < intake.MEMORY
    assert report.slowest < 20, "CPU seconds of a bomb are bounded by its memory"


def test_a_file_may_take_memory_in_proportion_to_its_size(tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    path.write_bytes(repeated(10, 1, "x"))
    with source.opened(path) as rows:
        limit = rows._engine.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]  # type: ignore[attr-defined]
    assert limit.startswith("512.")


def test_width_is_known_from_the_first_bytes_of_the_footer(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    path.write_bytes(wide_parquet(3))
    files.check_width(path)
    with duckdb.connect() as engine:
        described = engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    assert [row[0] for row in described] == ["n0", "n1", "n2"], "the file that the test makes by hand is Parquet"
    path.write_bytes(wide_parquet(files.MAX_NODES + 1))
    with pytest.raises(BadFile, match="100,002 columns and parts"):
        files.check_width(path)


# Careless ways to take in an upload: what each is caught by.


@contextmanager
def under_its_own_name(sent: Any, workspace: Path) -> Iterator[Path]:
    path = workspace / sent.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sent.getbuffer())
    yield path


def by_pandas(path: Path) -> object:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def as_a_pickle(path: Path) -> object:
    try:
        return pd.read_pickle(path)
    except Exception:
        raise BadFile("This is no pickle.") from None


def for_ever(path: Path) -> object:
    time.sleep(600)
    return None


def plain_bomb() -> list[Upload]:
    return [("bomb.parquet", repeated(1_000_000, 40, "x" * 60))]


def one_pickle() -> list[Upload]:
    return [("people.csv", pickle.dumps(Owned()))]


def climbing() -> list[Upload]:
    return [("../climbed.csv", b"a,b\n1,x\n"), ("left.csv", b"a,b\n1,x\n")]


def test_errors_of_a_library_are_caught(tmp_path: Path) -> None:
    assert len(take_in(tmp_path, harmed, ".csv", 1, 60, way=Way(read=by_pandas)).undeclared) > 5


@pytest.mark.exhaustive
def test_a_bomb_is_caught(tmp_path: Path) -> None:
    report = take_in(tmp_path, plain_bomb, way=Way(read=by_pandas))
    assert report.undeclared or report.peak > intake.MEMORY


def test_a_pickle_that_runs_is_caught(tmp_path: Path) -> None:
    report = take_in(tmp_path, one_pickle, way=Way(read=as_a_pickle))
    assert any("owned" in path for path in report.written)
    assert any("owned" in path for path in report.left)


def test_files_elsewhere_are_caught(tmp_path: Path) -> None:
    report = take_in(tmp_path, climbing, way=Way(keep=under_its_own_name, read=functools.partial(intake.read)))
    assert any("climbed" in path for path in report.written)
    assert any("left.csv" in path for path in report.left)


def test_a_way_without_end_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="at upload 0"):
        take_in(tmp_path, climbing, way=Way(read=for_ever), patience=1.0)
