"""The Plan page: mechanisms beside each other, and figures that get better."""

from __future__ import annotations

import json
import time

import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.mechanisms.smalldb.smalldb import SmallDb
from core.planning import recommendation
from core.planning.simulation import kept_trials
from core.plans.statements import DeskTable
from core.table.table import Table
from dashboard.views.plan import compare_chart, comparison, offers
from dashboard.views.plan.trials import public_trials
from tests.dashboard.pages.kit.elements import Open, field
from tests.dashboard.pages.kit.plan_page import chart, mechanism, pick, planned, session, study


@pytest.mark.exhaustive
def test_one_chart_compares_what_fits(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    lines = {line["name"]: line for line in chart(app)["data"]}
    titles = _titles(app)
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


def _titles(app: AppTest) -> list[str]:
    """Mechanisms as they are called, which is the first line below what they are for."""
    return [caption.split(".  \n")[0] for caption in mechanism(app).proto.captions]


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
def test_mechanisms_for_study_stand_apart(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    offered = list(mechanism(app).options)
    assert not any(offers.STUDIED in option for option in offered)
    study(app)
    assert list(mechanism(app).options[: len(offered)]) == offered, "below the others"
    added = mechanism(app).options[len(offered) :]
    assert added and all(option.endswith(offers.STUDIED) for option in added)
    names, titles = {line["name"] for line in chart(app)["data"]}, _titles(app)
    assert names & set(titles[: len(offered)])
    assert not names & set(titles[len(offered) :]), "no competitors in the chart"
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
