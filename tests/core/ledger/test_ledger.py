from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from core.base.errors import BadParameter, OutOfBudget, Refused, Unknown
from core.ledger.attempts import HeldLock
from core.ledger.database import Connection
from core.ledger.ledger import Account, Entry, Ledger
from core.privacy.budget import Budget, HalvedBudget
from core.privacy.events import Cost, Pure
from core.privacy.privacy_filter import PURE, Filters, Way

UNIT, OTHER_UNIT = '{"column": null}', '{"column": "person"}'
BUDGET, OTHER_BUDGET = '{"epsilon": "1"}', '{"epsilon": "2"}'
SEVEN = "order 7"
REASON = "The ethics board approved a second wave."


def one_way(total: int, name: str = PURE) -> Filters:
    return Filters({name: Way(Fraction(0), total)})


def opened(ledger: Ledger, total: int = 100, fingerprint: str = "ab", way: str = PURE) -> Account:
    filters = one_way(total, way)
    return ledger.open_account(fingerprint=fingerprint, unit_json=UNIT, budget_json=BUDGET, filters=filters)


def declared(ledger: Ledger, id: str = "people", fingerprint: str = "ab") -> None:
    ledger.add_dataset(id=id, fingerprint=fingerprint, name="People", schema_json=f'["{id}"]', details_json="{}")


def reserve(ledger: Ledger, plan_id: str, units: int, dataset_id: str = "people", plan_json: str = "{}") -> Entry:
    account = ledger.account(ledger.dataset(dataset_id).fingerprint)
    amounts = {PURE: units}
    return ledger.reserve(plan_id=plan_id, dataset_id=dataset_id, plan_json=plan_json, amounts=amounts, account=account)


def raw(ledger: Ledger) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(ledger.database.path, isolation_level=None))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    ledger = Ledger(path)
    opened(ledger)
    declared(ledger)
    return ledger


# the life of a plan


def test_a_plan_is_paid_stored_and_returned(ledger: Ledger) -> None:
    entry = reserve(ledger, "p", 40)
    assert (entry.plan_id, entry.dataset_id, entry.units, entry.status) == ("p", "people", 40, "reserved")
    assert ledger.account("ab").spent == 40
    assert ledger.account("ab").left == 60
    assert ledger.result("p") is None
    assert [waiting.plan_id for waiting in ledger.pending()] == ["p"]
    assert ledger.store("p", b"answer") == b"answer"
    assert ledger.result("p") == b"answer"
    assert ledger.pending() == []
    stored = ledger.entry("p")
    assert stored is not None
    assert stored.status == "stored"
    assert stored.stored_at is not None
    assert stored.reserved_at <= stored.stored_at


def test_a_result_of_an_attempt_that_was_taken_over_is_not_kept(ledger: Ledger) -> None:
    class TakenOver:
        def check(self, connection: Connection) -> None:
            assert connection.execute("SELECT status FROM plan").fetchone()["status"] == "reserved"
            raise Refused("taken over")

    reserve(ledger, "p", 1)
    with pytest.raises(Refused, match="taken over"):
        ledger.store("p", b"mine", TakenOver())
    assert ledger.result("p") is None
    assert ledger.store("p", b"theirs", HeldLock()) == b"theirs"


def test_an_older_account_that_nothing_was_spent_from_counts_as_a_new_one(ledger: Ledger, path: Path) -> None:
    budget = Budget(epsilon=1, delta=1e-9)
    for name in ("cd", "ef"):
        filters, text = one_way(50, SEVEN), json.dumps(budget.to_json())
        account = ledger.open_account(fingerprint=name, unit_json=UNIT, budget_json=text, filters=filters)
        declared(ledger, name, name)
    ledger.reserve(plan_id="p", dataset_id="ef", plan_json="{}", amounts={SEVEN: 1}, account=account)
    again = Ledger(path)
    assert again.account("cd").filters == Filters.of(budget)
    assert again.account("ef").filters == one_way(50, SEVEN), "what was spent is known in this way alone"
    assert again.account("ab").filters == one_way(100)


def test_an_unused_account_of_the_second_version_shares_delta_as_a_new_one_does(ledger: Ledger, path: Path) -> None:
    budget, older = Budget(epsilon=1, delta=1e-9), Filters.of(HalvedBudget(epsilon=1, delta=1e-9))
    for name in ("cd", "ef"):
        text = json.dumps(budget.to_json())
        account = ledger.open_account(fingerprint=name, unit_json=UNIT, budget_json=text, filters=older)
        declared(ledger, name, name)
    amounts = older.amounts(Cost((Pure(Fraction(1, 10)),)))
    ledger.reserve(plan_id="p", dataset_id="ef", plan_json="{}", amounts=amounts, account=account)
    again = Ledger(path)
    assert again.account("cd").filters == Filters.of(budget)
    assert again.account("ef").filters == older


def test_reserving_again_pays_nothing(ledger: Ledger) -> None:
    first = reserve(ledger, "p", 60)
    assert reserve(ledger, "p", 60) == first
    ledger.store("p", b"answer")
    assert reserve(ledger, "p", 60).status == "stored"
    assert ledger.account("ab").spent == 60
    assert len(ledger.entries()) == 1


def test_a_plan_already_paid_is_found_even_when_the_budget_is_used_up(ledger: Ledger) -> None:
    reserve(ledger, "p", 100)
    assert reserve(ledger, "p", 100).plan_id == "p"
    with pytest.raises(OutOfBudget):
        reserve(ledger, "q", 1)


@pytest.mark.parametrize("change", [{"units": 61}, {"plan_json": "[]"}, {"dataset_id": "again"}])
def test_one_id_names_one_plan(ledger: Ledger, change: dict) -> None:
    declared(ledger, "again")
    reserve(ledger, "p", 60)
    with pytest.raises(BadParameter, match="plan id"):
        reserve(ledger, **{"plan_id": "p", "units": 60, **change})
    assert ledger.account("ab").spent == 60


def test_the_first_stored_result_wins(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    assert ledger.store("p", b"first") == b"first"
    assert ledger.store("p", b"second") == b"first"
    assert ledger.result("p") == b"first"


def test_out_of_budget_writes_nothing(ledger: Ledger) -> None:
    reserve(ledger, "p", 60)
    before = ledger.account("ab"), ledger.entries()
    with pytest.raises(OutOfBudget, match=r"41.00% of the budget and 40.00% is left"):
        reserve(ledger, "q", 41)
    assert (ledger.account("ab"), ledger.entries()) == before
    assert ledger.entry("q") is None
    reserve(ledger, "q", 40)
    assert ledger.account("ab").left == 0
    reserve(ledger, "free", 0)


def test_a_failure_keeps_the_spend_and_the_plan_can_run_again(ledger: Ledger) -> None:
    reserve(ledger, "p", 60)
    ledger.failed("p", "The run was stopped.")
    ledger.failed("p", "The disk was full.")
    entry = reserve(ledger, "p", 60)
    assert (entry.attempts, entry.note, entry.status) == (2, "The disk was full.", "reserved")
    assert ledger.account("ab").spent == 60
    assert ledger.store("p", b"answer") == b"answer"


def test_a_late_failure_does_not_touch_a_stored_result(ledger: Ledger) -> None:
    reserve(ledger, "p", 1)
    ledger.store("p", b"answer")
    before = ledger.entry("p")
    ledger.failed("p", "A second run was stopped.")
    assert ledger.entry("p") == before
    assert ledger.result("p") == b"answer"


def test_nothing_is_stored_that_was_not_paid(ledger: Ledger) -> None:
    with pytest.raises(Unknown):
        ledger.store("p", b"free")
    with pytest.raises(Unknown):
        ledger.failed("p", "No such plan.")
    assert ledger.result("p") is None
    assert ledger.entries() == []


def test_entries_are_newest_first_and_filtered(ledger: Ledger) -> None:
    opened(ledger, fingerprint="cd")
    declared(ledger, "again")
    declared(ledger, "other", "cd")
    for number, dataset in enumerate(["people", "other", "again", "people"]):
        reserve(ledger, f"p{number}", number, dataset)
    assert [entry.plan_id for entry in ledger.entries()] == ["p3", "p2", "p1", "p0"]
    assert [entry.plan_id for entry in ledger.entries(fingerprint="ab")] == ["p3", "p2", "p0"]
    assert [entry.plan_id for entry in ledger.entries(dataset_id="people")] == ["p3", "p0"]
    assert [entry.plan_id for entry in ledger.pending()] == ["p0", "p1", "p2", "p3"]


def test_everything_is_there_after_reopening(ledger: Ledger, path: Path) -> None:
    reserve(ledger, "p", 7)
    ledger.store("p", b"\0\xff")
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(200), reason=REASON)
    again = Ledger(path)
    assert again.account("ab") == ledger.account("ab")
    assert again.entries() == ledger.entries()
    assert again.datasets() == ledger.datasets()
    assert again.overrides("ab") == ledger.overrides("ab")
    assert again.result("p") == b"\0\xff"


# accounts and datasets


def test_opening_again_is_the_same_account(ledger: Ledger) -> None:
    before = ledger.account("ab")
    assert opened(ledger) == before
    reserve(ledger, "p", 60)
    assert opened(ledger, total=10**6, way=SEVEN) == ledger.account("ab")
    assert ledger.account("ab") == dataclasses.replace(before, spent=60, sums='{"pure":60}')


def test_unit_and_budget_are_free_until_the_first_plan(ledger: Ledger) -> None:
    account = ledger.open_account(
        fingerprint="ab", unit_json=OTHER_UNIT, budget_json=OTHER_BUDGET, filters=one_way(5, SEVEN)
    )
    assert (account.unit_json, account.budget_json, account.total) == (OTHER_UNIT, OTHER_BUDGET, 5)
    assert account.filters == one_way(5, SEVEN)
    assert account == ledger.account("ab")


@pytest.mark.parametrize("units", [0, 1])
@pytest.mark.parametrize(
    ("parameter", "unit", "budget"), [("unit", OTHER_UNIT, BUDGET), ("budget", UNIT, OTHER_BUDGET)]
)
def test_unit_and_budget_are_frozen_by_the_first_plan(
    ledger: Ledger, units: int, parameter: str, unit: str, budget: str
) -> None:
    reserve(ledger, "p", units)
    before = ledger.account("ab")
    with pytest.raises(BadParameter, match=parameter):
        ledger.open_account(fingerprint="ab", unit_json=unit, budget_json=budget, filters=one_way(500))
    assert ledger.account("ab") == before


@pytest.mark.parametrize(("unit", "way"), [(OTHER_UNIT, PURE), (UNIT, SEVEN)])
def test_a_plan_priced_for_another_unit_or_way_is_refused(ledger: Ledger, unit: str, way: str) -> None:
    stale = ledger.account("ab")
    ledger.open_account(fingerprint="ab", unit_json=unit, budget_json=OTHER_BUDGET, filters=one_way(100, way))
    with pytest.raises(Refused, match="priced"):
        ledger.reserve(plan_id="p", dataset_id="people", plan_json="{}", amounts={PURE: 1}, account=stale)
    assert ledger.account("ab").spent == 0
    assert ledger.entries() == []


def test_a_plan_priced_for_another_account_is_refused(ledger: Ledger) -> None:
    other = opened(ledger, fingerprint="cd")
    with pytest.raises(BadParameter, match="account"):
        ledger.reserve(plan_id="p", dataset_id="people", plan_json="{}", amounts={PURE: 1}, account=other)
    assert ledger.account("cd").spent == ledger.account("ab").spent == 0


def test_declaring_another_schema_does_not_renew_a_budget(ledger: Ledger) -> None:
    declared(ledger, "again")
    reserve(ledger, "p", 60, "people")
    reserve(ledger, "q", 30, "again")
    assert ledger.account("ab").spent == 90
    with pytest.raises(OutOfBudget):
        reserve(ledger, "r", 11, "again")


def test_accounts_do_not_touch_each_other(ledger: Ledger) -> None:
    opened(ledger, fingerprint="cd", total=7)
    declared(ledger, "other", "cd")
    reserve(ledger, "p", 100)
    reserve(ledger, "q", 7, "other")
    assert ledger.account("ab").spent == 100
    assert ledger.account("cd").spent == 7


def test_adding_a_dataset_again_changes_nothing(ledger: Ledger) -> None:
    before = ledger.dataset("people")
    assert (
        ledger.add_dataset(id="people", fingerprint="ab", name="Renamed", schema_json='["people"]', details_json="[]")
        == before
    )
    assert ledger.datasets() == [before]


def test_a_dataset_id_names_one_schema_of_one_table(ledger: Ledger) -> None:
    opened(ledger, fingerprint="cd")
    for fingerprint, schema in (("cd", '["people"]'), ("ab", "[]")):
        with pytest.raises(BadParameter, match="id"):
            ledger.add_dataset(
                id="people", fingerprint=fingerprint, name="People", schema_json=schema, details_json="{}"
            )


def test_what_is_not_there_is_unknown(ledger: Ledger) -> None:
    assert ledger.entry("p") is None
    for call in (
        lambda: ledger.account("ef"),
        lambda: ledger.dataset("nobody"),
        lambda: declared(ledger, "x", "ef"),
        lambda: ledger.change_budget("ef", budget_json=BUDGET, filters=one_way(1), reason=REASON),
        lambda: ledger.reserve(
            plan_id="p", dataset_id="nobody", plan_json="{}", amounts={PURE: 1}, account=ledger.account("ab")
        ),
    ):
        with pytest.raises(Unknown):
            call()


# changing a total on purpose


def test_a_raised_total_is_on_record(ledger: Ledger) -> None:
    reserve(ledger, "p", 100)
    account = ledger.change_budget(
        "ab", budget_json=OTHER_BUDGET, filters=one_way(150), reason=f" {REASON} ", who="Ada"
    )
    assert (account.total, account.spent, account.budget_json) == (150, 100, OTHER_BUDGET)
    ledger.change_budget("ab", budget_json=BUDGET, filters=one_way(100), reason="Taken back.")
    newest, oldest = ledger.overrides("ab")
    assert (oldest.who, oldest.from_total, oldest.to_total, oldest.reason) == ("Ada", 100, 150, REASON)
    assert (oldest.from_budget, oldest.to_budget) == (BUDGET, OTHER_BUDGET)
    assert (newest.who, newest.from_total, newest.to_total) == ("curator", 150, 100)
    assert oldest.at <= newest.at
    with pytest.raises(OutOfBudget):
        reserve(ledger, "q", 1)


def test_a_raised_total_can_be_spent_and_nothing_more(ledger: Ledger) -> None:
    reserve(ledger, "p", 100)
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(130), reason=REASON)
    with pytest.raises(OutOfBudget):
        reserve(ledger, "q", 31)
    assert reserve(ledger, "q", 30).units == 30


def test_a_plan_priced_before_a_raise_still_counts_the_same(ledger: Ledger) -> None:
    reserve(ledger, "p", 100)
    priced = ledger.account("ab")
    ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(130), reason=REASON)
    ledger.reserve(plan_id="q", dataset_id="people", plan_json="{}", amounts={PURE: 30}, account=priced)
    assert ledger.account("ab").left == 0


@pytest.mark.parametrize(
    "bad",
    [
        *({"reason": ""}, {"reason": " \n "}, {"reason": None}, {"who": ""}),
        *({"filters": one_way(59)}, {"filters": one_way(200, SEVEN)}, {"filters": one_way(1e9)}),  # type: ignore[arg-type]
    ],
)
def test_a_total_is_not_changed_carelessly(ledger: Ledger, bad: dict) -> None:
    reserve(ledger, "p", 60)
    before = ledger.account("ab")
    with pytest.raises(BadParameter):
        ledger.change_budget("ab", **{"budget_json": OTHER_BUDGET, "filters": one_way(200), "reason": REASON, **bad})
    assert ledger.account("ab") == before
    assert ledger.overrides("ab") == []


def test_a_total_can_be_lowered_to_what_is_spent(ledger: Ledger) -> None:
    reserve(ledger, "p", 60)
    assert ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(60), reason=REASON).left == 0


def test_pressing_raise_twice_is_one_override(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(200), reason=REASON)
    assert len(ledger.overrides("ab")) == 1


def test_the_ways_are_free_until_the_first_plan(ledger: Ledger) -> None:
    assert ledger.change_budget("ab", budget_json=OTHER_BUDGET, filters=one_way(200, SEVEN), reason=REASON).total == 200
