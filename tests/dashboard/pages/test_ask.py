"""The Ask page: open a session, ask in every way, come back, close."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.formulas.question import question
from core.mechanisms.median.median_walk import MedianWalk
from core.models.polytope.mixing import Mixing
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.registry import interactive
from core.schema.domain import Domain
from dashboard.views.ask import trial_queue
from dashboard.views.ask.ask_question import _promised
from tests.dashboard.pages.kit.elements import Open, button, chooser, errors, field, finished, number, way, words

ROWS = 4_000
DATA = Path(__file__).resolve().parents[3] / "data"


@pytest.fixture
def people(desk: Desk) -> DeskTable:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": generator.integers(0, 100, ROWS),
            "height": generator.normal(170, 10, ROWS),
            "town": generator.choice(["north", "south", "west"], ROWS, p=[0.6, 0.3, 0.1]),
        }
    )
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 10},
            {"name": "height", "kind": "reals", "low": 140, "high": 200, "bins": 6},
            {"name": "town", "kind": "categories", "values": ["north", "south", "west"]},
        ]
    )
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(20, "1e-9"), name="people")


def radio(app: AppTest) -> Any:
    return next(found for found in app.radio if found.label == "Mechanism")


def opened(page: Open, desk: Desk, name: str) -> AppTest:
    """A session of the named mechanism on the page."""
    app = page("ask")
    field(app, "Epsilon (ε)").set_value("4").run()
    radio(app).set_value(name).run()
    button(app, "Open the session").click().run()
    return finished(app, desk)


def metric(app: AppTest, label: str) -> str:
    return next(found.value for found in app.metric if found.label == label)


@pytest.mark.exhaustive
def test_a_small_universe_is_recommended_a_histogram_and_every_mechanism_is_offered(page: Open, people: DeskTable):
    app = page("ask")
    assert len(radio(app).options) == len(interactive)
    assert radio(app).value == "online-histogram"
    assert not errors(app)


@pytest.fixture
def clinic(desk: Desk) -> DeskTable:
    """The demo table as the Data page opens it."""
    domain = Domain.from_json((DATA / "clinic_visits.schema.json").read_text(encoding="utf-8"))
    unit = Unit.id("patient_id", 3)
    return desk.add_table(DATA / "clinic_visits.csv", domain, unit=unit, budget=Budget(2, "1e-9"), name="visits")


def test_the_demo_table_is_asked_with_what_the_page_offers_first(page: Open, desk: Desk, clinic: DeskTable):
    app = page("ask")
    assert not errors(app)
    assert radio(app).value == "online-tree"
    assert words(app).count("Not offered here") == 4
    button(app, "Open the session").click().run()
    assert not errors(finished(app, desk))
    [session] = desk.sessions(clinic)
    assert session.domain == clinic.domain, "all columns"
    assert desk.ask(clinic, budget=Budget("0.5", "1e-9")).id == session.id, "as from Python, where nothing else is said"


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", ["online-tree", "online-weights", "online-median", "online-laplace"])
def test_every_session_that_is_offered_for_the_demo_table_can_be_paid(page: Open, clinic: DeskTable, name: str):
    app = page("ask")
    radio(app).set_value(name).run()
    assert not errors(app)
    assert not button(app, "Open the session").disabled


@pytest.mark.exhaustive
def test_columns_that_are_mostly_asked_together_are_spent_on(page: Open, desk: Desk, people: DeskTable):
    app = page("ask")
    radio(app).set_value("online-tree").run()
    next(found for found in app.selectbox if found.label == "What it is for").select_index(1).run()
    chooser(app, "Columns that are mostly asked together").set_value(["town", "age"]).run()
    assert not errors(app)
    button(app, "Open the session").click().run()
    assert not errors(finished(app, desk))
    [session] = desk.sessions(people)
    assert session.terms["options"]["planned"] == ["age", "town"]


@pytest.mark.exhaustive
def test_a_trial_tells_for_how_many_questions_a_session_holds(
    page: Open, people: DeskTable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trial_queue, "TRIES", True)
    app, deadline = page("ask"), time.monotonic() + 60
    while "trial questions on invented tables" not in words(app) and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    assert "In 200 trial questions on invented tables of 10,000 rows an answer was off by" in words(app)
    assert "it answers any number of them so" in words(app)


@pytest.mark.exhaustive
def test_a_smaller_budget_brings_options_of_its_own(page: Open, clinic: DeskTable):
    app = page("ask")
    radio(app).set_value("online-weights").run()
    for epsilon in ("0.5", "0.2", "0.05", "1"):
        field(app, "Epsilon (ε)").set_value(epsilon).run()
        assert not errors(app), epsilon


@pytest.mark.exhaustive
def test_a_target_error_that_was_typed_is_not_replaced(page: Open, clinic: DeskTable):
    app = page("ask")
    radio(app).set_value("online-weights").run()
    assert number(app, "Target error").value == 0.1
    number(app, "Target error").set_value(0.05).run()
    [error] = errors(app)
    assert "cannot be kept" in error
    number(app, "Target error").set_value(0.2).run()
    assert not errors(app)
    number(app, "Rows, roughly").set_value(1_000_000).run()
    number(app, "Target error").set_value(0.05).run()
    assert not errors(app)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", ["online-histogram", "online-tree", "online-weights", "online-laplace"])
def test_ask_in_every_way(page: Open, desk: Desk, people: DeskTable, name: str):
    app = opened(page, desk, name)
    assert not errors(app)
    assert "A statistic" not in next(x for x in app.segmented_control if x.label == "Compose it as").options
    [session] = desk.sessions(people)
    chooser(app, "Columns").set_value(["town"]).run()
    button(app, "Ask").click().run()
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(60, abs=8)
    assert "95 % of the time" in words(app)
    for kind in ("An interval", "A weighted sum"):
        way(app, kind)
        assert not errors(app)
        button(app, "Ask").click().run()
        assert not errors(app)
    way(app, "A formula or SQL")
    field(app, "Formula").set_value("age >= 50 and town in {north, south}").run()
    button(app, "Ask").click().run()
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(45, abs=10)
    assert metric(app, "Questions") == "4"
    assert len(session.transcript()) == 4


@pytest.mark.exhaustive
def test_statistics_that_are_not_sums_are_asked_where_they_are_answered(page: Open, desk: Desk, people: DeskTable):
    app = way(opened(page, desk, "online-median"), "A statistic")
    chooser(app, "Columns of the table").set_value(["town"]).run()
    assert not errors(app)
    assert "Share of rows in the fullest cell of the table of town." in words(app)
    button(app, "Ask").click().run()
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(60, abs=15)
    statistic = next(found for found in app.selectbox if found.label == "Statistic")
    statistic.set_value("top").run()
    number(app, "How many of them").set_value(2).run()
    button(app, "Ask").click().run()
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(90, abs=15)
    next(found for found in app.selectbox if found.label == "Statistic").set_value("difference").run()
    assert "Choose some cells for each of the two groups." in words(app)
    chooser(app, "One group").set_value([0]).run()
    chooser(app, "The other group").set_value([1, 2]).run()
    assert not errors(app)
    button(app, "Ask").click().run()
    assert not errors(app)
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(10, abs=10)
    next(found for found in app.selectbox if found.label == "Statistic").set_value("distance").run()
    button(app, "Ask").click().run()
    session = next(each for each in desk.sessions(people) if each.answers_statistics)
    assert len(session.transcript()) == 4 and metric(app, "Questions") == "4"


@pytest.mark.exhaustive
def test_a_group_by_is_priced_and_shown_as_a_table_and_bars(page: Open, desk: Desk, people: DeskTable):
    app = way(opened(page, desk, "online-histogram"), "A formula or SQL")
    statement = "SELECT town, COUNT(*) AS n, AVG(age) FROM people WHERE age >= 50 GROUP BY town"
    field(app, "Formula").set_value(statement).run()
    assert not errors(app)
    assert "It asks at most 9 questions for 3 groups and takes no hard answer" in words(app)
    assert desk.sessions(people)[0].transcript() == []
    button(app, "Ask").click().run()
    assert not errors(app)
    shown = app.dataframe[0].value
    assert list(shown["town"]) == ["north", "south", "west"]
    assert list(shown["n"]) == pytest.approx([1200, 600, 200], abs=150)
    assert (shown["n"] == shown["n"].round()).all(), "rows are whole"
    assert (shown["AVG(age) from"] <= shown["AVG(age)"]).all()
    assert "a row counts at the middle of its bin" in words(app)
    assert "each truth is within its interval at least 95 % of the time" in words(app)
    assert "at least 90 % of the time" in words(app)
    assert len(app.get("plotly_chart")) == 2
    assert len(desk.sessions(people)[0].transcript()) == 6
    field(app, "Formula").set_value("SELECT COUNT(*) FROM people WHERE town = 'west'").run()
    button(app, "Ask").click().run()
    assert float(metric(app, r"COUNT\(\*\)")) == pytest.approx(400, abs=150)
    assert "middle of its bin" not in words(app), "only rows are counted"
    assert len(desk.sessions(people)[0].transcript()) == 7


@pytest.mark.exhaustive
def test_asking_again_and_another_tab_spend_nothing_more(page: Open, desk: Desk, people: DeskTable):
    app = opened(page, desk, "online-laplace")
    button(app, "Ask").click().run()
    first = metric(app, "Share")
    spent = desk.statement(people).spent_share
    other = page("ask")
    button(other, "Ask").click().run()
    assert metric(other, "Share") == first
    assert metric(other, "Questions") == "1"
    assert desk.statement(people).spent_share == spent
    assert len(desk.sessions(people)) == 1


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize(
    "formula", ["agee > 3", "age >", "age >= 63", "town = east", "age between 90 and 10", "SELECT *"]
)
def test_a_malformed_formula_is_one_sentence_and_cannot_be_asked(
    page: Open, desk: Desk, people: DeskTable, formula: str
):
    app = way(opened(page, desk, "online-laplace"), "A formula or SQL")
    field(app, "Formula").set_value(formula).run()
    [error] = errors(app)
    assert error.endswith(".") or error.endswith("?")
    assert all(found.label != "Ask" for found in app.button)
    assert desk.sessions(people)[0].transcript() == []


@pytest.mark.exhaustive
def test_a_stored_release_answers_for_free(page: Open, desk: Desk, people: DeskTable):
    plan = desk.plan(people, [Marginals(order=2)], mechanism="gaussian", budget=Budget(1, "1e-9"))
    desk.release(plan)
    spent = desk.statement(people).spent_share
    app = page("ask")
    button(app, "Ask it").click().run()
    button(app, "Ask").click().run()
    assert not errors(app)
    assert metric(app, "Hard answers left") == "no limit"
    assert desk.statement(people).spent_share == spent


@pytest.mark.exhaustive
def test_a_closed_session_keeps_its_transcript(page: Open, desk: Desk, people: DeskTable):
    app = opened(page, desk, "online-laplace")
    button(app, "Ask").click().run()
    button(app, "Close it").click().run()
    assert "This session is closed" in words(app)
    assert all(found.label != "Ask" for found in app.button)
    frame = pd.read_csv(io.BytesIO(desk.sessions(people)[0].transcript_csv()))
    assert len(frame) == 1


@pytest.mark.exhaustive
def test_programs_are_let_in_by_a_token_that_is_shown_once(page: Open, desk: Desk, people: DeskTable):
    app = opened(page, desk, "online-laplace")
    [session] = desk.sessions(people)
    assert all(found.label != "Make a token" for found in app.button), "only what everybody may ask"
    desk.share(session.id, title="Ask us")
    app.run()
    number(app, "Questions a minute").set_value(12).run()
    button(app, "Make a token").click().run()
    [shown] = [found.value for found in app.code if "Bearer" in found.value]
    assert shown.startswith(f"/answers/{session.id}\n")
    key = desk.machine_keys.opened(session.id, shown.rpartition(" ")[2])
    assert key is not None and key.per_minute == 12
    app.run()
    assert not any("Bearer" in found.value for found in app.code)
    button(app, "Withdraw the token").click().run()
    assert desk.machine_keys.find(session.id) is None
    session.close()
    assert all("token" not in found.label for found in app.run().button)


@pytest.mark.exhaustive
def test_more_than_is_left_cannot_be_reserved(page: Open, desk: Desk, people: DeskTable):
    app = page("ask")
    field(app, "Epsilon (ε)").set_value("50").run()
    assert button(app, "Open the session").disabled
    assert any("more than is left" in error for error in errors(app))
    assert desk.statement(people).spent_share == 0


def test_a_table_that_is_small_for_a_session_is_warned_of_before_it_is_paid(page: Open, people: DeskTable):
    app = page("ask")
    assert not [warning for warning in app.warning if "small for this session" in warning.value]
    field(app, "Epsilon (ε)").set_value("0.002").run()
    assert [warning for warning in app.warning if "small for this session" in warning.value]
    assert "By the exact number of rows" in words(app)


@pytest.mark.exhaustive
def test_sessions_are_on_the_ledger(page: Open, desk: Desk, people: DeskTable):
    opened(page, desk, "online-weights")
    app = page("budget")
    assert not errors(app)
    [ledger] = app.dataframe
    assert list(ledger.value["State"]) == ["stored"]


@pytest.mark.exhaustive
def test_a_session_is_named_by_what_stays_true(page: Open, desk: Desk, people: DeskTable):
    """A browser keeps the text of a choice: a count in it would be one question behind."""
    app = opened(page, desk, "online-laplace").run()
    before = _sessions(app)
    button(app, "Ask").click().run()
    assert _sessions(app) == before
    button(app, "Close it").click().run()
    assert _sessions(app)[0].endswith("closed")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("rhat", "seen"), [(1.0123, "split R-hat 1.012"), (1.3, "has not mixed: split R-hat 1.300")])
def test_how_well_a_walk_mixed_is_shown_with_its_answers(
    page: Open, desk: Desk, people: DeskTable, monkeypatch: pytest.MonkeyPatch, rhat: float, seen: str
):
    desk.ask(people, columns=["town"], mechanism="median-walk", budget=Budget(4), alpha=0.2, rows=ROWS, chains=16)
    monkeypatch.setattr(MedianWalk, "mixing", lambda walk, state: Mixing(rhat=rhat, effective=321.4))
    app = page("ask")
    assert not errors(app)
    assert seen in words(app) and "as good as 321 draws" in words(app)


def _sessions(app: AppTest) -> list[str]:
    return list(next(found for found in app.selectbox if found.label == "Session").options)


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", ["0.05", 0])
def test_an_answer_of_a_release_says_how_far_off_it_is_or_why_not(
    page: Open, desk: Desk, people: DeskTable, measure: object
) -> None:
    plan = desk.plan(people, [Marginals(order=2)], mechanism="laplace", budget=Budget(4), measure=measure)
    desk.release(plan)
    session = desk.ask(people, release=plan.id)
    answer = session.answer(question("town = north", session.domain))
    said = _promised(answer, session.free)
    assert said.startswith("The true count is within ±" if measure else "No error is promised: the release")
    assert ("The true share is between" in said) == bool(measure)
