from __future__ import annotations

import contextlib
import shutil
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.base.errors import DeskError
from core.ledger import durable_file
from core.ledger.durable_file import KeptFile
from core.ledger.layout import LARGEST_AMOUNT, LAYOUT
from core.ledger.ledger import Ledger
from core.ledger.places import open_database
from tests.core.ledger.test_ledger import OTHER_BUDGET, REASON, declared, one_way, opened, raw, reserve


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    ledger = Ledger(path)
    opened(ledger)
    declared(ledger)
    return ledger


def test_the_file_is_private_and_synced(ledger: Ledger, path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with ledger.database.read() as connection:
        connection.execute("SELECT * FROM account").fetchall()
        for name in path.parent.iterdir():
            assert stat.S_IMODE(name.stat().st_mode) == 0o600
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 30_000


def test_whoever_opens_a_file_waits_half_a_minute_for_others(path: Path) -> None:
    for file in (open_database(path, LAYOUT), KeptFile(path, LAYOUT)):
        with file.read() as connection:
            assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 30_000


def test_a_file_that_is_up_to_date_is_opened_while_others_write(ledger: Ledger, path: Path) -> None:
    with ledger.database.write():
        assert KeptFile(path, LAYOUT, patience=0.0).patience == 0


def test_what_older_programs_wrote_is_still_read() -> None:
    assert LARGEST_AMOUNT == 2**62
    assert list(LAYOUT.steps) == [1, 2, 3]


def test_a_file_may_be_closed_by_another_thread(tmp_path: Path) -> None:
    file = KeptFile(tmp_path / "kept.sqlite", replace(LAYOUT, busy=True))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(file.close).result()
    assert [name.name for name in tmp_path.iterdir()] == ["kept.sqlite"], "the log has gone into the file"


@pytest.mark.parametrize(("name", "words"), [("SQLITE_BUSY_RECOVERY", "Another process"), ("", "(OperationalError)")])
def test_errors_of_every_kind_are_a_sentence(ledger: Ledger, name: str, words: str) -> None:
    error = sqlite3.OperationalError()
    if name:
        error.sqlite_errorname = name  # type: ignore[misc]
    assert words in ledger.database._sentence(error)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("missing", "refused"), [(0, False), (1, True)])
def test_room_for_four_times_its_size_is_made_sure_of(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, missing: int, refused: bool
) -> None:
    free = SimpleNamespace(free=durable_file.ROOM + 4_000 - missing)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    with ledger.database.read() as connection, pytest.raises(DeskError) if refused else contextlib.nullcontext():
        ledger.database.check_room(connection, 1_000)


@pytest.mark.parametrize("name", ["a b", "50%20?mode=memory#x", "file:x", ":memory:", "ü'\"\n💾", "-wal", "\udcff"])
def test_odd_file_names(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened(Ledger(name))
    assert Ledger(name).account("ab").total == 100
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_deleted_ledger_does_not_come_back_empty(ledger: Ledger, path: Path) -> None:
    reserve(ledger, "p", 100)
    path.unlink()
    with pytest.raises(DeskError, match="cannot be opened"):
        opened(ledger)
    assert not path.exists()


def test_a_newer_ledger_is_refused_and_left_alone(ledger: Ledger, path: Path) -> None:
    with raw(ledger) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(DeskError, match="newer"):
        Ledger(path)
    assert path.read_bytes() == before


def test_other_files_are_refused_and_left_alone(path: Path) -> None:
    for content in (b"", b"name,age\nAda,36\n" * 100):
        path.write_bytes(content)
        with pytest.raises(DeskError, match="not a ledger"):
            Ledger(path)
        assert path.read_bytes() == content
        path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    before = path.read_bytes()
    with pytest.raises(DeskError, match="not a ledger"):
        Ledger(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("where", ["missing/ledger.sqlite", ".", "nul\0"])
def test_a_place_where_no_file_can_be(tmp_path: Path, where: str) -> None:
    with pytest.raises(DeskError, match="cannot be opened"):
        Ledger(tmp_path / where)


def test_a_locked_ledger_changes_nothing(ledger: Ledger, path: Path) -> None:
    hasty = Ledger(path, patience=0.01)
    with raw(ledger) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(DeskError, match="nothing was changed"):
            reserve(hasty, "p", 1)
        assert hasty.account("ab").spent == 0, "reading goes on beside a writer"
        connection.execute("ROLLBACK")
    assert reserve(hasty, "p", 1).units == 1


def test_a_full_disk_changes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve(ledger, "p", 1)
    connect = ledger.database.connect

    def full() -> sqlite3.Connection:
        connection = connect()
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    before = ledger.account("ab"), ledger.entries()
    monkeypatch.setattr(ledger.database, "connect", full)
    with pytest.raises(DeskError, match="disk is full; nothing was changed"):
        ledger.store("p", bytes(100_000))
    with pytest.raises(DeskError, match="disk is full; nothing was changed"):
        reserve(ledger, "q", 1, plan_json="x" * 100_000)
    monkeypatch.undo()
    assert (ledger.account("ab"), ledger.entries()) == before
    assert ledger.store("p", b"answer") == b"answer"


def test_any_exception_undoes_the_transaction_and_frees_the_lock(ledger: Ledger) -> None:
    with pytest.raises(KeyboardInterrupt), ledger.database.write() as connection:
        cursor = connection.execute("UPDATE account SET spent = 50 RETURNING spent")
        raise KeyboardInterrupt
    assert cursor is not None
    assert ledger.account("ab").spent == 0
    reserve(ledger, "p", 1)


def test_a_damaged_result_is_never_returned(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    ledger.store("p", b"answer")
    with raw(ledger) as connection:
        connection.execute("DROP TRIGGER plan_is_fixed")
        connection.execute("UPDATE plan SET result = X'00'")
    for call in (lambda: ledger.result("p"), lambda: ledger.store("p", b"answer")):
        with pytest.raises(DeskError, match="damaged"):
            call()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account SET spent = 101",
        "UPDATE account SET spent = -1",
        "UPDATE account SET spent = 39",
        "UPDATE account SET total = 39",
        "UPDATE account SET spent = 40.5",
        "UPDATE account SET sums = '{}'",
        "UPDATE account SET sums = json_object('pure', 39)",
        "UPDATE account SET sums = json_object('pure', null); UPDATE account SET sums = json_object('pure', 100)",
        "UPDATE plan SET units = 0 WHERE id = 'q'",
        "UPDATE plan SET amounts = '{}' WHERE id = 'q'",
        "UPDATE plan SET units = 0 WHERE id = 'p'",
        "UPDATE plan SET plan_json = '[]' WHERE id = 'q'",
        "UPDATE plan SET result = X'00' WHERE id = 'p'",
        "UPDATE plan SET status = 'reserved', result = NULL WHERE id = 'p'",
        "UPDATE plan SET status = 'stored' WHERE id = 'q'",
        "DELETE FROM plan",
        "DELETE FROM account",
        "DELETE FROM override",
        "INSERT INTO plan (id, dataset_id, plan_json, amounts, units, status, reserved_at)"
        " VALUES ('r', 'people', '', '{}', -1, 'reserved', '')",
    ],
)
def test_the_tables_are_a_second_wall(ledger: Ledger, statement: str) -> None:
    reserve(ledger, "p", 30)
    ledger.store("p", b"answer")
    reserve(ledger, "q", 10)
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(99), reason=REASON)
    with raw(ledger) as connection, pytest.raises(sqlite3.IntegrityError):
        for each in statement.split("; "):
            connection.execute(each)
