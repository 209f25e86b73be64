"""Which tables a database holds is told without looking at a row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from core.base.errors import BadFile
from core.table.source import stored_tables
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
