"""Which tables a database holds is told without looking at a row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from core.base.errors import BadFile, BadParameter
from core.schema.domain import Categories, Reals
from core.table.files import TextFile
from core.table.source import opened, stored_tables
from core.table.table import inspect


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute('CREATE TABLE "Robert""); DROP TABLE b; --" AS SELECT 1 AS one')
        engine.execute("CREATE TABLE b AS SELECT 2 AS two")
        engine.execute("CREATE SCHEMA back")
        engine.execute("CREATE TABLE back.b AS SELECT 3 AS three")
        engine.execute("CREATE TABLE back.c AS SELECT 4 AS four")
        engine.execute("CREATE VIEW outlook AS SELECT 5 AS five")
        engine.execute("CREATE TEMP TABLE fleeting AS SELECT 6 AS six")
    return path


def test_tables_of_a_database(database: Path) -> None:
    names = stored_tables(database)
    assert names == ('Robert"); DROP TABLE b; --', "b", "c")
    assert [inspect((database, name))[0].name for name in names] == ["one", "two", "four"]


def test_other_files_have_none(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    path.write_text("a,b\n1,2\n")
    assert stored_tables(path) is None


def test_damaged_database_is_one_sentence(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5_000])
    with pytest.raises(BadFile):
        stored_tables(database)
    with pytest.raises(BadFile, match="no such file"):
        stored_tables(database.with_name("nothing.duckdb"))


def test_a_text_file_is_read_as_its_curator_says(tmp_path: Path) -> None:
    path = tmp_path / "orte.csv"
    path.write_bytes("größe;ort\n1,5;Köln\n1.234,5;Köln\n7;x\n2.5;x\n,;x\n".encode("latin-1"))
    with opened(TextFile(path, "latin-1", ",")) as rows:
        assert rows.take(["größe", "ort"]) == 5
        size, place = (
            Reals(name="größe", low=0, high=2000, bins=2000, missing=True),
            Categories(name="ort", values=("Köln", "x")),
        )
        [piece] = rows.pieces([size, place])
        codes, misfits = piece.encode(size)
        assert (codes.tolist(), misfits) == ([1, 1234, 7, 2, 2000], 1), (
            "a point alone is a point; a comma alone nothing"
        )
        assert piece.encode(place)[0].tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(BadFile, match="not UTF-8"):
        inspect(path)


def test_how_a_text_is_written_is_one_of_a_few_and_only_for_texts(database: Path) -> None:
    for encoding, decimal in (("utf-16", "."), ("utf-8", ";")):
        with pytest.raises(BadParameter):
            TextFile("x.csv", encoding, decimal)  # type: ignore[arg-type]
    with pytest.raises(BadFile, match="no text"):
        inspect(TextFile(database, "latin-1"))
