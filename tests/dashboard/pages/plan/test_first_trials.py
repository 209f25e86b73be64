"""Trials that take long do not hold up the Plan page, and what was typed before is still there when they end."""

from __future__ import annotations

from concurrent.futures import wait
from threading import Event
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.plans.statements import DeskTable
from dashboard.views.common import state
from dashboard.views.plan import comparison, offers
from dashboard.views.plan.trials import first_trials, public_trials
from tests.dashboard.pages.kit.elements import Open, errors, field, number
from tests.dashboard.pages.kit.plan_page import mechanism, pick, planned, session, study


@pytest.fixture
def gate(page: Open, monkeypatch: pytest.MonkeyPatch) -> Event:
    """Trials begin when it is opened; pages do not wait for them."""
    opened, price = Event(), offers.offers

    def slow(*args: Any) -> Any:
        assert opened.wait(60)
        return price(*args)

    monkeypatch.setattr(offers, "offers", slow)
    monkeypatch.setattr(first_trials, "PATIENCE", 0.0)
    opened.set()
    return opened


def waits(app: AppTest) -> bool:
    return any("Trying the mechanisms" in caption.value for caption in app.caption)


def ended(app: AppTest) -> AppTest:
    """The page as it looks again by itself once the trials have ended."""
    while trying := session(app).trying:
        wait([work for _, work in trying.values()], 60)
        app.run()
    return app


@pytest.mark.exhaustive
def test_the_page_goes_on_while_mechanisms_are_tried(page: Open, mixed: DeskTable, gate: Event) -> None:
    app = ended(pick(page("plan"), "intervals"))
    ended(mechanism(app).set_value("interval-tree").run())
    ended(number(app, "Branching").set_value(2).run())
    assert planned(app).options == {"branching": 2}

    gate.clear()
    field(app, "Epsilon (ε)").set_value("0.3").run()
    assert waits(app)
    assert not errors(app)
    assert not session(app).planned
    # Another wish takes the place of one that was not tried yet.
    field(app, "Epsilon (ε)").set_value("0.4").run()
    assert waits(app)
    gate.set()
    ended(app)
    assert not waits(app)
    assert planned(app).options == {"branching": 2}
    assert float(planned(app).budget.epsilon) == 0.4


@pytest.mark.exhaustive
def test_what_is_there_stays_while_better_figures_are_computed(page: Open, mixed: DeskTable, gate: Event) -> None:
    app = ended(pick(page("plan"), "intervals"))
    before = planned(app)
    gate.clear()
    session(app).refined += 1  # as when more trials have ended
    app.run()
    assert waits(app)
    assert mechanism(app).options
    assert planned(app) == before
    gate.set()
    ended(app)
    assert not waits(app)


@pytest.mark.exhaustive
def test_comparing_goes_on_beside_fields_that_are_drawn_already(
    page: Open, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of mechanisms for study and their options stand above; only what is not drawn may be filled in."""
    app = study(pick(page("plan"), "intervals"))
    mechanism(app).set_value("interval-tree").run()
    opened, compared = Event(), comparison._lines

    def slow(*args: Any) -> Any:
        assert opened.wait(60)
        return compared(*args)

    monkeypatch.setattr(comparison, "_lines", slow)
    monkeypatch.setattr(first_trials, "PATIENCE", 0.2)
    number(app, "Branching").set_value(2).run()
    app.run()
    assert any("Comparing the mechanisms" in caption.value for caption in app.caption)
    assert not errors(app)
    assert planned(app).options == {"branching": 2}
    opened.set()
    ended(app)
    assert not errors(app)


@pytest.mark.parametrize(
    ("said", "meant"),
    [(None, public_trials.SECONDS), ("0", 0.0), ("2.5", 2.5), ("-1", 0.0), ("x", public_trials.SECONDS)],
)
def test_a_server_says_how_long_figures_get_better(
    monkeypatch: pytest.MonkeyPatch, said: str | None, meant: float
) -> None:
    monkeypatch.delenv(public_trials.SECONDS_VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(public_trials.SECONDS_VARIABLE, said)
    assert public_trials.seconds() == meant


def test_a_session_remembers_the_latest_outcomes_until_figures_are_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_trials, "PATIENCE", 60)
    here, made = state.PageState(), []

    def make(about: int) -> int:
        made.append(about)
        return about

    def outcome(about: int) -> int | None:
        return first_trials.found(here, "x", about, lambda: make(about))

    for about in range(1, first_trials.KEPT + 6):
        assert outcome(about) == about
    assert len(here.found) == first_trials.KEPT
    assert outcome(first_trials.KEPT + 5) == made[-1] == len(made), "it was there"
    here.refined += 1
    assert outcome(first_trials.KEPT + 5) == first_trials.KEPT + 5
    assert len(made) == first_trials.KEPT + 6
