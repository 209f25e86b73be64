"""Rules on the pages: typed on Data, said back in words, marked where they are wrong, and shown on Plan."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Categories, Domain, Integers
from dashboard.views.data import unit_form
from tests.dashboard.pages.kit.data_page import choose_unit, demo, draft
from tests.dashboard.pages.kit.elements import Open, button, errors, words

RULE = "never: smoker = true and age < 15"


def rules_field(app: AppTest):
    return next(found for found in app.text_area if found.label == "Rules, one to a line")


def tables(app: AppTest) -> str:
    return " ".join(str(found.value.to_dict()) for found in app.table)


@pytest.mark.exhaustive
def test_the_demo_brings_its_rules_and_the_curator_sees_what_breaks_them(page: Open, desk: Desk) -> None:
    app = choose_unit(page(), unit_form.ROW)
    assert rules_field(app).value.splitlines()[0] == RULE
    assert "No record has smoker = true and age at most 14" in tables(app)
    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert table.domain.rules[0] == RULE and 0 < table.notes["broken_rules"][RULE] < 20
    assert "Rows that break a rule" in words(app) and f"{table.notes['broken_rules'][RULE]}" in tables(app)


@pytest.mark.exhaustive
def test_mistakes_and_contradictions_are_marked_and_nothing_can_be_opened(page: Open) -> None:
    app = choose_unit(page(), unit_form.ROW)
    rules_field(app).set_value(f"{RULE}\n\nnever: agee < 15\nif smoker = true").run()
    [told] = errors(app)
    assert "2 mistakes in the rules" in told and "Rule 3" in told and "did you mean 'age'" in told and "Rule 4" in told
    assert button(app, "Open this table").disabled
    rules_field(app).set_value(f"{RULE}\nnever: age < 90\nnever: age >= 50").run()
    [told] = errors(app)
    assert "These 2 rules contradict each other" in told and RULE not in told
    assert button(app, "Open this table").disabled
    rules_field(app).set_value("").run()
    assert not errors(app) and not button(app, "Open this table").disabled


@pytest.mark.exhaustive
def test_rules_come_with_a_schema_and_survive_a_visit_to_another_page(page: Open) -> None:
    app = demo(page())
    columns = [{"name": "age", "kind": "integers", "low": 0, "high": 99}, {"name": "smoker", "kind": "booleans"}]
    schema = json.dumps({"columns": columns, "rules": ["never: age < 12 and smoker"]})
    app.file_uploader(key="schema-file").upload("schema.json", schema.encode(), "application/json").run()
    assert not errors(app) and rules_field(app).value == "never: age < 12 and smoker"
    rules_field(app).set_value("never: age < 13 and smoker").run()
    assert draft(app).rules == "never: age < 13 and smoker"
    lone = json.dumps({"columns": columns[:1], "rules": []})
    app.file_uploader(key="schema-file").upload("other.json", lone.encode(), "application/json").run()
    assert rules_field(app).value == "" and not errors(app)


def test_a_rule_on_a_column_that_is_not_used_is_set_aside(page: Open) -> None:
    app = demo(page())
    grid = draft(app)
    grid.restart(grid.latest.assign(include=grid.latest["include"] & (grid.latest["name"] != "smoker")))
    app.run()
    assert not errors(app) and "1 rule set aside" in words(app)


@pytest.mark.exhaustive
def test_a_table_of_known_counts_becomes_rules(page: Open) -> None:
    app = demo(page())
    app.text_area(key="count-table").set_value("sex,count\nfemale,16000\nmale,14000\nother,x")
    app.button(key="count-table-add").click().run()
    assert "Line 4 of the table of counts" in errors(app)[0]
    app.text_area(key="count-table").set_value("sex,count\nfemale,16000\nmale,14000\nother,200")
    app.button(key="count-table-add").click().run()
    assert not errors(app)
    assert rules_field(app).value.splitlines()[-1] == "count(sex = other) = 200" and RULE in rules_field(app).value
    assert "Exactly 14,000 records have sex = male" in tables(app)


@pytest.mark.slow
def test_plan_says_which_rules_apply_and_how(page: Open, desk: Desk) -> None:
    domain = Domain(
        (Integers(name="age", low=0, high=9), Categories(name="work", values=("no", "yes"))),
        ("never: age < 2 and work = yes", "count(work = no) = 60", "count(work = yes) = 60"),
    )
    frame = pd.DataFrame({"age": [0, 5, 9] * 40, "work": ["no", "yes"] * 60})
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2, 1e-9))
    app = page("plan")
    assert not app.exception
    assert "Every record keeps 3 rules" in str([found.label for found in app.expander])
    shown = tables(app)
    assert "Exactly 60 records have work = no" in shown
    assert ("part of the model" in shown) != ("made to keep it afterwards" in shown)
    assert "Known counts are taken to be the same" in words(app)
    assert desk.plan(table, [Marginals(order=2)], mechanism="tree", budget=Budget(1, 1e-9)).expected_error.mean > 0
