"""The Decide page: a problem, its public part, its price, one press, and the decision found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import problems
from core.schema.domain import Booleans, Categories, Domain, Integers
from dashboard.views.common.lines_editor import read_lines
from dashboard.views.decide.decision_pictures import picture
from tests.dashboard.pages.kit.elements import button, errors, finished, words

Open = Callable[..., AppTest]
VERTICES = ("p", "q", "r")
DOMAIN = Domain(
    (
        Categories(name="from", values=VERTICES),
        Categories(name="to", values=VERTICES),
        Integers(name="x", low=0, high=3),
        Integers(name="y", low=0, high=3),
        Booleans(name="a"),
        Booleans(name="b"),
    )
)
ROWS = pd.DataFrame(
    {
        "from": ["p", "q", "p"],
        "to": ["q", "r", "r"],
        "x": [0, 1, 3],
        "y": [2, 1, 3],
        "a": [True, False, True],
        "b": [False, False, True],
    }
)
SITES = [["north", 0, 3], ["south", 0, 0], ["east", 3, 1]]
PUBLIC: dict[str, dict[str, Any]] = {
    "k-median": {"sites": SITES, "columns": ["x", "y"], "k": 1},
    "facility-superset": {"sites": SITES, "columns": ["x", "y"], "opening": 2.0},
    "k-means": {"columns": ["x", "y"], "k": 2},
    "min-cut": {"columns": ["from", "to"]},
    "vertex-cover": {"columns": ["from", "to"]},
    "vertex-cover-size": {"columns": ["from", "to"]},
    "set-cover": {"members": [["one", "p"], ["one", "q"], ["two", "r"]], "column": "from"},
    "public-projects": {"columns": ["a", "b"], "k": 1},
    "rule": {"label": "a", "columns": ["b"]},
}


@pytest.fixture
def calls(desk: Desk) -> DeskTable:
    return desk.add_table(ROWS, DOMAIN, unit=Unit.row(), budget=Budget(4), name="calls")


def chosen(app: AppTest, problem: str) -> AppTest:
    box = next(found for found in app.selectbox if found.label == "Problem")
    return box.set_value(problem).run()


def columns(app: AppTest, names: list[str]) -> AppTest:
    return app.multiselect[0].set_value(names).run()


def test_without_a_table_there_is_nothing_to_decide(page: Open) -> None:
    assert "no table yet" in words(page("decide"))


def test_a_cut_from_the_form_to_the_files(page: Open, desk: Desk, calls: DeskTable) -> None:
    app = columns(chosen(page("decide"), "min-cut"), ["from", "to"])
    assert not errors(app)
    said = words(app)
    assert "above the smallest cut" in said and "for good" in said
    assert not desk.statement(calls).entries, "looking costs nothing"
    button(app, "Rehearse").click().run()
    assert not errors(app) and len(app.dataframe[0].value) == 5
    assert not desk.statement(calls).entries, "rehearsing costs nothing"
    button(app, "Decide").click().run()
    finished(app, desk)
    app.run()
    assert "Decided, stored and paid" in words(app)
    assert [entry.status for entry in desk.statement(calls).entries] == ["stored"]
    assert not errors(app)
    # Found again in another tab, at no cost.
    other = page("decide")
    button(other, "Open it").click().run()
    assert "Decided, stored and paid" in words(other)
    assert not errors(page("budget"))
    assert not errors(page("release"))


@pytest.mark.exhaustive
def test_sites_are_typed_and_mistakes_are_sentences(page: Open, desk: Desk, calls: DeskTable) -> None:
    app = columns(chosen(page("decide"), "k-median"), ["x", "y"])
    assert any("Still to be filled in" in found.value for found in app.info)
    app.text_area[0].set_value("site, x, y\nnorth, 0, 3\nsouth, 0, 0\neast, 3, 1").run()
    [problem] = errors(app)
    assert "below the number of sites" in problem.replace("\\", "")
    next(found for found in app.number_input if found.label == "Sites to open").set_value(2).run()
    assert not errors(app)
    assert "seems to cost" in words(app)
    app.text_area[0].set_value("north, 0, 3\nsouth, 0\neast, 3, 1").run()
    assert "two coordinates" in errors(app)[0]
    assert not desk.statement(calls).entries


@pytest.mark.exhaustive
def test_misfits_stop_nothing_and_are_told_to_the_curator(page: Open, desk: Desk) -> None:
    stray = ROWS.assign(**{"from": ["p", "nobody", "r"], "to": ["q", "r", "r"]})
    table = desk.add_table(stray, DOMAIN, unit=Unit.row(), budget=Budget(4), name="stray")
    app = columns(chosen(page("decide"), "min-cut"), ["from", "to"])
    assert not errors(app)
    assert "did not fit the schema: 1 of 'from'" in words(app).replace("\\", "")
    assert "Rows: 1 from a vertex to itself, which are left out." in words(app)
    # There is no cell for a vertex that is not declared, which the curator is told.
    assert "count as the first one: 'from' as 'p'" in words(app).replace("\\", "")
    stored = desk.decide(table, "min-cut", public=PUBLIC["min-cut"], budget=Budget(1))
    assert len(stored.decided.lines) == 3


@pytest.mark.exhaustive
def test_what_the_budget_does_not_pay_cannot_be_pressed(page: Open, calls: DeskTable) -> None:
    app = columns(chosen(page("decide"), "min-cut"), ["from", "to"])
    next(found for found in app.text_input if found.label == "Epsilon (ε)").set_value("9").run()
    assert button(app, "Decide").disabled
    assert "Nothing was spent" in errors(app)[0]


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("problem", problems)
def test_every_problem_has_a_form_and_its_decision_a_view(
    page: Open, desk: Desk, calls: DeskTable, problem: str
) -> None:
    # A rule starts from the first column, which need not suit the kind of rule; that is one sentence.
    assert len(errors(chosen(page("decide"), problem))) == (problem == "rule")
    stored = desk.decide(calls, problem, public=PUBLIC[problem], budget=Budget(1))
    drawn = picture(stored)
    assert (drawn is None) == (problem in ("rule", "vertex-cover-size"))
    assert drawn is None or (drawn[0].data and drawn[1].endswith("."))
    desk.share(stored.certificate["plan"], title="Shown")
    app = page("shared")
    assert not errors(app)
    assert "Every file may be given to anyone" in words(app)


def test_lines_are_read_as_they_are_typed() -> None:
    assert read_lines('Set, Element\n"a, b", 7\n\nc,x', ("set", "element")) == (("a, b", 7), ("c", "x"))
    assert read_lines("", ("site", "x", "y")) == ()
