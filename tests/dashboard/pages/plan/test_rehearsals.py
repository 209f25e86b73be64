"""The Plan page: rehearsals on public rows."""

from __future__ import annotations

import pytest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from core.table.stand_in import StandIn
from core.table.table import Table
from dashboard.views.common import state
from dashboard.views.plan import rehearsals
from tests.dashboard.pages.kit.elements import Open, errors, field, number, words
from tests.dashboard.pages.kit.plan_page import chart, pick, rehearsed, session


@pytest.mark.exhaustive
def test_a_rehearsal_is_free_and_looks_at_no_private_row(
    page: Open, desk: Desk, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "open", lambda folder: pytest.fail("the private table was opened"))
    app = page("plan")
    number(app, "Rows of the table, as publicly known or guessed").set_value(700).run()
    rehearsed(app)
    assert not errors(app)
    [table] = app.dataframe
    assert table.value["Public rows"].tolist() == ["700 rows drawn uniformly from the schema"]
    assert table.value["Mean error"][0].startswith("±")
    assert desk.statement(mixed).entries == ()
    assert [line["name"] for line in chart(app)["data"]][-1] == "Rehearsed"
    field(app, "Epsilon (ε)").set_value("5").run()
    rehearsed(app)
    assert app.dataframe[0].value["ε"].tolist() == ["5", "1"], "newest first"
    assert sorted(chart(app)["data"][-1]["x"]) == [1, 5]


@pytest.mark.exhaustive
def test_an_earlier_release_stands_in(page: Open, desk: Desk, mixed: DeskTable) -> None:
    plan = desk.plan(mixed, [Marginals(order=1)], mechanism="laplace", budget=Budget(1), records=300)
    desk.release(plan)
    app = page("plan")
    standin = next(found for found in app.selectbox if found.label == "Public rows")
    assert [option.split(":")[0] for option in standin.options[:1]] == ["earlier release"]
    rehearsed(app)
    assert session(app).rehearsals[0].standin.startswith("earlier release")
    assert rehearsals.service().outcome(session(app).rehearsals[0].id).rows == 300


@pytest.mark.exhaustive
def test_the_demo_table_stands_in_for_itself(page: Open, desk: Desk) -> None:
    domain = Domain.from_json(state.demo_schema())
    desk.add_table(state.demo_file(), domain, unit=Unit.row(), budget=Budget(2, "1e-9"))
    app = pick(page("plan"), "intervals")
    rehearsed(app)
    assert app.dataframe[0].value["Public rows"].tolist() == ["the demo table, which is invented"]
    assert rehearsals.service().outcome(session(app).rehearsals[0].id).rows > 10_000


@pytest.mark.exhaustive
def test_a_rehearsal_that_stops_is_one_sentence(page: Open, mixed: DeskTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> StandIn:
        raise MemoryError("cell 4711")

    monkeypatch.setattr(StandIn, "uniform", broken)
    app = rehearsed(page("plan"))
    [error] = errors(app)
    assert error.startswith("The rehearsal stopped. ")
    assert "4711" not in words(app)


@pytest.mark.exhaustive
def test_too_many_invented_rows_are_refused(page: Open, mixed: DeskTable) -> None:
    app = page("plan")
    number(app, "Rows of the table, as publicly known or guessed").set_value(9_000_000).run()
    [error] = errors(rehearsed(app))
    assert "guess at most 2,000,000" in error
