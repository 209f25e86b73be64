"""The Plan page: plans as files."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.plan_file import write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.registry import query_classes
from tests.dashboard.pages.kit.elements import Open, button, chooser, errors, field, finished, go_on, number
from tests.dashboard.pages.kit.plan_page import load, mechanism, pick, planned


def filled(app: AppTest, name: str) -> AppTest:
    """A plan of one class with something changed in its form."""
    pick(app, name)
    if name == "counting":
        chooser(app, "Columns of the next condition").set_value(["town"]).run()
        chooser(app, "town is one of").set_value([0, 2]).run()
        button(app, "Add the condition").click().run()
    if name in ("parities", "conjunctions"):
        chooser(app, "Further columns").set_value(["town"]).run()
        next(found for found in app.selectbox if "counts as yes" in found.label).set_value(2).run()
    if name in ("intervals", "unions"):
        chooser(app, "Columns").set_value(["height", "age"]).run()
    if name == "linear":
        chooser(app, "Columns").set_value(["town", "ill"]).run()
    if name == "lipschitz":
        chooser(app, "Statistics").set_value(["distance", "top"]).run()
    if name == "marginals":
        number(app, "Columns per table").set_value(3).run()
        mechanism(app).set_value("laplace").run()
    return app


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", query_classes)
def test_a_saved_plan_fills_the_form_of_another_tab(page: Open, mixed: DeskTable, name: str) -> None:
    app = filled(page("plan"), name)
    field(app, "Epsilon (ε)").set_value("0.3")
    number(app, "Synthetic rows").set_value(123)
    number(app, "Synthetic copies").set_value(4).run()
    assert not errors(app)
    plan = planned(app)
    assert (plan.budget.epsilon, plan.records, plan.queries[0].name) == (Budget("0.3").epsilon, 123, name)
    assert plan.copies == 4

    other = page("plan")
    assert planned(other) != plan
    load(other, write_plan_file(plan))
    assert not errors(other)
    assert planned(other) == plan
    assert planned(other.run()) == plan, "also after the next click"


@pytest.mark.exhaustive
def test_options_of_a_mechanism_are_loaded(page: Open, mixed: DeskTable) -> None:
    plan = ReleaseTerms(
        queries=(Intervals(column="age", bits=3),),
        mechanism="interval-search",
        budget=Budget("0.25", "1e-7"),
        options={"accuracy": 0.2, "mass": "equal"},
    )
    app = pick(page("plan"), "intervals")
    mechanism(app).set_value("laplace").run()
    load(app, write_plan_file(plan))
    assert planned(app) == plan
    assert mechanism(app).value == "interval-search"


@pytest.mark.exhaustive
def test_columns_that_a_mechanism_favours_are_loaded(page: Open, mixed: DeskTable) -> None:
    names = mixed.domain.names
    plan = ReleaseTerms(
        queries=(Marginals(order=2),),
        mechanism="tree",
        budget=Budget("0.25", "1e-7"),
        options={"target": names[1], "groups": [names[0]]},
    )
    app = pick(page("plan"), "marginals")
    load(app, write_plan_file(plan))
    assert planned(app) == plan


@pytest.mark.exhaustive
def test_a_loaded_plan_can_be_released(page: Open, desk: Desk, mixed: DeskTable) -> None:
    plan = ReleaseTerms(queries=(Marginals(order=1, columns=("age",)),), mechanism="laplace", budget=Budget("0.1"))
    app = go_on(load(page("plan"), write_plan_file(plan)))
    button(app, "Release").click().run()
    finished(app, desk)
    [entry] = desk.statement(mixed).entries
    assert json.loads(entry.plan_json)["queries"][0]["columns"] == ["age"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("{}", "no plan of Release Desk"),
        (ReleaseTerms(queries=(Marginals(columns=("wage",)),), mechanism="laplace", budget=Budget(1)), "'wage'"),
        (
            ReleaseTerms(
                queries=(Intervals(column="age"), Marginals(sets=(("age", "nobody"),))),
                mechanism="laplace",
                budget=Budget(1),
            ),
            "'nobody'",
        ),
    ],
)
def test_a_plan_that_does_not_fit_changes_nothing(
    page: Open, mixed: DeskTable, plan: str | ReleaseTerms, words: str
) -> None:
    app = page("plan")
    before = planned(app)
    load(app, plan if isinstance(plan, str) else write_plan_file(plan))
    [error] = errors(app)
    assert words in error
    assert planned(app) == before
    assert not errors(app.run()), "said once"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "queries",
    [
        (Marginals(order=1), Marginals(order=2)),
        (Marginals(sets=(("age",), ("age", "ill")), weights=(1.0, 2.0)),),
        (Intervals(column="age", bits=2), Intervals(column="age", bits=3)),
        (Intervals(column="age"), Marginals(order=1, sets=(("ill",),))),
    ],
    ids=["twice", "sets", "two settings", "beside a form"],
)
def test_what_no_form_can_show_is_loaded_as_it_is(
    page: Open, mixed: DeskTable, queries: tuple[QueryClass, ...]
) -> None:
    plan = ReleaseTerms(queries=queries, mechanism="laplace", budget=Budget("0.1"))
    app = load(page("plan"), write_plan_file(plan))
    assert not errors(app)
    assert planned(app) == plan
    button(app, "Take these out").click().run()
    left = tuple(query for query in queries if query == Intervals(column="age"))
    assert errors(app) == ([] if left else ["Choose at least one query class."])
    assert not left or planned(app).queries == left


@pytest.mark.exhaustive
def test_a_plan_file_is_uploaded_and_saved(page: Open, mixed: DeskTable) -> None:
    plan = ReleaseTerms(queries=(Intervals(column="age"),), mechanism="laplace", budget=Budget("0.1"))
    app = page("plan")
    app.file_uploader(key="plan-file").upload("plan.json", write_plan_file(plan).encode(), "application/json").run()
    assert planned(app) == plan
    app.file_uploader(key="plan-file").upload("plan.json", b"\xff\xfe{", "application/json").run()
    assert "not UTF-8" in errors(app)[0]
    assert "Save the plan" in [download.label for download in app.get("download_button")]
