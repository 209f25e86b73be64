"""What a plan never used comes back once, exactly, and the tables of the file refuse everything else."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.base.errors import BadParameter, OutOfBudget, Refused
from core.ledger.ledger import Ledger
from core.ledger.refunds import lowered
from core.privacy.privacy_filter import PURE
from tests.core.ledger.test_ledger import declared, opened, raw, reserve


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    opened(ledger)
    declared(ledger)
    reserve(ledger, "p", 60)
    ledger.store("p", b"done")
    return ledger


def test_the_account_counts_what_was_used(ledger: Ledger) -> None:
    reserve(ledger, "q", 30)
    entry = ledger.give_back("p", {PURE: 20})
    assert (entry.used, entry.amounts) == ('{"pure":20}', '{"pure":60}')
    assert ledger.account("ab").spent == 50
    reserve(ledger, "r", 50)
    with pytest.raises(OutOfBudget):
        reserve(ledger, "s", 1)


def test_it_comes_back_once(ledger: Ledger) -> None:
    ledger.give_back("p", {PURE: 20})
    assert ledger.give_back("p", {PURE: 0}).used == '{"pure":20}'
    assert ledger.account("ab").spent == 20


@pytest.mark.parametrize("used", [{PURE: 61}, {PURE: None}, {PURE: -1}, {}, {"order 7": 1}, {PURE: 1, "order 7": 1}])
def test_more_than_was_paid_is_refused(ledger: Ledger, used: dict[str, int | None]) -> None:
    with pytest.raises(BadParameter):
        ledger.give_back("p", used)
    assert ledger.account("ab").spent == 60


def test_a_plan_that_may_still_run_gives_nothing_back(ledger: Ledger) -> None:
    reserve(ledger, "q", 30)
    with pytest.raises(Refused, match="ended"):
        ledger.give_back("q", {PURE: 0})


def test_a_way_that_could_not_count_something_still_cannot() -> None:
    paid, used = {"a": 5, "b": None}, {"a": 2, "b": None}
    assert lowered({"a": 9, "b": None}, paid, used) == {"a": 6, "b": None}
    assert lowered({"a": None, "b": None}, paid, used) == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE account SET spent = 0", "never fall"),
        ("UPDATE account SET sums = '{\"pure\":0}'", "never fall"),
        ("UPDATE account SET spent = 0, refunds = refunds + 1", "never fall"),
        ("INSERT INTO refund VALUES ('p', '{\"pure\":61}', 'now')", "no more than the spend"),
        ("INSERT INTO refund VALUES ('p', '{\"pure\":null}', 'now')", "no more than the spend"),
        ("INSERT INTO refund VALUES ('p', '{}', 'now')", "no more than the spend"),
        ("INSERT INTO refund VALUES ('x', '{}', 'now')", "no more than the spend"),
    ],
)
def test_the_tables_refuse_what_no_refund_explains(ledger: Ledger, change: str, words: str) -> None:
    with raw(ledger) as connection, pytest.raises(sqlite3.IntegrityError, match=words):
        connection.execute(change)


def test_a_refund_pays_for_one_fall_and_stays(ledger: Ledger) -> None:
    ledger.give_back("p", {PURE: 20})
    with raw(ledger) as connection:
        for change in (
            "UPDATE account SET spent = 10, refunds = refunds + 1",
            "UPDATE account SET spent = 10",
            "UPDATE refund SET used = '{\"pure\":0}'",
            "DELETE FROM refund",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(change)
