"""The page Limits: charts from sliders, for everybody, without a table."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from dashboard.door import access
from dashboard.views.common import state
from dashboard.views.limits import (
    attack_view,
    composition_view,
    finer_bits_view,
    linkage_view,
    parity_view,
    reconstruction_view,
    sections,
)
from tests.dashboard.conftest import unfolded
from tests.dashboard.listed import APP
from tests.dashboard.pages.kit.elements import Open, errors, words


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction_view, "RUNS", 1)
    monkeypatch.setattr(finer_bits_view, "BITS", (4, 6))
    monkeypatch.setattr(parity_view, "START", 16)


@pytest.mark.exhaustive
def test_a_section_is_computed_when_it_is_unfolded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "role", lambda: "visitor")
    app = AppTest.from_file(str(APP), default_timeout=60).run().switch_page("steps/limits.py").run()
    assert [header.value for header in app.header] == list(sections.SECTIONS)
    folded = len(app.get("plotly_chart"))
    assert folded == 1, "the first is open"
    app.session_state[sections.key("Some parity is always wrong")] = True
    assert len(app.run().get("plotly_chart")) == folded + 1


@pytest.mark.exhaustive
def test_a_visitor_moves_every_slider(desk: Desk, small: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """And sees examples over the demo's schema, nothing of the tables at the desk."""
    monkeypatch.setattr(access, "role", lambda: "visitor")
    app = unfolded(AppTest.from_file(str(APP), default_timeout=60)).run().switch_page("steps/limits.py").run()
    assert not errors(app) and not app.exception
    assert "2,000" not in words(app) and "560 counts" in words(app)
    assert "Examples over the schema of the demo" in words(app)
    assert len(app.table[0].value) == 8
    # Tables of one column: 2^3 of the columns label 3 records in every way, and 2^7 cells there are not.
    schema = Domain.from_json(state.demo_schema())
    assert 8 <= len(schema.names) < 16 and 64 <= sum(schema[name].size for name in schema.names) < 128
    assert app.table[0].value["VC dimension"].tolist()[0:3:2] == ["3 to 6", "2"]
    app.select_slider(key="limits-people").set_value(40).run()
    app.select_slider(key="limits-sets").set_value(2).run()
    app.select_slider(key="limits-epsilon").set_value(3.0).run()
    assert "40 invented people and 80 counts" in words(app) and "no attacker expects more than 96 %" in words(app)
    app.select_slider(key="limits-odds").set_value(0.1).run()
    assert "wins at most 53 % of the bets" in words(app)
    assert "500 of them together are (12.5, 1e-06)-private" in words(app)
    app.selectbox(key="limits-composition-kind").set_value(composition_view.KINDS[2]).run()
    assert "500 of them together are (2.74, 1e-06)-private" in words(app)
    before = app.table[1].value["by VC"].tolist()
    app.select_slider(key="limits-alpha").set_value(0.2).run()
    assert app.table[1].value["by VC"].tolist() != before
    assert not errors(app)


@pytest.mark.exhaustive
def test_facts_single_people_out(page: Open) -> None:
    app = page("limits", ["Names are not what gives people away"])
    people = linkage_view._people()
    assert people is not None and people["patient_id"].is_unique
    assert f"Of {len(people):,} people" in words(app)
    app.multiselect(key="limits-facts").set_value(["age", "sex", "region", "bmi"]).run()
    assert "are the only one with these facts" in words(app)
    app.multiselect(key="limits-facts").set_value([]).run()
    assert "Choose at least one fact." in words(app)


@pytest.mark.exhaustive
def test_formulas_of_ones_own(page: Open) -> None:
    app = page("limits", ["How many rows a class of questions needs"])
    app.text_area(key="limits-formulas").set_value("age >= 20\nage >= 40\nage >= 60").run()
    assert "3 formulas over" in words(app) and "VC dimension 1 (" in words(app)
    app.text_area(key="limits-formulas").set_value("height > 3").run()
    assert len(errors(app)) == 1 and "height" in errors(app)[0]


@pytest.mark.exhaustive
def test_the_curators_classes_are_those_of_the_plan(page: Open, small: DeskTable) -> None:
    app = page("limits", ["How many rows a class of questions needs"])
    column = next(name for name in small.domain.names if hasattr(small.domain[name], "low"))
    here = state.PageState(table=small.id)
    here.planned[small.id] = ReleaseTerms(
        queries=(Intervals(column=column),), mechanism="interval-tree", budget=Budget(1, 0)
    )
    app.session_state["desk-session"] = here
    app.text_area(key="limits-formulas").set_value(f"{column} >= 3").run()
    assert len(app.table[0].value) == 1 and "The classes of the plan under work" in words(app)


@pytest.mark.exhaustive
def test_every_bound_has_its_chart_and_its_sentence(page: Open) -> None:
    app = page("limits")
    assert not app.exception and not errors(app)
    said = words(app)
    for figures in (
        "the error is", "is lost for every method from", "One release of 16 synthetic records",
        "The mirrored mod keeps", "Not with fewer than", "need at least 100 rows",
    ):  # fmt: skip
        assert figures in said
    assert len(app.get("plotly_chart")) == 8
    app.select_slider(key="limits-hidden-epsilon").set_value(0.1).run()
    assert "With this desk's noise at ε 0.1" in words(app)
    app.select_slider(key="limits-bits-alpha").set_value(0.4).run()
    app.select_slider(key="limits-samples-epsilon").set_value(1.0).run()
    assert "The mirrored mod keeps ε 1 for every person" in words(app)
    app.select_slider(key="limits-learn-alpha").set_value(0.1).run()
    assert "need at least 25 rows" in words(app)
    assert not errors(app)


@pytest.mark.exhaustive
def test_the_curator_attacks_a_release(page: Open, desk: Desk) -> None:
    """To the end, beside what people do instead; nothing is spent and nothing is offered to take away."""
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({f"c{place}": generator.integers(0, 20, 600) for place in range(4)})
    domain = Domain(tuple(Integers(name=name, low=0, high=19) for name in frame))
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2), name="people")
    app = page("limits", [])
    assert "no stored release yet" in words(app)
    desk.release(desk.plan(table, [Marginals(order=2)], mechanism="laplace", budget=Budget(1)))
    before = desk.statement(table)
    app.run()
    app.button(key="limits-attack").click().run()
    app = _until_attacked(app)
    assert not errors(app)
    said = app.table[0].value
    assert said["Published"].tolist() == [
        "This release, made again",
        "Rows without names",
        "Groups of 5",
        "Exact tables",
    ]
    assert float(said["Who is inside"][1].split(" %")[0]) > 90, "rows without names are found again"
    assert "nobody expects more than 47 %" in words(app) and "curator only" in words(app)
    assert not app.get("download_button")
    assert desk.statement(table) == before


def _until_attacked(app: AppTest) -> AppTest:
    deadline = time.monotonic() + 60
    while app.session_state[attack_view.WORK].progress is not None:
        assert time.monotonic() < deadline, "the attack does not end"
        time.sleep(0.05)
    return app.run()


@pytest.mark.exhaustive
def test_no_visitor_sees_an_attack(desk: Desk, small: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "role", lambda: "visitor")
    app = unfolded(AppTest.from_file(str(APP), default_timeout=60)).run().switch_page("steps/limits.py").run()
    assert "Attack my release" not in words(app) and "small" not in [box.value for box in app.selectbox]
    assert not [found for found in app.button if found.label == "Attack"]
