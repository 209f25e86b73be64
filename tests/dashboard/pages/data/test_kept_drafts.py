"""What was begun survives a reload: another session of the same curator goes on with it, and nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain
from dashboard.door import access
from dashboard.views.data import sources_form, unit_form
from tests.dashboard.pages.kit.data_page import CSV, PEOPLE, ROWS, choose_unit, draft, edit, line, uploaded
from tests.dashboard.pages.kit.elements import Open, button, errors, words
from tests.dashboard.pages.kit.plan_page import session


def resumed(app: AppTest) -> AppTest:
    return button(app, "Go on with it").click().run()


def kept_files(desk: Desk) -> list[Path]:
    return [path for path in (desk.folder / "drafts").rglob("*") if path.is_file()]


@pytest.mark.exhaustive
def test_an_upload_and_its_grid_survive_a_reload(page: Open, desk: Desk) -> None:
    app = edit(choose_unit(uploaded(page()), unit_form.ROW), {1: {"high": "99"}, 2: {"values": "north | south"}})
    app.text_input(key="total-epsilon").set_value("3").run()
    edit(app, {1: {"high": "99"}, 2: {"values": "north | south"}, 3: {"include": False}})
    next(each for each in app.text_area if each.label == "Rules, one to a line").set_value("never: age < 3").run()
    again = page()
    assert "You began to describe" in words(again)
    again = resumed(again)
    assert again.radio(key="source").value == sources_form.UPLOAD
    assert (line(again, "age")["high"], line(again, "region")["values"]) == ("99", "north | south")
    assert again.text_input(key="total-epsilon").value == "3"
    assert draft(again).rules == "never: age < 3"
    edit(again, {3: {"include": False}})
    button(again, "Open this table").click().run()
    assert not errors(again)
    [table] = desk.tables()
    assert (table.notes["rows"], str(table.budget.epsilon), table.domain["age"].size) == (ROWS, "3", 100)
    assert kept_files(desk) == [], "the file is removed when the table is open"
    assert "You began to describe" not in words(page())


@pytest.mark.exhaustive
def test_the_same_file_after_a_reload_goes_on_where_it_was(page: Open, desk: Desk) -> None:
    edit(choose_unit(uploaded(page()), unit_form.ROW), {1: {"high": "99"}})
    again = uploaded(page())
    assert line(again, "age")["high"] == "99" and "The draft is back as it was left" in words(again)
    assert len([path for path in kept_files(desk) if path.suffix == ".csv"]) == 1, "there is one draft of it"
    again.selectbox(key="text-encoding").select_index(1).run()
    assert draft(again).written[0] == "latin-1", "how it is written can be said anew"
    other = uploaded(page(), "people.csv", CSV + b"9000,30,north,1.5\n")
    assert line(other, "age")["high"] != "99" and "The draft is back" not in words(other)


@pytest.mark.exhaustive
def test_a_file_is_needed_as_long_as_the_schema_is_wrong(page: Open, desk: Desk) -> None:
    app = resumed_after(page, {2: {"values": "nowhere", "other": ""}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert "Correct the schema" in " ".join(errors(app)) and not app.success
    edit(app, {2: {"values": "north | south"}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert kept_files(desk) == []
    assert len(desk.tables()) == len(desk.tables(archived=True)) == 1, "the one that did not fit is put away"


def resumed_after(page: Open, changes: dict[int, dict[str, Any]]) -> AppTest:
    edit(choose_unit(uploaded(page()), unit_form.ROW), changes)
    return resumed(page())


@pytest.mark.exhaustive
def test_a_draft_is_discarded_with_its_file(page: Open, desk: Desk) -> None:
    uploaded(page())
    assert {path.suffix for path in kept_files(desk)} == {".json", ".csv"}
    app = page()
    button(app, "Discard it").click().run()
    assert kept_files(desk) == []
    assert "You began to describe" not in words(app)


@pytest.mark.exhaustive
def test_a_file_that_is_taken_away_or_bad_leaves_nothing(page: Open, desk: Desk) -> None:
    app = uploaded(page())
    uploaded(app, "people.csv", b"\x00\x01")
    assert kept_files(desk) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("who", ["visitor", "demo", "other"])
def test_drafts_are_their_curators_own(page: Open, desk: Desk, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    uploaded(page())
    monkeypatch.setattr(access, "curator", lambda: "b" * 64 if who == "other" else None)
    app = page()
    assert "You began to describe" not in words(app)
    before = kept_files(desk)
    if who == "demo":
        uploaded(app)
        assert kept_files(desk) == before


def test_nobody_without_rights_has_a_name_for_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "role", lambda: "visitor")
    assert access.curator() is None
    monkeypatch.setattr(access, "role", lambda: "curator")
    monkeypatch.setattr(access, "login_section", lambda: None)
    assert access.curator() == "here"
    monkeypatch.setenv(access.DEMO_VARIABLE, "1")
    assert access.curator() is None


def test_each_account_of_a_login_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "role", lambda: "curator")
    monkeypatch.setattr(access, "login_section", lambda: {"curators": []})
    names = set()
    for claims in (
        {"iss": "a", "sub": "1"},
        {"iss": "a", "sub": "2"},
        {"iss": "b", "sub": "1"},
        {"iss": "a", "sub": "1"},
    ):
        monkeypatch.setattr(access.st, "user", claims)
        names.add(access.curator())
    assert len(names) == 3 and "here" not in names


def opened(desk: Desk) -> DeskTable:
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 10},
            {"name": "region", "kind": "categories", "values": ["north", "south"]},
        ]
    )
    return desk.add_table(PEOPLE, domain, unit=Unit.row(), budget=Budget(2, "1e-9"), name="people")


def changed_plan(page: Open) -> AppTest:
    app = page("plan")
    assert "another plan" not in words(app)
    field = next(each for each in app.text_input if each.label == "Epsilon (ε)")
    return field.set_value("0.37").run()


@pytest.mark.exhaustive
def test_a_plan_that_was_released_is_not_offered_again(page: Open, desk: Desk) -> None:
    table = opened(desk)
    app = changed_plan(page)
    assert "another plan" in words(page("plan"))
    desk.release(desk.plan_from(table, session(app).planned[table.id], edition=2))
    assert "another plan" not in words(page("plan"))


@pytest.mark.exhaustive
def test_a_plan_survives_a_reload(page: Open, desk: Desk) -> None:
    opened(desk)
    changed_plan(page)
    again = page("plan")
    assert "You were making another plan" in words(again)
    button(again, "Go on with that plan").click().run()
    assert next(each for each in again.text_input if each.label == "Epsilon (ε)").value == "0.37"
    assert "another plan" not in words(again)
    third = page("plan")
    button(third, "Discard it").click().run()
    assert "another plan" not in words(third)
    assert "another plan" not in words(page("plan"))


@pytest.mark.exhaustive
def test_the_copy_holds_what_was_uploaded(page: Open, desk: Desk) -> None:
    app = uploaded(page())
    assert draft(app).copy.read_bytes() == CSV
