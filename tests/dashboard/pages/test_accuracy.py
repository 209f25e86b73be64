"""The Accuracy page: exact errors, marked as private, with nothing to take away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.planning.quality.quality import JudgedColumn
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Dates, Domain, Integers
from dashboard.views.accuracy import accuracy_charts, quality_charts
from dashboard.views.common import charts
from tests.dashboard.pages.kit.elements import Open, errors, words


@pytest.fixture
def people(desk: Desk) -> DeskTable:
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({"age": generator.integers(0, 50, 900), "height": generator.integers(0, 8, 900)})
    domain = Domain((Integers(name="age", low=0, high=99, bins=20), Integers(name="height", low=0, high=7)))
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(900), name="people")


def release(desk: Desk, table: DeskTable, query: object, epsilon: float, mechanism: str = "laplace") -> None:
    desk.release(desk.plan(table, [query], mechanism=mechanism, budget=Budget(epsilon)))


def test_small_figures_of_columns_are_of_one_size_side_by_side():
    """Five columns are three and two: without the others' lines the two were drawn larger."""
    half = np.array([0.5, 0.5])
    five = [JudgedColumn(name=name, labels=("no", "yes"), truth=half, released=half) for name in "abcde"]
    left, right = (quality_charts.columns(part, quality_charts.lines_of(five[:3]))[0] for part in (five[:3], five[3:]))
    assert left.layout.height == right.layout.height
    for axis in ("xaxis", "yaxis"):
        assert left.layout[axis].domain == right.layout[axis].domain


def test_without_a_release_there_is_nothing_to_compare(page: Open, people: DeskTable):
    app = page("accuracy")
    assert not errors(app)
    assert "no stored release yet" in words(app)


@pytest.mark.exhaustive
def test_errors_are_exact_and_marked(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=1), 100)
    app = page("accuracy")
    assert not errors(app)
    assert "Curator only" in words(app)
    overview, worst = (
        next(each.value for each in app.table if column in each.value) for column in ("Mean error", "Question")
    )
    assert overview["Mean error"][0].endswith(r"rows\)")
    # At epsilon 100 noise is nearly always 0, so the release agrees with the table.
    assert _percent(worst["Error"]).max() < 1
    assert _percent(worst["True"]).between(0, 100).all()


def _percent(cells: pd.Series) -> pd.Series:
    return cells.str.replace("\\", "").str.removesuffix(" %").astype(float)


@pytest.mark.exhaustive
def test_nothing_can_be_taken_away(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=1), 1)
    app = page("accuracy")
    assert not app.get("download_button")
    assert not app.dataframe, "a grid offers its cells as a file"
    notes = [str(found.value) for found in app.main.markdown if ":small[" in str(found.value)]
    assert len(notes) > 5
    assert not [note for note in notes if "curator only" not in note], "only what was measured privately may be told"


@pytest.mark.exhaustive
def test_several_releases_and_classes_side_by_side(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Intervals(column="age"), 1, "interval-tree")
    release(desk, people, Marginals(order=2), 10)
    app = page("accuracy")
    chooser = next(found for found in app.multiselect if found.label == "Releases to compare")
    chooser.set_value([entry.plan_id for entry in desk.statement(people).entries]).run()
    assert not errors(app)
    assert len(next(each.value for each in app.table if "Expected mean" in each.value)) == 2


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


@pytest.mark.exhaustive
def test_a_release_is_judged_at_a_glance(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=2), 100)
    app = page("accuracy")
    assert not errors(app)
    assert "Quality at a glance" in words(app)
    [score] = [metric.value for metric in app.metric if metric.label == "Score, of 100"]
    assert float(score) > 97, "at epsilon 100 there is next to no noise"
    pairs, numbers, correlations = (
        next(each.value for each in app.table if column in each.value)
        for column in ("Rows to be moved", "Column", "Columns")
    )
    assert len(pairs) == 1 and pairs["Pair"][0] == "age and height"
    assert list(numbers["Column"]) == ["age", "height"] and set(numbers["Inside"]) == {"yes"}
    quartiles = next(each.value for each in app.table if "Quartiles" in each.value)
    assert list(quartiles["Column"]) == ["age", "height"] and set(quartiles["Inside"]) == {"3 of 3"}
    assert len(correlations) == 1


@pytest.mark.exhaustive
def test_lost_associations_are_warned_of(page: Open, desk: Desk):
    values = np.random.default_rng(6).integers(0, 8, 300)
    domain = Domain((Integers(name="one", low=0, high=7), Integers(name="same", low=0, high=7)))
    frame = pd.DataFrame({"one": values, "same": values})
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(900), name="small")
    desk.release(desk.plan(table, [Marginals(order=2)], mechanism="laplace", budget=Budget("0.01")))
    warned = "\n".join(str(found.value) for found in page("accuracy").warning)
    assert "notable association" in warned and "one and same" in warned


@pytest.mark.exhaustive
def test_sessions_are_compared_with_the_truth(page: Open, desk: Desk, people: DeskTable):
    session = desk.ask(people, mechanism="online-laplace", budget=Budget(100), questions=20)
    session.answer(Marginals(order=1).member(people.domain, 0))
    app = page("accuracy")
    assert not errors(app)
    assert "no stored release yet" in words(app)
    assert "1 answer: off by 0." in words(app)
    answers = next(each.value for each in app.table if "Answered" in each.value)
    assert len(answers) == 1 and answers["Interval"][0] == "held"


@pytest.mark.slow
def test_a_model_learns_from_the_release(page: Open, desk: Desk, people: DeskTable):
    release(desk, people, Marginals(order=2), 100)
    app = page("accuracy")
    next(found for found in app.button if found.label == "Try it").click().run()
    assert not errors(app)
    assert "learnt from the release gets" in words(app)


def test_differences_have_diverging_colours_and_say_so():
    domain = Domain((Integers(name="x", low=0, high=1), Integers(name="y", low=0, high=1)))
    real, released = np.array([[5.0, 5.0], [5.0, 5.0]]), np.array([[9.0, 5.0], [5.0, 1.0]])
    figure, alt = accuracy_charts.side_by_side(domain, ["x", "y"], real, released)
    [heat] = figure.data
    assert (heat.zmin, heat.zmax) == (-4, 4), "no difference is the middle of the scale"
    assert heat.colorscale[0][1] != heat.colorscale[-1][1]
    assert alt.startswith("Released less real counts")
    assert "largest difference is 4 rows" in alt


def test_days_are_marked_by_their_first_and_the_worst_interval_is_seen() -> None:
    days = Dates(name="day", low="2024-01-01", high="2024-12-30", bins=5)
    real, released = np.full(5, 100.0), np.array([100.0, 100.0, 150.0, 100.0, 100.0])
    figure, _, worst = accuracy_charts.running(days, real, released)
    assert worst > 0
    [shaded] = figure.layout.shapes
    assert shaded.x1 - shaded.x0 >= 1, "an interval of one bin is as wide as a bin"
    assert figure.layout.xaxis.ticktext[0] == "2024-01-01" and figure.layout.xaxis.title.text == "day, bins from"


@pytest.mark.parametrize(
    ("low", "high", "bins", "first", "last"),
    [
        ("2022-01-01", "2024-12-31", None, "2022-01", "2024-10"),
        ("2023-01-15", "2023-12-14", None, "2023-02", "2023-12"),
        ("1900-01-01", "2100-12-31", 201, "1900", "2080"),
    ],
)
def test_many_days_are_marked_as_a_calendar_is(low: str, high: str, bins: int | None, first: str, last: str) -> None:
    days = Dates(name="day", low=low, high=high, bins=bins, missing=True)
    labels = [days.label(code) for code in range(days.size)]
    axis = charts.axis(days, labels)
    *marks, missing = axis["ticktext"]
    assert (marks[0], marks[-1]) == (first, last) and missing == labels[-1]
    assert 3 <= len(marks) <= 13
    assert all(value.startswith(mark) for value, mark in zip(axis["tickvals"], marks, strict=False))
