"""The Release page: one summary of the plan under work, and what is left of a run."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.plan import Plan
from core.plans.statements import DeskTable, RunProgress
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from dashboard.views.common import charts
from dashboard.views.release import remaining_time
from dashboard.views.release.remaining_time import MOST_WATCHED, Clocks, RemainingTime, remaining, sentence, slowdown
from tests.dashboard.pages.kit.elements import button, errors, field, finished, go_on, words

Open = Callable[..., AppTest]
DOMAIN = Domain((Integers(name="x", low=0, high=15), Booleans(name="y")))


def test_nothing_planned_means_no_button(page: Open, small: DeskTable) -> None:
    app = page("release")
    assert "Nothing is planned" in words(app)
    assert [found.label for found in app.button] == []


@pytest.mark.exhaustive
def test_the_summary_has_everything_that_was_chosen(page: Open, small: DeskTable) -> None:
    app = page("plan")
    field(app, "Epsilon (ε)").set_value("0.4").run()
    next(found for found in app.number_input if found.label == "Synthetic rows").set_value(77).run()
    said = words(go_on(app)).replace("\\", "")
    what = ["1 table of 2 columns", "(77)", "usual settings", "adding or removing one row", "can be taken back"]
    price = ["ε = 0.4", "wins at most 60 % of the bets", "of what is left, for good", "95 % of the time"]
    for part in what + price:
        assert part in said
    assert not button(app, "Release").disabled


@pytest.mark.exhaustive
def test_the_price_is_that_of_today(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("plan")
    field(app, "Epsilon (ε)").set_value("1.9").run()
    assert not button(go_on(app), "Release").disabled
    desk.release(desk.plan(small, [Marginals(order=1)], mechanism="laplace", budget=Budget(1)))
    app.run()
    assert button(app, "Release").disabled
    assert "Nothing was spent" in errors(app)[0]


@pytest.mark.exhaustive
def test_planning_anew_leaves_the_old_result(page: Open, desk: Desk, small: DeskTable) -> None:
    app = go_on(page("plan"))
    button(app, "Release").click().run()
    finished(app, desk)
    assert "Released, stored and paid" in words(app)
    app.switch_page("steps/plan.py").run()
    field(app, "Epsilon (ε)").set_value("0.2").run()
    go_on(app)
    assert "Released, stored and paid" not in words(app)
    assert not button(app, "Release").disabled


@pytest.mark.exhaustive
def test_sessions_are_not_listed_as_releases(page: Open, desk: Desk, small: DeskTable) -> None:
    desk.ask(small, mechanism="online-histogram", budget=Budget("0.1"))
    assert not errors(page("release"))
    assert not [found for found in page("release").expander if "Earlier" in found.label]


def test_colours_of_counts_begin_at_none() -> None:
    """Also where every count is large: a scale from the smallest on would draw that as if it were none."""
    two = Domain((Booleans(name="a"), Booleans(name="b")))
    figure, _ = charts.counts(two, ("a", "b"), np.array([[400.0, 300.0], [361.0, 350.0]]))
    drawn = figure.to_plotly_json()["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (0, 20.0)


def test_remaining_time() -> None:
    plan = RemainingTime(noise=100, records=7)
    assert remaining(10, 0.2, 0.4, plan) == 20 + 7, "a fifth took ten seconds; as much again until the records"
    assert remaining(10, 0.05, 0.05, plan) == 90 + 7
    assert remaining(200, 0.05, 0.05, plan) == 7
    assert remaining(3, 0.0, 0.8, plan) == 4, "records are one step: the share stands still, the time does not"
    assert remaining(30, 0.0, 0.8, plan) == 0


def test_a_run_says_how_long(page: Open, desk: Desk, small: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    plan = desk.plan(small, [Marginals(order=1)], mechanism="laplace", budget=Budget(1), records=20_000_000)
    account = desk.ledger.account(desk.ledger.dataset(small.id).fingerprint)
    desk.ledger.reserve(
        plan_id=plan.id, dataset_id=small.id, plan_json=plan.content, amounts=plan.amounts, account=account
    )
    assert sentence(desk, plan.id, RunProgress(state="running", stage="Waiting")) == "It waits for the run before it."
    assert sentence(desk, plan.id, RunProgress(state="running", stage="Measuring", share=0.1)) == "About 40 s left."
    assert sentence(desk, "unknown", RunProgress(state="running", stage="Measuring", share=0.1)) == ""


def test_a_busy_machine_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, factor in ((0.0, 1.0), (1.0, 1.0), (10.0, 4.0), (20.0, 7.5)):
        monkeypatch.setattr(os, "getloadavg", lambda now=load: (now, 0.0, 0.0))
        assert slowdown() == factor
    assert RemainingTime(noise=2, records=1).times(6) == RemainingTime(noise=12, records=6)


@pytest.mark.parametrize(
    ("share", "seconds", "said"),
    [
        (0.9, 0.5, "Nearly done."),
        (0.9, 6.0, "It takes longer than expected, and goes on."),
        (0.9, 0.0, "It takes longer than expected, and goes on."),
        (0.4, 0.5, "It takes longer than expected, and goes on."),
    ],
)
def test_nearly_done_is_said_where_it_is(
    monkeypatch: pytest.MonkeyPatch, share: float, seconds: float, said: str
) -> None:
    """When the time is over that was told at first."""
    clocks = Clocks()
    monkeypatch.setattr(remaining_time, "_clocks", lambda: clocks)
    monkeypatch.setattr(
        remaining_time, "_estimate", lambda plan_id, desk: RemainingTime(noise=seconds, records=seconds)
    )
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    clocks.end("plan", 0.0)
    assert sentence(None, "plan", RunProgress(state="running", stage="x", share=share)) == said  # type: ignore[arg-type]


def test_what_is_left_never_grows() -> None:
    clocks = Clocks()
    ends = [clocks.end("a", end) for end in (110.0, 105.0, 400.0, 104.0)]
    assert ends == [110, 105, 105, 104], "a slow stretch does not move the end away"
    assert clocks.end("b", 400.0) == 400
    for place in range(MOST_WATCHED):
        clocks.end(str(place), 1.0)
    assert clocks.end("a", 900.0) == 900, "long forgotten"


def test_clocks_start_again_with_the_run() -> None:
    clocks = Clocks()
    assert clocks.elapsed("a", 0.2, 100.0) == (0.0, 0.0)
    assert clocks.elapsed("a", 0.5, 103.0) == (3.0, pytest.approx(0.3))
    assert clocks.elapsed("a", 0.1, 110.0) == (0.0, 0.0)
    for place in range(MOST_WATCHED):
        clocks.elapsed(str(place), 0.0, 111.0)
    assert clocks.elapsed("a", 0.4, 120.0) == (0.0, 0.0), "long forgotten"


@pytest.mark.exhaustive
def test_a_delta_that_promises_little_is_warned_of_before_it_is_paid(page: Open, desk: Desk, small: DeskTable) -> None:
    rough = desk.add_table(
        pd.DataFrame({"x": [1, 2], "y": [True, False]}), DOMAIN, unit=Unit.row(), budget=Budget(2, 0.99)
    )
    assert desk.tables()[0].id == rough.id
    app = page("plan")
    assert any("about all rows" in found.value for found in app.warning)
    field(app, "Delta (δ)").set_value("1e-9").run()
    assert not any("means little" in found.value for found in app.warning)
    field(app, "Delta (δ)").set_value("0.5").run()
    assert any("every other row" in found.value for found in app.warning)
    assert any("every other row" in found.value for found in go_on(app).warning)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("delta", "told"), [("1e-9", True), ("0", False)])
def test_noise_that_needs_no_delta_is_explained_where_one_was_allowed(
    page: Open, desk: Desk, delta: str, told: bool
) -> None:
    frame = pd.DataFrame({"x": range(16), "y": [True, False] * 8})
    desk.add_table(frame, DOMAIN, unit=Unit.row(), budget=Budget(2, delta))
    app = page("plan")
    said = [found.value for found in (*app.markdown, *app.caption) if "δ is 0 here" in found.value]
    assert bool(said) == told
    assert all("would not err clearly less" in found for found in said)
    assert ("δ is 0 here" in words(go_on(app))) == told


def named(desk: Desk, table: DeskTable) -> Plan:
    """A release that the curator has given a name."""
    plan = desk.plan(table, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    desk.release(plan)
    desk.rename(plan.id, "Draft for the board")
    return plan


@pytest.mark.exhaustive
def test_a_release_is_renamed_put_away_and_brought_back(page: Open, desk: Desk, small: DeskTable) -> None:
    plan = named(desk, small)
    app = page("release")
    [chooser] = [box for box in app.selectbox if box.label == "Release"]
    assert chooser.options[0].startswith("Draft for the board · ")
    desk.archive(plan.id)
    app.run()
    assert not [box for box in app.selectbox if box.label == "Release"]
    app.button(key=f"restore-{plan.id}").click().run()
    assert [box for box in app.selectbox if box.label == "Release"] and not errors(app)


@pytest.mark.exhaustive
def test_a_release_that_is_put_away_says_so_where_it_is_shown(page: Open, desk: Desk, small: DeskTable) -> None:
    plan = named(desk, small)
    app = page("release")
    button(app, "Open it").click().run()
    [said] = [found.value for found in app.markdown if "Draft for the board" in found.value]
    assert "curator only" in said, "visitors read the title of what is shared, not this name"
    app.button(key=f"archive-{plan.id}").click().run()
    assert "This release is put away" in words(app) and desk.labels.of(plan.id).archived
    app.button(key=f"unarchive-{plan.id}").click().run()
    assert "This release is put away" not in words(app) and not desk.labels.of(plan.id).archived
    assert not errors(app)


@pytest.fixture
def few(desk: Desk) -> DeskTable:
    generator = np.random.default_rng(7)
    frame = pd.DataFrame({name: generator.integers(0, 8, 150) for name in ("one", "two", "three")})
    domain = Domain(tuple(Integers(name=name, low=0, high=7) for name in frame))
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(900), name="few")


@pytest.mark.exhaustive
def test_too_small_a_table_is_told_before_and_after(page: Open, desk: Desk, few: DeskTable):
    before = page("plan")
    assert not errors(before)
    assert any("small for what is asked" in str(found.value) for found in before.warning)
    plan = desk.plan(few, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    release = desk.release(plan)
    assert "small for what is asked" in (release.caution() or "")
    desk.share(plan.id, title="Few")
    after = page("shared")
    assert any("small for what is asked" in str(found.value) for found in after.warning)
    large = desk.plan(few, [Marginals(order=2)], mechanism="laplace", budget=Budget(500))
    assert desk.release(large).caution() is None, "with little noise there is nothing to warn of"
