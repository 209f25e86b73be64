"""A workspace stays with the ledger that it began with, unless that is moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Desk
from core.base.errors import BadParameter, Refused
from core.desk.books import BOUND, LEDGER_FILE, LEDGER_VARIABLE, Books
from tests.databases import NOBODY_KNOWS, StartedServer

ADDRESS = f"postgresql://desk:{NOBODY_KNOWS}@db.example/desk"


def test_files_of_the_folder_are_the_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Books.of(tmp_path) == Books(tmp_path, tmp_path / LEDGER_FILE)
    monkeypatch.setenv(LEDGER_VARIABLE, ADDRESS)
    found = Books.of(tmp_path)
    assert found.ledger == found.sessions == ADDRESS
    assert NOBODY_KNOWS not in repr(found)
    assert Books.of(tmp_path, tmp_path / LEDGER_FILE).ledger == tmp_path / LEDGER_FILE, "what is given counts first"


def test_a_folder_with_a_ledger_takes_no_database(tmp_path: Path) -> None:
    Desk(tmp_path).close()
    with pytest.raises(Refused, match="second budget") as problem:
        Desk(tmp_path, ledger=ADDRESS)
    assert NOBODY_KNOWS not in str(problem.value)


def test_a_folder_that_belongs_to_a_database_is_not_opened_without_it(tmp_path: Path) -> None:
    (tmp_path / BOUND).write_text("ab")
    with pytest.raises(Refused, match=LEDGER_VARIABLE):
        Desk(tmp_path)
    assert not (tmp_path / LEDGER_FILE).exists()


@pytest.mark.parametrize("address", ["mysql://desk@db/desk", "ledger.sqlite", "/elsewhere/ledger.sqlite"])
def test_other_places_are_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadParameter, match="postgresql://"):
        Books.of(tmp_path, address)


@pytest.mark.slow
def test_a_folder_goes_with_one_database(tmp_path: Path, postgres: StartedServer) -> None:
    first, second = postgres.new(), postgres.new()
    for _ in range(2):
        Desk(tmp_path / "one", ledger=first).close()
    with pytest.raises(Refused, match="another database"):
        Desk(tmp_path / "one", ledger=second)
