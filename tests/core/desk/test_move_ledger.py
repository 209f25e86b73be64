"""The books of a workspace move to a database whole, or not at all; and at no moment can both places spend."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Unit
from core.base.errors import BadParameter, Refused
from core.desk import move_ledger as move
from core.desk.books import BOUND, LEDGER_FILE, LEDGER_VARIABLE, SESSION_FILE
from core.desk.move_ledger import move_ledger
from core.ledger import moving
from core.ledger.postgres.server import PostgresConnection
from core.privacy.privacy_filter import PURE
from dashboard.__main__ import main
from tests.core.people import DOMAIN, TOTAL, people
from tests.databases import StartedServer, name_of
from tests.reliability.test_session_crash import ages

ROOT = Path(__file__).parents[3]
ADDRESS = "postgresql://desk@db.example/desk"
STATEMENTS = (
    "INSERT INTO account (fingerprint, unit_json, budget_json, ways, total, opened_at) VALUES ('c', '', '', '', 1, '')",
    "UPDATE account SET opened_at = 'later'",
    "UPDATE plan SET note = 'x'",
    "DELETE FROM moved",
    "UPDATE moved SET destination = 'other'",
)
"""Each refused by a ledger that was moved."""


class Killed(BaseException):
    """In place of SIGKILL: nobody handles it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a table, something paid for that was never run, a session with answers and a closed one."""
    people(300).to_csv(tmp_path / "people.csv", index=False)
    desk = opened(tmp_path / "workspace", None)
    table = desk.add_table(tmp_path / "people.csv", DOMAIN, unit=Unit.row(), budget=TOTAL)
    desk.rename(table.id, "our people")
    pay(desk)
    for mechanism, number in (("online-laplace", 6), ("online-laplace", 4)):
        session = desk.ask(table, mechanism=mechanism, budget=Budget("1/4"), questions=number)
        session.answer(ages(1))
        session.answer(ages(2))
    session.close()
    desk.close()
    return tmp_path / "workspace"


def opened(folder: Path, ledger: str | None) -> Desk:
    return Desk(folder, journal=folder.parent / "notes", ledger=ledger)


def pay(desk: Desk) -> None:
    [dataset] = desk.ledger.datasets()
    account = desk.ledger.account(dataset.fingerprint)
    amounts = dict.fromkeys(account.filters.ways, 1) | {PURE: 1}
    desk.ledger.reserve(plan_id="unrun", dataset_id=dataset.id, plan_json="{}", amounts=amounts, account=account)


def books(desk: Desk) -> list[Any]:
    """All that a workspace says of itself."""
    [dataset] = desk.ledger.datasets()
    file = desk._parts.sessions.file
    return [
        desk.ledger.workspace,
        dataset,
        desk.ledger.account(dataset.fingerprint),
        desk.ledger.entries(),
        [desk.ledger.result(entry.plan_id) for entry in desk.ledger.entries()],
        [(row, file.replies(row.id), file.left_at_end(row.id), state(file, row.id)) for row in file.rows()],
        [table.name for table in desk.tables()],
    ]


def state(file: Any, session: str) -> Any:
    with file.snapshot(session) as turn:
        return turn.state()


def refused_by(place: Path) -> int:
    """How many of the forbidden statements a ledger's file refuses."""
    refused = 0
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in STATEMENTS:
            try:
                connection.execute(statement)
            except sqlite3.Error:
                refused += 1
    return refused


@pytest.mark.slow
def test_everything_is_found_again_and_goes_on(
    folder: Path, postgres: StartedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    address, before = postgres.new(), opened(folder, None)
    known = books(before)
    before.close()
    with pytest.raises(Refused, match="--move-ledger"):
        opened(folder, address)
    monkeypatch.setenv(LEDGER_VARIABLE, address)
    monkeypatch.setenv("RELEASE_DESK_HOME", str(folder))
    monkeypatch.setenv("RELEASE_DESK_STATE", str(tmp_path / "notes"))
    for said in ("are in the database now", "in that database already"):
        with pytest.raises(SystemExit) as end:
            main(["--move-ledger"])
        assert end.value.code == 0 and said in capsys.readouterr().out
    desk = opened(folder, None)
    assert books(desk) == known
    [row] = [row for row in desk._parts.sessions.file.rows() if row.status == "open"]
    session = desk.session(row.id)
    assert session.answer(ages(1)) == desk._parts.sessions.file.replies(row.id)[0], (
        "an answer that was given is given again"
    )
    assert session.answer(ages(3)).number == 3
    pay(desk)
    desk.ledger.store("unrun", b"result")
    numbers = [
        number for (number,) in postgres.sql(name_of(address), "SELECT number FROM release_desk.plan ORDER BY number")
    ]
    assert numbers == sorted(set(numbers))
    desk.close()
    with pytest.raises(Refused, match="empty one"):
        move_ledger(other_workspace(tmp_path), address, tmp_path / "notes")


def other_workspace(tmp_path: Path) -> Path:
    Desk(tmp_path / "other", journal=tmp_path / "notes", ledger=tmp_path / "other" / LEDGER_FILE).close()
    return tmp_path / "other"


@pytest.mark.slow
def test_a_ledger_that_was_moved_is_closed_wherever_its_file_goes(
    folder: Path, postgres: StartedServer, tmp_path: Path
) -> None:
    old = opened(folder, None)
    assert refused_by_copy(folder, tmp_path / "before") < len(STATEMENTS)
    with pytest.raises(Refused, match="Another program has this workspace open"):
        move_ledger(folder, postgres.new(), tmp_path / "notes", patience=0.1)
    assert not (folder / BOUND).exists()
    old.close()
    assert move_ledger(folder, postgres.new(), tmp_path / "notes")
    assert refused_by(folder / LEDGER_FILE) == len(STATEMENTS)
    assert refused_by_copy(folder, tmp_path / "after") == len(STATEMENTS)
    with pytest.raises(Refused, match=LEDGER_VARIABLE):
        opened(folder, None)
    with pytest.raises(Refused, match="being moved to another database"):
        move_ledger(folder, postgres.new(), tmp_path / "notes")


def refused_by_copy(folder: Path, place: Path) -> int:
    """Without the log beside it."""
    shutil.copy(folder / LEDGER_FILE, place)
    return refused_by(place)


@pytest.mark.slow
def test_a_move_that_is_cut_off_anywhere_is_taken_up_again(
    folder: Path, postgres: StartedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, before = postgres.new(), opened(folder, None)
    known = books(before)
    before.close()
    steps = [("close_for_good", 1), ("bind", 1), ("INSERT", 1), ("INSERT", 9), ("UPDATE", 1), ("INSERT INTO item", 1)]
    for step, nth in [*steps, ("UPDATE workspace", 1), ("COMMIT", 1)]:
        with monkeypatch.context() as patch:
            cut_off(patch, step, nth)
            with pytest.raises(Killed):
                move_ledger(folder, address, tmp_path / "notes")
        assert not postgres.sql(name_of(address), "SELECT 1 FROM release_desk.account"), (
            "nothing is there before all is"
        )
        assert (refused_by_copy(folder, tmp_path / "copy") == len(STATEMENTS)) == (step != "close_for_good")
        assert (folder / BOUND).exists() == (step not in ("close_for_good", "bind"))
        with pytest.raises(Refused):
            opened(folder, address)
    assert move_ledger(folder, address, tmp_path / "notes")
    desk = opened(folder, address)
    assert books(desk) == known
    desk.close()


def cut_off(patch: pytest.MonkeyPatch, step: str, nth: int) -> None:
    """End the program just before a step is taken for the nth time."""
    reached = 0

    def reach(told: str) -> None:
        nonlocal reached
        reached += step in told
        if reached == nth and step in told:
            raise Killed

    def reached_first(name: str, work: Any) -> Any:
        return lambda *given, **named: (reach(name), work(*given, **named))[1]

    patch.setattr(moving, "close_for_good", reached_first("close_for_good", moving.close_for_good))
    patch.setattr(move, "bind", reached_first("bind", move.bind))
    execute = PostgresConnection.execute
    patch.setattr(
        PostgresConnection, "execute", lambda own, text, *values: (reach(text), execute(own, text, *values))[1]
    )
    patch.setattr(PostgresConnection, "commit", reached_first("COMMIT", PostgresConnection.commit))


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_the_commit_leaves_one_ledger(
    folder: Path, postgres: StartedServer, tmp_path: Path, when: str
) -> None:
    address, before = postgres.new(), opened(folder, None)
    known = books(before)
    before.close()
    program = f"""
import os, signal
from pathlib import Path
from core.desk.move_ledger import move_ledger
from core.ledger import moving
from core.ledger.postgres.server import PostgresConnection
commit, entered = PostgresConnection.commit, []
execute = PostgresConnection.execute
def noted(self, text, *values):
    entered.append("UPDATE workspace" in text)
    return execute(self, text, *values)
def die(self):
    if any(entered):
        {"commit(self)" if when == "after" else ""}
        os.kill(os.getpid(), signal.SIGKILL)
    commit(self)
PostgresConnection.execute, PostgresConnection.commit = noted, die
move_ledger(Path({str(folder)!r}), {address!r}, Path({str(tmp_path / "notes")!r}))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=os.environ.copy(), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert refused_by(folder / LEDGER_FILE) == len(STATEMENTS)
    assert move_ledger(folder, address, tmp_path / "notes") == (when == "before")
    desk = opened(folder, address)
    assert books(desk) == known
    desk.close()


@pytest.mark.slow
def test_a_workspace_that_was_put_back_is_not_moved_before_what_it_lost_is_entered(
    folder: Path, postgres: StartedServer, tmp_path: Path
) -> None:
    (tmp_path / "older").mkdir()
    for name in (LEDGER_FILE, SESSION_FILE):
        shutil.copy(folder / name, tmp_path / "older")
    desk = opened(folder, None)
    desk.ask(desk.tables()[0], mechanism="online-laplace", budget=Budget("1/8"), questions=3)
    desk.close()
    for name in (LEDGER_FILE, SESSION_FILE):
        shutil.copy(tmp_path / "older" / name, folder)
    with pytest.raises(Refused, match="older copy"):
        move_ledger(folder, postgres.new(), tmp_path / "notes")
    assert not (folder / BOUND).exists() and refused_by(folder / LEDGER_FILE) < len(STATEMENTS)


def test_what_cannot_be_moved_is_said(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadParameter, match="postgresql://"):
        move_ledger(tmp_path, "", tmp_path)
    with pytest.raises(Refused, match="nothing to move"):
        move_ledger(tmp_path, ADDRESS, tmp_path)
    monkeypatch.setenv("RELEASE_DESK_HOME", str(tmp_path))
    monkeypatch.delenv(LEDGER_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as end:
        main(["--move-ledger"])
    assert end.value.code == 1 and LEDGER_VARIABLE in capsys.readouterr().err
