"""A ledger that is closed for a database takes nothing more, and whatever it holds can be entered elsewhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.base.errors import DeskError, Refused
from core.ledger.durable_file import KeptFile
from core.ledger.layout import LAYOUT
from core.ledger.ledger import Ledger
from core.ledger.moving import check_empty, close_for_good, copy_ledger, destination_of, take_name, workspace_of
from tests.core.ledger.test_ledger import OTHER_BUDGET, REASON, declared, one_way, opened, reserve


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    opened(ledger)
    declared(ledger)
    reserve(ledger, "p", 30)
    ledger.store("p", b"answer")
    reserve(ledger, "q", 10)
    return ledger


def file_of(ledger: Ledger, patience: float = 0.05) -> KeptFile:
    assert isinstance(ledger.database, KeptFile)
    return KeptFile(ledger.database.path, LAYOUT, patience=patience)


def test_a_closed_ledger_spends_nothing(ledger: Ledger) -> None:
    file = file_of(ledger)
    assert destination_of(file) is None
    close_for_good([file], "there")
    assert destination_of(file) == "there"
    before = ledger.account("ab"), ledger.entries()
    for attempt in (
        lambda: reserve(ledger, "r", 1),
        lambda: ledger.store("q", b"late"),
        lambda: ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(99), reason=REASON),
    ):
        with pytest.raises(DeskError, match="could not be used"):
            attempt()
    assert (ledger.account("ab"), ledger.entries()) == before
    assert ledger.result("p") == b"answer"
    assert not file.path.with_name("ledger.sqlite-wal").exists(), "its guards are in the file itself"


def test_a_ledger_that_somebody_uses_is_not_closed(ledger: Ledger, tmp_path: Path) -> None:
    other = file_of(Ledger(tmp_path / "other.sqlite"))
    with closing(sqlite3.connect(file_of(ledger).path)) as reader:
        reader.execute("SELECT * FROM plan").fetchall()
        with pytest.raises(Refused, match="Another program"):
            close_for_good([other, file_of(ledger)], "there")
    assert destination_of(file_of(ledger)) is None and destination_of(other) is None
    reserve(ledger, "r", 1)


def test_every_row_is_entered_again(ledger: Ledger, tmp_path: Path) -> None:
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(99), reason=REASON)
    copy = Ledger(tmp_path / "copy.sqlite")
    with copy.database.write() as connection:
        check_empty_ledger(copy)
        copy_ledger(file_of(ledger), connection)
        take_name(connection, copy.workspace, ledger.workspace)
    assert (copy.account("ab"), copy.entries(), copy.datasets()) == (
        ledger.account("ab"),
        ledger.entries(),
        ledger.datasets(),
    )
    assert (copy.result("p"), copy.overrides("ab")) == (ledger.result("p"), ledger.overrides("ab"))
    assert workspace_of(copy.database) == ledger.workspace
    with pytest.raises(Refused, match="another ledger"):
        check_empty_ledger(copy)


def check_empty_ledger(ledger: Ledger) -> None:
    with ledger.database.read() as connection:
        for table in ("session", "item"):
            connection.execute(f"CREATE TEMP TABLE {table} (a)")
        check_empty(connection)
