"""The Accuracy page: exact errors, marked as private, with nothing to take away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from dashboard.views.accuracy import accuracy_charts
from tests.dashboard.pages.test_pages import Open, errors, words


@pytest.fixture
def people(desk: Desk) -> DeskTable:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({"age": generator.integers(0, 50, 900), "height": generator.integers(0, 8, 900)})
    domain = Domain((Integers(name="age", low=0, high=99, bins=20), Integers(name="height", low=0, high=7)))
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(900), name="people")


def release(desk: Desk, table: DeskTable, query: object, epsilon: float, mechanism: str = "laplace") -> None:
    desk.release(desk.plan(table, [query], mechanism=mechanism, budget=Budget(epsilon)))


def test_without_a_release_there_is_nothing_to_compare(page: Open, people: DeskTable):
    app = page("accuracy")
    assert not errors(app)
    assert "no stored release yet" in words(app)


def test_errors_are_exact_and_marked(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=1), 100)
    app = page("accuracy")
    assert not errors(app)
    assert "Curator only" in words(app)
    overview, worst = app.table[0].value, app.table[1].value
    assert overview["Mean error"][0].endswith(r"rows\)")
    # At epsilon 100 noise is nearly always 0, so the release agrees with the table.
    assert _percent(worst["Error"]).max() < 1
    assert _percent(worst["True"]).between(0, 100).all()


def _percent(cells: pd.Series) -> pd.Series:
    return cells.str.replace("\\", "").str.removesuffix(" %").astype(float)


def test_nothing_can_be_taken_away(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=1), 1)
    app = page("accuracy")
    assert not app.get("download_button")
    assert not app.dataframe, "a grid offers its cells as a file"
    notes = [str(found.value) for found in app.main.markdown if ":small[" in str(found.value)]
    assert notes
    assert all("curator only" in note for note in notes)


def test_several_releases_and_classes_side_by_side(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Intervals(column="age"), 1, "interval-tree")
    release(desk, people, Marginals(order=2), 10)
    app = page("accuracy")
    chooser = next(found for found in app.multiselect if found.label == "Releases to compare")
    chooser.set_value([entry.plan_id for entry in desk.statement(people).entries]).run()
    assert not errors(app)
    assert len(app.table[0].value) == 2


@pytest.mark.exhaustive
def test_halfspaces_have_a_margin_chart(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Halfspaces(columns=("age", "height"), directions=8), 5, "halfspace-fit")
    app = page("accuracy")
    assert not errors(app)
    assert "largest error by margin" in words(app)


def test_the_worst_interval_is_found():
    column = Integers(name="x", low=0, high=9)
    real = np.full(10, 10.0)
    moved = real.copy()
    moved[2:4] += 5
    moved[7] -= 10
    _, alt, worst = accuracy_charts.running(column, real, moved)
    brute = max(abs((moved - real)[i:j].sum()) / 100 for i in range(10) for j in range(i + 1, 11))
    assert worst == pytest.approx(brute)
    assert "between" in alt
