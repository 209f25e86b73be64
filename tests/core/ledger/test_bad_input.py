from __future__ import annotations

import math
import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, DeskError, OutOfBudget
from core.ledger.ledger import Ledger
from tests.core.ledger.test_ledger import BUDGET, REASON, UNIT, declared, ledger, one_way, opened, path, reserve

__all__ = ["ledger", "path"]


TOO_LARGE = [2**62 + 1, 2**63, 2**64, 10**400]
NOT_AMOUNTS = [
    -1, 1.0, 0.5, math.nan, math.inf, -math.inf, True, False, "1", b"1",
    Decimal(1), Fraction(1), np.int64(1), np.float64(1), 1j, [1],
]  # fmt: skip


@pytest.mark.parametrize("amount", TOO_LARGE)
def test_an_account_has_at_most_so_many_parts(ledger: Ledger, amount: int) -> None:
    before = ledger.account("ab")
    with pytest.raises(BadParameter, match="total"):
        opened(ledger, total=amount)
    with pytest.raises(OutOfBudget):
        reserve(ledger, "p", amount)
    assert ledger.account("ab") == before


@pytest.mark.parametrize("amount", NOT_AMOUNTS, ids=lambda amount: f"{type(amount).__name__}-{str(amount)[:12]}")
def test_only_whole_units_are_taken(ledger: Ledger, amount: object) -> None:
    before = ledger.account("ab")
    with pytest.raises(BadParameter, match="amounts"):
        reserve(ledger, "p", amount)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="total"):
        opened(ledger, total=amount)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="total"):
        ledger.change_budget("ab", budget_json=BUDGET, filters=one_way(amount), reason=REASON)  # type: ignore[arg-type]
    assert ledger.account("ab") == before
    assert ledger.entries() == []


def test_the_largest_amounts_add_up_exactly(ledger: Ledger) -> None:
    opened(ledger, total=2**62, fingerprint="cd")
    declared(ledger, "large", "cd")
    reserve(ledger, "p", 2**62 - 1, "large")
    for units in (2, 2**61, 2**62):
        with pytest.raises(OutOfBudget):
            reserve(ledger, "q", units, "large")
    assert ledger.account("cd").left == 1
    reserve(ledger, "q", 1, "large")
    assert ledger.account("cd").spent == 2**62


@pytest.mark.parametrize("fingerprint", ["", "AB", "xyz", "ab\n", "a" * 129, None, b"ab", "'; DROP TABLE plan; --"])
def test_a_fingerprint_has_one_spelling(ledger: Ledger, fingerprint: str) -> None:
    with pytest.raises(BadParameter, match="fingerprint"):
        opened(ledger, fingerprint=fingerprint)


@pytest.mark.parametrize("text", ["", "a\0b", None, 7, b"bytes", "x" * 10_000_001], ids=lambda text: str(text)[:8])
def test_texts_are_checked(ledger: Ledger, text: str) -> None:
    with pytest.raises(BadParameter, match="plan id"):
        reserve(ledger, text, 1)
    with pytest.raises(BadParameter, match="plan"):
        reserve(ledger, "p", 1, plan_json=text)
    with pytest.raises(BadParameter, match="id"):
        declared(ledger, text)
    assert ledger.account("ab").spent == 0


@pytest.mark.parametrize("part", ["unit", "budget"])
def test_an_account_names_the_text_that_is_wrong(ledger: Ledger, part: str) -> None:
    texts = {"unit_json": UNIT, "budget_json": BUDGET, f"{part}_json": ""}
    with pytest.raises(BadParameter, match=f"^{part}"):
        ledger.open_account(fingerprint="ef", filters=one_way(100), **texts)
    with pytest.raises(DeskError):
        ledger.account("ef")


def test_text_that_is_not_unicode_is_one_sentence_and_leaves_no_lock(ledger: Ledger) -> None:
    for call in (lambda: reserve(ledger, "\ud800", 1), lambda: ledger.result("\ud800")):
        with pytest.raises(DeskError, match="Unicode"):
            call()
    reserve(ledger, "p", 1)


def test_hostile_texts_are_only_texts(ledger: Ledger) -> None:
    name = "'; DELETE FROM plan; -- \" ü 💾 \n"
    reserve(ledger, "p", 1)
    reserve(ledger, name, 2)
    entry = ledger.entry(name)
    assert entry is not None
    assert entry.plan_id == name
    assert ledger.account("ab").spent == 3


@pytest.mark.parametrize("result", [None, "text", bytearray(b"x"), memoryview(b"x"), 0])
def test_a_result_is_bytes(ledger: Ledger, result: bytes) -> None:
    reserve(ledger, "p", 1)
    with pytest.raises(BadParameter, match="result"):
        ledger.store("p", result)
    assert ledger.result("p") is None


def test_a_result_may_be_empty(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    assert ledger.store("p", b"") == b""
    assert ledger.store("p", b"late") == b""
    assert ledger.result("p") == b""


def test_a_result_too_large_for_a_row_is_refused(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    with pytest.raises(BadParameter, match="950,000,000"):
        ledger.store("p", bytes(950_000_001))  # zero pages that are never touched
    assert ledger.result("p") is None


def test_a_result_as_large_as_it_may_be_is_kept(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ledger.ledger.LARGEST_RESULT", 3)
    reserve(ledger, "p", 1)
    assert ledger.store("p", b"abc") == b"abc"


def test_the_largest_row_fits_sqlite(ledger: Ledger) -> None:
    with ledger.database.read() as connection:
        row = connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
    assert row > 4 * 10_000_000 + 950_000_000


def test_times_are_utc(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    ledger.store("p", b"answer")
    entry = ledger.entries()[0]
    for text in (ledger.account("ab").opened_at, ledger.datasets()[0].created_at, entry.reserved_at, entry.stored_at):
        assert datetime.fromisoformat(str(text)).utcoffset() == timedelta(0)


@pytest.mark.parametrize(("part", "text"), [("reason", ""), ("reason", None), ("who", ""), ("who", "a\0b")])
def test_accounts_are_kept_apart_by_somebody_for_a_reason(ledger: Ledger, part: str, text: str) -> None:
    texts = {"unit_json": UNIT, "budget_json": BUDGET, "reason": REASON, "who": "Ada"}
    with pytest.raises(BadParameter, match=f"^{part}"):
        ledger.open_account(fingerprint="ef", filters=one_way(100), apart_from=["ab"], **texts | {part: text})
    assert not ledger.has_account("ef")
    ledger.open_account(fingerprint="ef", filters=one_way(100), apart_from=["ab"], **texts)
    assert [(each.other, each.who, each.reason) for each in ledger.separations("ef")] == [("ab", "Ada", REASON)]


def test_a_changed_budget_is_a_text(ledger: Ledger) -> None:
    with pytest.raises(BadParameter, match=r"^budget"):
        ledger.change_budget("ab", budget_json="", filters=one_way(200), reason=REASON)
    assert ledger.account("ab").total == 100


def test_an_account_may_hold_nothing(ledger: Ledger) -> None:
    assert opened(ledger, total=0, fingerprint="ef").left == 0
    declared(ledger, "empty", "ef")
    with pytest.raises(OutOfBudget):
        reserve(ledger, "p", 1, "empty")
