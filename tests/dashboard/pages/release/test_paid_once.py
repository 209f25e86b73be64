"""The Release page: a plan is paid once, whatever is clicked, stopped or opened again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.mechanisms.direct.gaussian import GaussianTables
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain
from dashboard.views.common import state
from tests.dashboard.pages.kit.elements import Open, button, chooser, field, finished, go_on, words


@pytest.mark.exhaustive
def test_order_of_clicks_is_not_another_plan(page: Open, desk: Desk) -> None:
    domain = Domain.from_list([{"name": name, "kind": "booleans"} for name in "abc"])
    table = desk.add_table(pd.DataFrame({"a": [1], "b": [0], "c": [1]}), domain, unit=Unit.row(), budget=Budget(2))
    for columns in (["a", "b"], ["b", "a"]):
        app = page("plan")
        chooser(app, "Columns").set_value(columns).run()
        # What is recommended may change with what was released; this is about the same choice.
        next(found for found in app.radio if found.label == "Mechanism").set_value("laplace").run()
        release = button(go_on(app), "Release")
        assert release.disabled == (columns == ["b", "a"])
        if not release.disabled:
            release.click().run()
            finished(app, desk)
    assert len(desk.statement(table).entries) == 1


@pytest.mark.exhaustive
def test_same_plan_is_never_paid_twice(page: Open, desk: Desk, small: DeskTable) -> None:
    first, second = page("plan"), page("plan")
    chosen = next(found for found in first.radio if found.label == "Mechanism").value
    go_on(first), go_on(second)
    button(first, "Release").click().run()
    button(second, "Release").click().run()
    finished(first, desk)
    assert len(desk.statement(small).entries) == 1

    third = page("plan")
    # What was released stands in for the table now, so another mechanism may be recommended.
    next(found for found in third.radio if found.label == "Mechanism").set_value(chosen).run()
    go_on(third)
    assert button(third, "Release").disabled
    assert "already paid" in words(third)
    third.toggle(key="fresh-edition").set_value(True).run()
    assert "edition 2" in words(third)
    button(third, "Release").click().run()
    finished(third, desk)
    assert len(desk.statement(small).entries) == 2


@pytest.mark.exhaustive
def test_new_tab_finds_the_release(page: Open, desk: Desk, small: DeskTable) -> None:
    app = go_on(page("plan"))
    button(app, "Release").click().run()
    finished(app, desk)
    [entry] = desk.statement(small).entries

    listed = page("release")
    button(listed, "Open it").click().run()
    assert "Released, stored and paid" in words(listed)

    linked = AppTest.from_file(str(Path(state.__file__).parents[2] / "app.py"), default_timeout=60)
    linked.query_params["release"] = entry.plan_id
    linked.switch_page("steps/release.py").run()
    assert "Released, stored and paid" in words(linked)


@pytest.mark.exhaustive
def test_stopped_release_is_finished_without_paying_again(
    page: Open, desk: Desk, small: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemoryError("cell 4711")

    app = page("plan")
    field(app, "Delta (δ)").set_value("1e-9").run()
    names = [radio for radio in app.radio if radio.label == "Mechanism"]
    names[0].set_value("gaussian").run()
    go_on(app)
    with monkeypatch.context() as patch:
        patch.setattr(GaussianTables, "run", broken)
        button(app, "Release").click().run()
        finished(app, desk)
    assert "MemoryError" in words(app)
    assert "4711" not in words(app)

    budget = page("budget")
    button(budget, "Finish it (already paid)").click().run()
    finished(budget, desk)
    [entry] = desk.statement(small).entries
    assert entry.status == "stored"
    assert "Finish it" not in [found.label for found in budget.button]
