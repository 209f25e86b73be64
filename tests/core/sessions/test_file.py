from __future__ import annotations

import contextlib
import sqlite3
import stat
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from core.base.errors import DeskError, Refused, Unknown
from core.kernel.query import Query
from core.ledger.durable_file import ROOM
from core.ledger.ledger import Ledger
from core.mechanisms.kit.interactive import Reply
from core.schema.domain import Booleans, Domain
from core.sessions.answer import Answer
from core.sessions.file import LAYOUT, SessionFile, StoredState
from core.sessions.question import SessionQuestion
from tests.reliability.test_old_workspace import OLD_WORKSPACE

DOMAIN = Domain((Booleans(name="ill"), Booleans(name="old")))
QUESTIONS = [
    SessionQuestion.of(Query(columns=("ill", "old"), weights=np.array(bits).reshape(2, 2), words=f"{bits}"), DOMAIN)
    for bits in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


@pytest.fixture
def file(path: Path) -> SessionFile:
    file = SessionFile(path)
    add(file)
    return file


def add(file: SessionFile, id: str = "s", state: bytes = b"first", dataset: str = "people") -> None:
    file.add(id=id, plan_id=id, dataset_id=dataset, terms_json="{}", state=StoredState(state, "all"))


def record(
    file: SessionFile,
    place: int,
    *,
    kind: str = "easy",
    state: bytes | None = None,
    allowance: str = "all",
    **changes: object,
) -> Answer:
    facts: Any = {"count": 5.0, "share": 0.5, "margin": 1.0, "kind": kind, "left": 7} | changes
    reply = Reply(**facts)
    with file.turn("s") as turn:
        kept = None if state is None else StoredState(state, allowance)
        return turn.record(question=QUESTIONS[place], at="now", reply=reply, rows=10.0, state=kept)


def close(file: SessionFile, id: str) -> None:
    with file.closing(id) as turn:
        assert turn is not None
        turn.close("closed", turn.left())


def stored(file: SessionFile) -> bytes:
    with file.snapshot("s") as turn:
        return turn.state().data


@contextlib.contextmanager
def raw(file: SessionFile):
    with contextlib.closing(file.database.connect()) as connection:
        yield connection


def test_the_file_is_private_and_synced(file: SessionFile, path: Path) -> None:
    record(file, 0)
    for name in path.parent.iterdir():
        assert stat.S_IMODE(name.stat().st_mode) == 0o600
    with file.database.read() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_the_first_opening_wins(file: SessionFile) -> None:
    add(file, state=b"second")
    assert stored(file) == b"first"
    assert file.row("s").version == 0
    assert file.find("t") is None
    with pytest.raises(Unknown, match="'t'"):
        file.row("t")


def test_sessions_are_listed_by_table_newest_first(file: SessionFile) -> None:
    add(file, "t", dataset="other")
    add(file, "u")
    assert [row.id for row in file.rows()] == ["u", "t", "s"]
    assert [row.id for row in file.rows("people")] == ["u", "s"]


def test_replies_and_states_move_together(file: SessionFile) -> None:
    first = record(file, 0)
    assert (first.number, first.spent, file.row("s").version, file.row("s").state_version) == (1, 0, 1, 0)
    second = record(file, 1, kind="hard", state=b"second", left=6)
    assert (second.number, second.spent, file.row("s").version, file.row("s").state_version) == (2, 1, 2, 2)
    third = record(file, 2, kind="unchecked", margin=None, left=None)
    assert (third.spent, third.margin, third.left, file.row("s").state_version) == (1, None, None, 2)
    assert stored(file) == b"second"
    assert file.size("s") == 6
    assert file.replies("s") == [first, second, third]
    assert file.last("s") == third
    assert file.tally("s") == {"easy": 1, "hard": 1, "unchecked": 1}
    assert file.asked_before("s", QUESTIONS[1].key) == second
    assert file.asked_before("s", QUESTIONS[3].key) is None
    with file.turn("s") as turn:
        assert turn.reply(QUESTIONS[0].key) == first


def test_a_turn_that_fails_leaves_nothing(file: SessionFile) -> None:
    reply = Reply(count=1.0, share=0.1, margin=None, kind="hard", left=1)
    with pytest.raises(KeyboardInterrupt), file.turn("s") as turn:
        turn.record(question=QUESTIONS[0], at="now", reply=reply, rows=None, state=StoredState(b"second", "less"))
        raise KeyboardInterrupt
    assert (file.row("s").version, stored(file), file.replies("s")) == (0, b"first", [])
    with pytest.raises(DeskError):
        record(file, 0, share=float("nan"))
    with pytest.raises(DeskError):
        record(file, 0, left=-1)
    assert file.row("s").version == 0
    record(file, 0)
    with pytest.raises(DeskError):
        record(file, 0)
    assert file.row("s").version == 1


def test_a_turn_lets_nobody_else_write(file: SessionFile, path: Path) -> None:
    hasty = SessionFile(path, patience=0.01)
    with file.turn("s"):
        with pytest.raises(DeskError, match="using the session file; nothing was changed"), hasty.turn("s"):
            pass
        assert hasty.row("s").version == 0, "reading goes on beside a turn"
    with hasty.turn("s") as turn:
        assert turn.row.version == 0


def test_a_turn_begins_only_where_there_is_room(file: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk(NamedTuple):
        free: int

    needed = ROOM + 4 * len(b"first")
    monkeypatch.setattr("core.ledger.durable_file.shutil.disk_usage", lambda _: Disk(needed - 1))
    with pytest.raises(DeskError, match="nearly full; nothing was asked"), file.turn("s"):
        raise AssertionError("a draw that may not be kept")
    monkeypatch.setattr("core.ledger.durable_file.shutil.disk_usage", lambda _: Disk(needed))
    assert record(file, 0).number == 1


def test_a_closed_session_takes_no_turn(file: SessionFile) -> None:
    record(file, 0)
    close(file, "s")
    closed = file.row("s")
    with file.closing("s") as turn:
        assert turn is None, "it has no more turns"
    assert file.row("s") == closed
    with pytest.raises(Refused, match="closed"):
        record(file, 1)
    with pytest.raises(Refused, match="closed"):
        file.asked_before("s", QUESTIONS[0].key)
    with pytest.raises(Unknown):
        close(file, "t")
    assert len(file.replies("s")) == 1


@pytest.mark.parametrize("damage", ["data = X'00'", "allowance = 'more'"])
def test_a_damaged_state_is_never_used(file: SessionFile, damage: str) -> None:
    with raw(file) as connection:
        connection.execute("DROP TRIGGER state_goes_forward")
        connection.execute(f"UPDATE state SET {damage}")
    with pytest.raises(DeskError, match="damaged"):
        stored(file)


def test_what_was_left_at_the_end_is_kept_and_fixed(file: SessionFile) -> None:
    record(file, 0, state=b"second", allowance="some")
    assert file.left_at_end("s") is None
    with raw(file) as connection, pytest.raises(sqlite3.IntegrityError, match="only a closed session"):
        connection.execute("INSERT INTO ending VALUES ('s', 'closed', 'all')")
    close(file, "s")
    assert file.left_at_end("s") == "some"
    assert file.row("s").reason == "closed"
    with raw(file) as connection:
        for change in ("UPDATE ending SET allowance = 'all'", "DELETE FROM ending"):
            with pytest.raises(sqlite3.IntegrityError, match="ending"):
                connection.execute(change)


def test_a_damaged_state_says_nothing_of_what_was_left(file: SessionFile) -> None:
    with raw(file) as connection:
        connection.execute("DROP TRIGGER state_goes_forward")
        connection.execute("UPDATE state SET allowance = 'more'")
    close(file, "s")
    assert file.left_at_end("s") is None


def test_what_is_left_moves_with_the_state(file: SessionFile) -> None:
    def left() -> str | None:
        with file.snapshot("s") as turn:
            return turn.state().allowance

    assert left() == "all"
    record(file, 0)
    assert left() == "all"
    record(file, 1, kind="hard", state=b"second", allowance="some")
    assert left() == "some"
    with pytest.raises(KeyboardInterrupt), file.turn("s") as turn:
        reply = Reply(count=1.0, share=0.1, margin=None, kind="hard", left=1)
        kept = StoredState(b"third", "none")
        turn.record(question=QUESTIONS[2], at="now", reply=reply, rows=None, state=kept)
        raise KeyboardInterrupt
    assert (left(), stored(file)) == ("some", b"second")


# files of the version before


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
    monkeypatch.setattr("core.sessions.file.LAYOUT", replace(LAYOUT, steps=broken))
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


def test_a_deleted_file_does_not_come_back_empty(file: SessionFile, path: Path) -> None:
    path.unlink()
    with pytest.raises(DeskError, match="cannot be opened"):
        add(file, "t")
    assert not path.exists()


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
