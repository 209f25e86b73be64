from __future__ import annotations

import contextlib
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base.errors import DeskError
from core.ledger.ledger import Ledger
from core.sessions.kept.file import SessionFile
from core.sessions.kept.layout import LAYOUT
from tests.core.sessions.kept.stored import add, close, raw, record
from tests.reliability.test_old_workspace import OLD_WORKSPACE


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A session file that version 1 wrote."""
    path = tmp_path / "old" / "sessions.sqlite"
    path.parent.mkdir()
    path.write_bytes(zipfile.Path(OLD_WORKSPACE, "sessions.sqlite").read_bytes())
    return path


def structure(path: Path) -> set[Any]:
    """Every column, trigger and index of a file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        objects = connection.execute("SELECT type, name, tbl_name FROM sqlite_master").fetchall()
        columns = [
            (name, *column)
            for kind, name, _ in objects
            if kind == "table"
            for column in connection.execute(f"PRAGMA table_xinfo({name})").fetchall()
        ]
        written = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        triggers = [(name, " ".join(text.split())) for name, text in written]
        return {*objects, *columns, *triggers, *connection.execute("PRAGMA user_version").fetchall()}


def test_a_file_of_the_version_before_becomes_like_a_new_one(old: Path, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(old)) as connection:
        before = connection.execute("SELECT session, version, digest, data FROM state ORDER BY session").fetchall()
    assert structure(old) != structure(SessionFile(path).database.path)
    file = SessionFile(old)
    assert structure(old) == structure(path)
    with raw(file) as connection:
        after = connection.execute("SELECT * FROM state ORDER BY session").fetchall()
    assert [tuple(row) for row in after] == [(*row, None) for row in before]
    for row in file.rows():
        with file.snapshot(row.id) as turn:
            assert turn.state().allowance is None
    SessionFile(old)
    assert structure(old) == structure(path)


def test_a_step_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = structure(old)
    broken = {1: (*LAYOUT.steps[1], "CREATE TABLE session (number INTEGER)")}
    monkeypatch.setattr("core.sessions.kept.file.LAYOUT", replace(LAYOUT, steps=broken))
    with pytest.raises(DeskError):
        SessionFile(old)
    assert structure(old) == before


def test_a_file_of_a_later_version_is_refused_and_left_alone(path: Path) -> None:
    SessionFile(path).database.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {LAYOUT.version + 1}")
    before = structure(path)
    with pytest.raises(DeskError, match="newer Release Desk"):
        SessionFile(path)
    assert structure(path) == before


def test_other_files_are_refused_and_left_alone(path: Path) -> None:
    Ledger(path)
    before = path.read_bytes()
    with pytest.raises(DeskError, match="not a session file"):
        SessionFile(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM session",
        "DELETE FROM state",
        "DELETE FROM reply",
        "UPDATE reply SET share = 0",
        "UPDATE session SET version = 1",
        "UPDATE session SET version = 4 WHERE id = 's'",
        "UPDATE session SET terms_json = '[]' WHERE id = 's'",
        "UPDATE session SET plan_id = 'other' WHERE id = 's'",
        "UPDATE session SET dataset_id = 'other' WHERE id = 's'",
        "UPDATE session SET status = 'closed' WHERE id = 's'",
        "UPDATE session SET status = 'open', closed_at = NULL WHERE id = 'c'",
        "UPDATE session SET version = 1 WHERE id = 'c'",
        "UPDATE state SET data = X'00', version = 2 WHERE session = 's'",
        "UPDATE state SET data = X'00', version = 3 WHERE session = 's'",
        "UPDATE state SET data = X'00' WHERE session = 's'",
        "INSERT INTO reply SELECT session, 3, at, 'k', words, question, weights, share, count, margin, rows, kind,"
        " spent, left, low, high FROM reply WHERE number = 1",
        "INSERT INTO reply SELECT 'c', 0, at, key, words, question, weights, share, count, margin, rows, kind,"
        " spent, left, low, high FROM reply WHERE number = 1",
        "UPDATE state SET allowance = NULL WHERE session = 's'",
        "INSERT INTO state VALUES ('nowhere', 0, '', X'00', NULL)",
    ],
)
def test_the_tables_are_a_second_wall(file: SessionFile, statement: str) -> None:
    add(file, "c")
    close(file, "c")
    record(file, 0)
    record(file, 1, kind="hard", state=b"second")
    with raw(file) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
