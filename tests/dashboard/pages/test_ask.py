"""The Ask page: open a session, ask in every way, come back, close."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.registry import interactive
from core.schema.domain import Domain
from tests.dashboard.pages.test_pages import Open, button, chooser, errors, field, finished, words

ROWS = 4_000


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


def way(app: AppTest, name: str) -> AppTest:
    return next(found for found in app.segmented_control if found.label == "Compose it as").set_value(name).run()


def metric(app: AppTest, label: str) -> str:
    return next(found.value for found in app.metric if found.label == label)


def test_a_small_universe_is_recommended_a_histogram_and_every_mechanism_is_offered(page: Open, people: DeskTable):
    app = page("ask")
    assert len(radio(app).options) == len(interactive)
    assert radio(app).value == "online-histogram"
    assert not errors(app)


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", ["online-histogram", "online-weights", "online-laplace"])
def test_ask_in_every_way(page: Open, desk: Desk, people: DeskTable, name: str):
    app = opened(page, desk, name)
    assert not errors(app)
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
    way(app, "A formula")
    field(app, "Formula").set_value("age >= 50 and town in {north, south}").run()
    button(app, "Ask").click().run()
    assert float(metric(app, "Share").removesuffix(" %")) == pytest.approx(45, abs=10)
    assert metric(app, "Questions") == "4"
    assert len(session.transcript()) == 4


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


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("formula", ["agee > 3", "age >", "age >= 63", "town = east", "age between 90 and 10"])
def test_a_malformed_formula_is_one_sentence_and_cannot_be_asked(
    page: Open, desk: Desk, people: DeskTable, formula: str
):
    app = way(opened(page, desk, "online-laplace"), "A formula")
    field(app, "Formula").set_value(formula).run()
    [error] = errors(app)
    assert error.endswith(".") or error.endswith("?")
    assert all(found.label != "Ask" for found in app.button)
    assert desk.sessions(people)[0].transcript() == []


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


def test_a_closed_session_keeps_its_transcript(page: Open, desk: Desk, people: DeskTable):
    app = opened(page, desk, "online-laplace")
    button(app, "Ask").click().run()
    button(app, "Close it").click().run()
    assert "This session is closed" in words(app)
    assert all(found.label != "Ask" for found in app.button)
    frame = pd.read_csv(io.BytesIO(desk.sessions(people)[0].transcript_csv()))
    assert len(frame) == 1


def test_more_than_is_left_cannot_be_reserved(page: Open, desk: Desk, people: DeskTable):
    app = page("ask")
    field(app, "Epsilon (ε)").set_value("50").run()
    assert button(app, "Open the session").disabled
    assert any("more than is left" in error for error in errors(app))
    assert desk.statement(people).spent_share == 0


def test_sessions_are_on_the_ledger(page: Open, desk: Desk, people: DeskTable):
    opened(page, desk, "online-weights")
    app = page("budget")
    assert not errors(app)
    [ledger] = app.dataframe
    assert list(ledger.value["State"]) == ["stored"]


def test_a_session_is_named_by_what_stays_true(page: Open, desk: Desk, people: DeskTable):
    """A browser keeps the text of a choice: a count in it would be one question behind."""
    app = opened(page, desk, "online-laplace").run()
    before = _sessions(app)
    button(app, "Ask").click().run()
    assert _sessions(app) == before
    button(app, "Close it").click().run()
    assert _sessions(app)[0].endswith("closed")


def _sessions(app: AppTest) -> list[str]:
    return list(next(found for found in app.selectbox if found.label == "Session").options)
