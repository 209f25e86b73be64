"""The Plan page: accuracy, presets, comparison, rehearsals and plans as files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.base.odds import HARM, odds
from core.desk.desk import Desk
from core.mechanisms.smalldb.smalldb import SmallDb
from core.planning import budget_for, recommendation
from core.planning.better_noise import budgets_within
from core.planning.simulation import kept_trials
from core.plans.plan_file import write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.registry import query_classes
from core.schema.domain import Domain
from core.table.stand_in import StandIn
from core.table.table import Table
from dashboard.views.common import state
from dashboard.views.plan import compare_chart, comparison, offers, plan_form, rehearsals
from dashboard.views.plan.plan_form import Accuracy
from dashboard.views.plan.trials import public_trials
from tests.dashboard.pages.test_pages import button, chooser, errors, field, finished, go_on, words
from tests.dashboard.pages.test_release_classes import mechanism, mixed, number, pick, study

__all__ = ["mixed"]

Open = Callable[..., AppTest]


def session(app: AppTest) -> state.PageState:
    return app.session_state["desk-session"]


def planned(app: AppTest) -> ReleaseTerms:
    [plan] = session(app).planned.values()
    return plan


def by_accuracy(app: AppTest, within: float, measure: str = "worst") -> AppTest:
    next(found for found in app.get("button_group") if found.label == "Choose").set_value(plan_form.BY_ACCURACY).run()
    number(app, "Error of at most so many rows").set_value(within)
    return next(found for found in app.selectbox if found.label == "For").set_value(measure).run()


def rehearsed(app: AppTest) -> AppTest:
    """Press the button and wait."""
    button(app, "Rehearse").click().run()
    deadline, service = time.monotonic() + 60, rehearsals.service()
    while any(service.progress(run.id) is not None for run in session(app).rehearsals):
        assert time.monotonic() < deadline, "the rehearsal does not end"
        time.sleep(0.02)
    return app.run()


def load(app: AppTest, text: str) -> AppTest:
    app.text_area(key="plan-text").set_value(text).run()
    return button(app, "Use it").click().run()


def chart(app: AppTest) -> dict[str, Any]:
    figure = app.get("plotly_chart")[0]
    return json.loads(figure.proto.spec or figure.proto.figure.spec)


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", ["worst", "mean"])
def test_an_accuracy_gives_the_smallest_budget(page: Open, desk: Desk, mixed: DeskTable, measure: str) -> None:
    app = by_accuracy(page("plan"), 30, measure)
    assert not errors(app)
    plan = planned(app)
    assert f"This needs ε = {float(plan.budget.epsilon):g}" in words(app)

    def error(budget: Budget) -> float:
        figure = desk.plan_from(mixed, replace(plan, budget=budget)).expected_error
        return figure.worst if measure == "worst" else figure.high

    assert error(plan.budget) <= 30 < error(Budget(float(plan.budget.epsilon) * 0.7, plan.budget.delta))
    button(go_on(app), "Release").click().run()
    finished(app, desk)
    [entry] = desk.statement(mixed).entries
    assert Budget.from_json(json.loads(entry.plan_json)["budget"]) == plan.budget


@pytest.mark.exhaustive
def test_options_count_when_a_budget_is_sought(page: Open, mixed: DeskTable) -> None:
    app = by_accuracy(pick(page("plan"), "intervals"), 20)
    mechanism(app).set_value("interval-tree").run()
    usual = planned(app).budget
    number(app, "Branching").set_value(2).run()
    assert planned(app).options == {"branching": 2}
    assert planned(app).budget != usual


@pytest.mark.exhaustive
def test_every_mechanism_names_its_own_epsilon(desk: Desk, mixed: DeskTable) -> None:
    wanted = Accuracy(within=25, error="mean", delta=1e-9)
    priced = offers.offers(desk, mixed, [Intervals(column="age")], wanted)
    assert len({offer.budget for offer in priced.found}) > 3
    assert all(offer.expected.high <= 25 for offer in priced.found)
    assert priced.found[0].budget.epsilon == min(offer.budget.epsilon for offer in priced.found)
    assert offers.FOR_STUDY in priced.refused.values()


@pytest.mark.exhaustive
def test_an_accuracy_out_of_reach_is_refused(page: Open, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the largest epsilon that is tried otherwise, pure noise on these few counts is nearly always 0."""
    monkeypatch.setattr(budget_for, "MOST", 2.0)
    app = by_accuracy(page("plan"), 0.1)
    assert "No mechanism can do this" in words(app)
    assert "Even epsilon 2" in words(app)
    assert "Nothing is planned" in words(go_on(app))


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", HARM)
def test_a_level_of_harm_fills_the_budget(page: Open, mixed: DeskTable, level: str) -> None:
    app = page("plan")
    next(found for found in app.get("button_group") if found.label.startswith("Start from")).set_value(level).run()
    epsilon, delta = HARM[level]
    assert planned(app).budget in budgets_within(Budget(epsilon, delta))
    assert odds(epsilon, delta) in words(app)
    field(app, "Epsilon (ε)").set_value("0.7").run()
    assert planned(app).budget in budgets_within(Budget("0.7", delta))


@pytest.mark.exhaustive
def test_a_level_of_harm_fits_an_account_without_delta(page: Open, desk: Desk) -> None:
    domain = Domain.from_list([{"name": "ill", "kind": "booleans"}])
    desk.add_table(pd.DataFrame({"ill": [True, False]}), domain, unit=Unit.row(), budget=Budget(1))
    app = page("plan")
    level = next(iter(HARM))
    next(found for found in app.get("button_group") if found.label.startswith("Start from")).set_value(level).run()
    assert planned(app).budget == Budget(HARM[level][0])


@pytest.mark.exhaustive
def test_one_chart_compares_what_fits(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    lines = {line["name"]: line for line in chart(app)["data"]}
    titles = [option.removesuffix(offers.RECOMMENDED) for option in mechanism(app).options]
    drawn = [title for title in titles if title in lines]
    assert drawn[0] == titles[0], "the recommended one is always there"
    assert len(drawn) == min(compare_chart.MOST_LINES, len(titles))
    figure = app.get("plotly_chart")[0]
    assert all(f"{title} " in figure.proto.alt for title in titles), "the text has them all"
    assert lines[drawn[0]]["line"]["width"] > lines[drawn[1]]["line"]["width"], "the chosen one stands out"
    theorems = {name: line for name, line in lines.items() if name.endswith(": theorem")}
    assert all(line["line"]["dash"] == "dot" for line in theorems.values())
    assert not any("noise on every table" in name for name in theorems), "what runs there is not the theorem's"
    assert chart(app)["layout"]["xaxis"]["type"] == chart(app)["layout"]["yaxis"]["type"] == "log"


def test_the_chart_draws_what_no_method_can_do() -> None:
    epsilons = (0.1, 1.0)
    line = compare_chart.Line(
        name="a", title="A", about="", epsilons=epsilons, errors=(50.0, 5.0), promised=(None, None)
    )
    least = compare_chart.LeastLine(theorem="packing", epsilons=epsilons, errors=(55.0, None))
    figure, alt = compare_chart.compare([line], [], "a", 1.0, None, least)
    drawn = next(found for found in figure.data if found.name == "No method, on every table")
    assert drawn.y == (55.0, None) and drawn.line.dash == "longdash" and "packing" in drawn.hovertemplate
    assert "No method stays below 55 rows" in alt
    assert "No method" not in compare_chart.compare([line], [], "a", 1.0, None)[1]


@pytest.mark.exhaustive
def test_the_chart_is_remembered(page: Open, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    real = comparison._lines
    monkeypatch.setattr(comparison, "_lines", lambda *given: made.append(1) or real(*given))
    app = page("plan")
    app.run()
    assert len(made) == 1
    field(app, "Epsilon (ε)").set_value("0.5").run()
    assert len(made) == 2


@pytest.mark.exhaustive
def test_a_rehearsal_is_free_and_looks_at_no_private_row(
    page: Open, desk: Desk, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "open", lambda folder: pytest.fail("the private table was opened"))
    app = page("plan")
    number(app, "Rows of the table, as publicly known or guessed").set_value(700).run()
    rehearsed(app)
    assert not errors(app)
    [table] = app.dataframe
    assert table.value["Public rows"].tolist() == ["700 rows drawn uniformly from the schema"]
    assert table.value["Mean error"][0].startswith("±")
    assert desk.statement(mixed).entries == ()
    assert [line["name"] for line in chart(app)["data"]][-1] == "Rehearsed"
    field(app, "Epsilon (ε)").set_value("5").run()
    rehearsed(app)
    assert app.dataframe[0].value["ε"].tolist() == ["5", "1"], "newest first"
    assert sorted(chart(app)["data"][-1]["x"]) == [1, 5]


@pytest.mark.exhaustive
def test_an_earlier_release_stands_in(page: Open, desk: Desk, mixed: DeskTable) -> None:
    plan = desk.plan(mixed, [Marginals(order=1)], mechanism="laplace", budget=Budget(1), records=300)
    desk.release(plan)
    app = page("plan")
    standin = next(found for found in app.selectbox if found.label == "Public rows")
    assert [option.split(":")[0] for option in standin.options[:1]] == ["earlier release"]
    rehearsed(app)
    assert session(app).rehearsals[0].standin.startswith("earlier release")
    assert rehearsals.service().outcome(session(app).rehearsals[0].id).rows == 300


@pytest.mark.exhaustive
def test_the_demo_table_stands_in_for_itself(page: Open, desk: Desk) -> None:
    domain = Domain.from_json(state.demo_schema())
    desk.add_table(state.demo_file(), domain, unit=Unit.row(), budget=Budget(2, "1e-9"))
    app = pick(page("plan"), "intervals")
    rehearsed(app)
    assert app.dataframe[0].value["Public rows"].tolist() == ["the demo table, which is invented"]
    assert rehearsals.service().outcome(session(app).rehearsals[0].id).rows > 10_000


@pytest.mark.exhaustive
def test_a_rehearsal_that_stops_is_one_sentence(page: Open, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> StandIn:
        raise MemoryError("cell 4711")

    monkeypatch.setattr(StandIn, "uniform", broken)
    app = rehearsed(page("plan"))
    [error] = errors(app)
    assert error.startswith("The rehearsal stopped. ")
    assert "4711" not in words(app)


@pytest.mark.exhaustive
def test_too_many_invented_rows_are_refused(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    number(app, "Rows of the table, as publicly known or guessed").set_value(9_000_000).run()
    [error] = errors(rehearsed(app))
    assert "guess at most 2,000,000" in error


@pytest.mark.exhaustive
def test_mechanisms_for_study_stand_apart(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    offered = list(mechanism(app).options)
    assert not any(offers.STUDIED in option for option in offered)
    study(app)
    assert list(mechanism(app).options[: len(offered)]) == offered, "below the others"
    added = mechanism(app).options[len(offered) :]
    assert added and all(option.endswith(offers.STUDIED) for option in added)
    names = {line["name"] for line in chart(app)["data"]}
    assert not names & {option.removesuffix(offers.STUDIED) for option in added}, "no competitors in the chart"
    mechanism(app).set_value("smalldb").run()
    assert planned(app).mechanism == "smalldb"
    assert SmallDb.title in {line["name"] for line in chart(app)["data"]}, "the chosen one is drawn"


@pytest.mark.exhaustive
def test_figures_get_better_while_the_page_is_read(
    page: Open, desk: Desk, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "open", lambda folder: pytest.fail("the private table was opened"))
    monkeypatch.setattr(kept_trials, "QUICK_RUNS", 2)
    monkeypatch.setattr(recommendation, "CLOSE_RUNS", 2)
    app = pick(page("plan"), "intervals")
    before = desk.plan_from(mixed, planned(app)).expected_error
    monkeypatch.setattr(public_trials, "SECONDS", 30.0)
    field(app, "Epsilon (ε)").set_value("0.9").run()
    service, deadline = public_trials.service(), time.monotonic() + 60
    while service.progress(session(app).refining[1]) is not None:
        assert time.monotonic() < deadline, "the trials do not end"
        time.sleep(0.05)
    app.run()
    after = desk.plan_from(mixed, planned(app)).expected_error
    assert after.runs > before.runs
    assert "Where the errors will be" in [found.value for found in app.subheader]
    heat = json.loads(app.get("plotly_chart")[1].proto.spec or app.get("plotly_chart")[1].proto.figure.spec)
    assert heat["data"][0]["type"] == "heatmap"


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
