"""The Data page: whose privacy, which account, and the tables that are open."""

from __future__ import annotations

import pytest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from dashboard.views.common import state
from dashboard.views.data import sources_form, unit_form
from tests.dashboard.pages.kit.data_page import PEOPLE, SHARED, choose_unit, demo, edit, uploaded
from tests.dashboard.pages.kit.elements import Open, button, errors, field, words


@pytest.mark.exhaustive
def test_unit_starts_empty_and_must_be_chosen(page: Open, desk: Desk) -> None:
    app = edit(uploaded(page()), {2: {"values": "north | south"}, 3: {"include": False}})
    assert button(app, "Open this table").disabled
    assert "it is never assumed" in words(app)
    assert not button(choose_unit(app, unit_form.ROW), "Open this table").disabled
    assert desk.tables() == []


@pytest.mark.exhaustive
def test_a_demo_table_brings_its_unit(page: Open) -> None:
    """From the first page to the file in six clicks: the way in, open, plan, release, press, download."""
    app = demo(page())
    assert not button(app, "Open this table").disabled
    assert "patient_id" in words(app).replace("\\", "")
    app.radio(key="demo-table").set_value("school_survey").run()
    assert next(radio for radio in app.radio if radio.key.startswith("unit-")).value == unit_form.ROW
    assert not button(app, "Open this table").disabled


def test_once_a_table_is_open_the_way_on_is_the_main_button(page: Open, desk: Desk) -> None:
    app = edit(choose_unit(uploaded(page()), unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    assert button(app, "Open this table").proto.type == "primary"
    button(app, "Open this table").click().run()
    assert not errors(app) and "Every cell fits the schema" in words(app)
    assert button(app, "Open this table").proto.type == "secondary"
    edit(app, {1: {"high": "99"}})
    assert button(app, "Open this table").proto.type == "primary", "another schema is another table"


def test_tables_put_away_are_told_apart(page: Open, desk: Desk) -> None:
    for low in (0, 1):
        schema = Domain((Integers(name="age", low=low, high=99),))
        added = desk.add_table(PEOPLE, schema, unit=Unit.row(), budget=Budget(1), name="people")
        desk.archive(added.id)
    said = words(page("data")).replace("\\", "")
    named = [line for line in said.splitlines() if line.startswith("people · ")]
    assert len(named) == len(set(named)) == 2


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "", "two", "1e9"])
def test_bad_total_budget(page: Open, desk: Desk, epsilon: str) -> None:
    app = choose_unit(page())
    field(app, "Epsilon (ε)").set_value(epsilon).run()
    [error] = errors(app)
    assert error.startswith("Epsilon: must be")
    assert button(app, "Open this table").disabled


@pytest.mark.exhaustive
def test_the_same_rows_share_an_account_unless_a_reason_is_given(page: Open, desk: Desk) -> None:
    first = desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), name="first")
    again = desk.add_table(PEOPLE.iloc[1:], SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), name="again")
    assert desk.same_account(first, again)
    said = words(page("budget"))
    assert "This is the account 'first', with 'first'" in said.replace("\\", "")
    app = demo(page())
    share = next(found for found in app.checkbox if found.label.startswith("Rows that are at this desk"))
    assert share.value
    choose_unit(app)
    assert not button(app, "Open this table").disabled
    share.uncheck().run()
    assert button(app, "Open this table").disabled
    field(app, "Why these are other people").set_value("Another clinic.").run()
    assert not button(app, "Open this table").disabled
    kept = desk.add_table(PEOPLE.iloc[2:], SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), apart="Another clinic.")
    assert not desk.same_account(first, kept)
    assert "Another clinic" in words(page("budget"))


@pytest.mark.exhaustive
def test_the_first_visit_is_told_what_this_is_and_three_ways_in(page: Open, desk: Desk) -> None:
    app = page("data")
    assert "next to nothing about any one person" in words(app)
    button(app, "Bring your own file").click().run()
    assert app.radio(key="source").value == sources_form.UPLOAD
    assert "next to nothing about any one person" not in words(app), "the way that was taken is what is seen next"
    desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1))
    assert "next to nothing about any one person" not in words(page("data"))


@pytest.mark.exhaustive
def test_a_table_is_renamed_put_away_and_brought_back(page: Open, desk: Desk) -> None:
    held = desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1), name="people")
    app = page("data")
    app.text_input(key=f"label-{held.id}").set_value("Census 2026")
    app.button(key=f"rename-{held.id}").click().run()
    assert desk.tables()[0].name == "Census 2026"
    app.button(key=f"archive-{held.id}").click().run()
    assert desk.tables() == [] and not errors(app)
    app.button(key=f"restore-{held.id}").click().run()
    assert [table.id for table in desk.tables()] == [held.id]


@pytest.mark.exhaustive
def test_tables_of_the_same_name_are_told_apart(page: Open, desk: Desk) -> None:
    """A schema that was corrected within the minute makes a second table, which pages must not take for the first."""
    for bins in (None, 10):
        domain = Domain((Integers(name="age", low=0, high=99, bins=bins),))
        desk.add_table(PEOPLE, domain, unit=Unit.row(), budget=Budget(1), name="people")
    tables = desk.tables()
    assert len(set(state.table_labels(tables).values())) == 2
    app = page("budget")
    app.selectbox[0].select_index(1).run()
    assert app.session_state["desk-session"].table == tables[1].id
