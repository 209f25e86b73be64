"""The Plan page: a budget that is typed, sought for an accuracy, or begun from a level of harm."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.base.odds import HARM, odds
from core.desk.desk import Desk
from core.planning import budget_for
from core.planning.better_noise import budgets_within
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.schema.domain import Domain
from dashboard.views.plan import offers
from dashboard.views.plan.plan_form import Accuracy
from tests.dashboard.pages.kit.elements import Open, button, errors, field, finished, go_on, number, words
from tests.dashboard.pages.kit.plan_page import by_accuracy, mechanism, pick, planned


@pytest.mark.exhaustive
@pytest.mark.parametrize(("label", "value", "name"), [("Epsilon (ε)", "-3", "Epsilon"), ("Delta (δ)", "1", "Delta")])
def test_bad_budget_of_a_release(page: Open, small: DeskTable, label: str, value: str, name: str) -> None:
    app = page("plan")
    field(app, label).set_value(value).run()
    [error] = errors(app)
    assert error.startswith(f"{name}: must be")
    go_on(app)
    assert "Nothing is planned" in words(app)
    assert all(found.label != "Release" for found in app.button)


@pytest.mark.exhaustive
def test_more_than_is_left_cannot_be_released(page: Open, small: DeskTable) -> None:
    app = page("plan")
    field(app, "Epsilon (ε)").set_value("5").run()
    assert "more than is left" in words(app)
    go_on(app)
    assert "Nothing was spent" in errors(app)[0]
    assert button(app, "Release").disabled


@pytest.mark.exhaustive
def test_what_is_shown_as_left_can_be_spent(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("budget")
    most = app.metric[0].value
    app.switch_page("steps/plan.py").run()
    field(app, "Epsilon (ε)").set_value(most).run()
    assert not errors(app)
    assert not button(go_on(app), "Release").disabled


@pytest.mark.exhaustive
def test_chosen_mechanism_stays_while_the_budget_is_tuned(page: Open, small: DeskTable) -> None:
    def mechanism(app: AppTest) -> Any:
        return next(radio for radio in app.radio if radio.label == "Mechanism")

    app = page("plan")
    other = mechanism(app).options[-1]
    mechanism(app).set_value("laplace").run()
    field(app, "Epsilon (ε)").set_value("0.7").run()
    assert mechanism(app).value == "laplace"
    assert other in mechanism(app).options
    mechanism(app).set_value("gaussian").run()
    field(app, "Delta (δ)").set_value("0").run()
    assert not errors(app)
    assert mechanism(app).value != "gaussian", "Gaussian noise cannot be had without a delta"
    assert not button(go_on(app), "Release").disabled


@pytest.mark.exhaustive
def test_account_without_delta(page: Open, desk: Desk, small: DeskTable) -> None:
    frame, domain = pd.DataFrame({"ill": [True, False]}), small.domain.project(["ill"])
    desk.add_table(frame, domain, unit=Unit.row("replace"), budget=Budget(1))
    app = page("plan")
    assert field(app, "Delta (δ)").value == "0"
    button(go_on(app), "Release").click().run()
    assert "Released, stored and paid" in words(finished(app, desk))
    assert not errors(app)


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
    assert all(offer.reason.startswith("±") for offer in priced.found), "what it is for stands above already"
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
    assert odds(epsilon, delta, "this release") in words(app)
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
