"""SQLite databases: tables only, nothing of the file's maker is run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.source import stored_tables
from core.table.table import Table, inspect

DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 120, "missing": True},
        {"name": "sex", "kind": "categories", "values": ["male", "female"], "other": "other"},
    ]
)
EVIL = 'peo"ple; DROP TABLE x'


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as engine:
        for statement in statements:
            engine.execute(statement)
        engine.commit()
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return database(
        tmp_path / "a.sqlite",
        "CREATE TABLE people (age INTEGER, sex VARCHAR(9), weight REAL, born DATE)",
        "INSERT INTO people VALUES (41, 'male', 1.5, '2000-01-01'), ('12', 'x', 'heavy', NULL), (NULL, 'female', 1, 3)",
        f'CREATE TABLE "{EVIL.replace(chr(34), chr(34) * 2)}" (age, sex)',
        "CREATE VIEW leak AS SELECT * FROM people",
    )


def test_tables_and_types(people: Path) -> None:
    assert stored_tables(people) == (EVIL, "people")
    assert [column.type for column in inspect((people, "people"))] == ["BIGINT", "VARCHAR", "DOUBLE", "DATE"]
    assert [column.name for column in inspect((people, EVIL))] == ["age", "sex"]


def test_every_cell_is_read_by_itself(people: Path) -> None:
    table = Table.load((people, "people"), DOMAIN, Unit.row(), Noise())
    assert table.codes["age"].tolist() == [41, 12, 121]
    assert table.codes["sex"].tolist() == [0, 2, 1]
    assert table.misfits == {"age": 0, "sex": 1}


def test_a_text_of_odd_bytes_is_a_misfit_of_its_own(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE people (age, sex TEXT)",
        "INSERT INTO people VALUES (1, CAST(x'ff' AS TEXT)), (2, 'male')",
    )
    assert Table.load((path, "people"), DOMAIN, Unit.row(), Noise()).codes["sex"].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("statement", "name", "words"),
    [
        ("CREATE TABLE made (age INT, sex TEXT, twice INT AS (age * 2))", "made", "'twice' is computed"),
        ("CREATE VIEW seen AS SELECT * FROM people", "seen", "no table 'seen'"),
        ("CREATE VIRTUAL TABLE found USING fts5(age, sex)", "found", "no table 'found'"),
    ],
)
def test_what_is_computed_is_refused(people: Path, statement: str, name: str, words: str) -> None:
    database(people, statement)
    with pytest.raises(BadFile, match=words):
        inspect((people, name))


def test_damaged_or_busy_databases_are_one_sentence(people: Path) -> None:
    whole = people.read_bytes()
    people.write_bytes(whole[:3000] + b"secret" * 200 + whole[4200:])
    with pytest.raises(BadFile, match="cannot be read") as told:
        Table.load((people, "people"), DOMAIN, Unit.row(), Noise())
    assert told.value.__context__ is None
    people.write_bytes(whole)
    people.with_name("a.sqlite-wal").write_bytes(b"rows that are not in the file yet")
    with pytest.raises(BadFile, match="in use"):
        inspect((people, "people"))
