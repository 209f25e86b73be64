"""Means, medians and sums by group are clicked together; nobody has to know SQL for them."""

from __future__ import annotations

import pytest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from dashboard.views.ask.numbers_form import written
from tests.dashboard.pages.kit.elements import Open, button, chooser, errors, field, way


@pytest.mark.exhaustive
def test_a_mean_by_group_is_asked_without_sql(page: Open, desk: Desk, mixed: DeskTable) -> None:
    session = desk.ask(mixed, mechanism="online-histogram", budget=Budget(1, "1e-9"))
    app = way(page("ask"), "Numbers by group")
    group = chooser(app, "By group").value
    assert len(group) == 1, "a column of categories is proposed"
    field(app, "Only rows with").set_value("ill = true").run()
    [said] = [str(found.value) for found in app.get("code")]
    assert said.startswith(f'SELECT "{group[0]}", AVG(') and "WHERE ill = true" in said
    button(app, "Ask").click().run()
    assert not errors(app)
    assert session.transcript(), "the answer rests on questions of the session"


def test_any_name_of_a_column_can_be_asked_about() -> None:
    assert written("SUM", 'from "here"', None, ["count"]) == (
        'SELECT "count", SUM("from ""here""") FROM t GROUP BY "count"'
    )
