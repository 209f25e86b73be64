"""Bought suggestions are on the books: paid once, kept, refused without spending, and finished after a stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from core.base.errors import BadParameter, BadSchema, Failed, OutOfBudget
from core.desk.desk import Desk
from core.desk.tables import surveys
from core.desk.tables.surveys import Found, price
from core.mechanisms.discovery.discovery import Discovery, Suggestion
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain

TOTAL, PART, ROW = Budget(2, "1e-9"), Budget(1, "1e-9"), Unit.row()
COLUMNS: dict[str, surveys.SurveyKind] = {"age": "number", "region": "text"}
PEOPLE = pd.DataFrame({"age": [30, 45, 60] * 3_000, "region": ["north", "north", "south"] * 3_000})
DOMAIN = Domain.from_list([{"name": "age", "kind": "integers", "low": 0, "high": 100}])


@pytest.fixture
def desk(tmp_path: Path):
    opened = Desk(tmp_path / "desk")
    yield opened
    opened.close()


def bought(
    desk: Desk, part: Budget = PART, total: Budget = TOTAL, unit: Unit = ROW, **columns: surveys.SurveyKind
) -> Found:
    return desk.discover(PEOPLE, columns or COLUMNS, unit=unit, total=total, part=part)


def interrupted(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> None:
    """As if the server was killed after paying and before storing."""
    with monkeypatch.context() as patch:
        patch.setattr(Discovery, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            call()


def test_categories_that_are_all_words_for_the_others_are_bought_like_any(desk: Desk) -> None:
    words = ["other", "something else", "none of these", "not listed", "…"]
    frame = pd.DataFrame({"answer": words * 3_000})
    found = desk.discover(frame, {"answer": "text"}, unit=ROW, total=TOTAL, part=PART)
    [line] = found.lines({"answer": "categories"})
    assert sorted(line["values"]) == sorted(words)
    assert Domain.from_list([line])["answer"].size == 6


def test_pays_once_and_the_same_columns_again_is_free_and_equal(desk: Desk) -> None:
    first = bought(desk)
    assert first.suggestions["region"].values == ("north", "south")
    assert first.suggestions["age"].low == 20.0
    [entry] = desk.ledger.entries()
    assert entry.status == "stored"
    assert first.share == pytest.approx(price(COLUMNS, unit=ROW, total=TOTAL, part=PART).share)
    assert bought(desk, region="text", age="number") == first
    assert desk.ledger.entries() == [entry]
    bought(desk, age="number")
    assert len(desk.ledger.entries()) == 2


def test_another_process_finds_what_was_bought(desk: Desk) -> None:
    first = bought(desk)
    second = Desk(desk.folder)
    assert bought(second) == first
    assert len(second.ledger.entries()) == 1
    second.close()


def test_two_tabs_pay_once(desk: Desk) -> None:
    found: list[Found] = []
    threads = [Thread(target=lambda: found.append(bought(desk, age="number"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4
    assert len(desk.ledger.entries()) == 1


def test_refused_without_spending_when_the_budget_is_short(desk: Desk) -> None:
    with pytest.raises(OutOfBudget, match="nothing was spent"):
        bought(desk, part=Budget(3, "1e-9"))
    assert desk.ledger.entries() == []
    # Nothing was spent, so unit and budget are still free to choose.
    table = desk.add_table(PEOPLE, DOMAIN, unit=Unit.row("replace"), budget=Budget(1))
    assert desk.statement(table).spent_share == 0


@pytest.mark.parametrize("total", [TOTAL, Budget(2)])
def test_the_table_spends_from_the_same_account(desk: Desk, total: Budget) -> None:
    share = bought(desk, part=Budget(1, total.delta), total=total).share
    assert desk.tables() == []
    table = desk.add_table(PEOPLE, DOMAIN, unit=ROW, budget=total)
    assert [held.id for held in desk.tables()] == [table.id]
    statement = desk.statement(table)
    assert statement.spent_share == pytest.approx(share)
    assert 0 < share < 1
    assert len(statement.entries) == 1


@pytest.mark.parametrize("change", [{"unit": Unit.row("replace")}, {"budget": Budget(9, "1e-9")}])
def test_unit_and_budget_are_fixed_once_something_was_bought(desk: Desk, change: dict[str, object]) -> None:
    bought(desk, age="number")
    with pytest.raises(BadParameter, match="is fixed since the first release"):
        desk.add_table(PEOPLE, DOMAIN, **{"unit": ROW, "budget": TOTAL, **change})


def test_interrupted_discovery_is_finished_without_paying(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, lambda: bought(desk))
    [entry] = desk.ledger.pending()
    again = Desk(desk.folder)
    assert again.resume() == []
    assert again.tables() == []
    assert bought(again).suggestions["region"].values == ("north", "south")
    [stored] = again.ledger.entries()
    assert (stored.plan_id, stored.units, stored.status) == (entry.plan_id, entry.units, "stored")
    assert again.result(entry.plan_id) is None
    again.close()


def test_a_release_can_be_made_beside_an_interrupted_discovery(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, lambda: bought(desk))
    table = desk.add_table(PEOPLE, DOMAIN, unit=ROW, budget=TOTAL)
    assert desk.statement(table).spent_share > 0
    assert desk.progress(desk.ledger.pending()[0].plan_id).state == "stopped"


def test_what_cannot_be_bought_costs_nothing(desk: Desk) -> None:
    with pytest.raises(BadSchema, match="'salary'"):
        bought(desk, salary="number")
    with pytest.raises(BadParameter, match="total budget has none"):
        bought(desk, total=Budget(2))
    with pytest.raises(BadParameter, match="columns"):
        desk.discover(PEOPLE, {}, unit=ROW, total=TOTAL, part=PART)
    assert desk.ledger.entries() == []


def test_the_price_says_what_can_be_found() -> None:
    small = price(COLUMNS, unit=ROW, total=TOTAL, part=Budget("0.1", "1e-9"))
    large = price(COLUMNS, unit=ROW, total=TOTAL, part=PART)
    shared = price(COLUMNS, unit=Unit.id("who", 3), total=TOTAL, part=PART)
    assert small.share < large.share == shared.share < 1
    assert small.rows["region"] > large.rows["region"] > large.rows["age"]
    assert shared.rows["age"] == pytest.approx(3 * large.rows["age"], rel=0.1)
    assert price(COLUMNS, unit=ROW, total=TOTAL, part=TOTAL).share == pytest.approx(1, rel=1e-3)


def test_findings_become_columns_of_a_schema() -> None:
    found = Found(
        suggestions={
            "age": Suggestion(low=10.0, high=100.0, missing=True),
            "income": Suggestion(low=0.5, high=200_000.0),
            "size": Suggestion(low=-0.001, high=2.0),
            "visit": Suggestion(low="2019-01-01", high="2024-12-31"),
            "region": Suggestion(values=("north", "other")),
            "rare": Suggestion(),
        },
        share=0.1,
    )
    kinds = {"age": "integers", "income": "integers", "size": "reals", "visit": "dates"}
    kinds |= dict.fromkeys(("region", "rare"), "categories")
    domain = Domain.from_list(found.lines(kinds))
    assert domain.names == ("age", "income", "size", "visit", "region")
    assert domain.sizes == (92, 100, 100, 72, 3)
    assert domain["region"].label(2) == "something else"
    assert domain["size"].label(0).startswith("-0.001")


def test_an_error_tells_nothing_and_can_be_made_good(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a private value 1234")

    with monkeypatch.context() as patch:
        patch.setattr(Discovery, "run", broken)
        with pytest.raises(Failed) as problem:
            bought(desk)
    assert "1234" not in str(problem.value)
    assert problem.value.__context__ is None
    assert bought(desk).suggestions["region"].values == ("north", "south")
    assert len(desk.ledger.entries()) == 1
