"""Every page as its script runs, without a browser."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.ledger.journal import JournalSpend
from core.mechanisms.direct.gaussian import GaussianTables
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.privacy_filter import amounts_text
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from dashboard.views.common import state
from dashboard.views.data import unit_form
from tests.dashboard.listed import APP, EVERYBODYS, PAGES

Open = Callable[..., AppTest]
PEOPLE = b"person,age,ill\n1,34,yes\n2,51,no\n2,52,no\n"


def button(app: AppTest, label: str) -> Any:
    return next(found for found in app.button if found.label == label)


def field(app: AppTest, label: str) -> Any:
    return next(found for found in app.text_input if found.label == label)


def chooser(app: AppTest, label: str) -> Any:
    return next(found for found in app.multiselect if found.label == label)


def words(app: AppTest) -> str:
    """Everything that the page says in running text."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info, app.success, app.title, app.header)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def errors(app: AppTest) -> list[str]:
    assert not app.exception, "no traceback may reach the browser"
    return [error.value for error in app.error]


def choose_unit(app: AppTest, kind: str = unit_form.ID) -> AppTest:
    return next(radio for radio in app.radio if radio.key.startswith("unit-")).set_value(kind).run()


def edit(app: AppTest, lines: dict[int, dict[str, Any]]) -> AppTest:
    """Type into the schema's grid."""
    app.session_state[app.session_state["desk-session"].draft.key] = {"edited_rows": lines}
    return app.run()


def go_on(app: AppTest) -> AppTest:
    """From the plan to the page that releases it."""
    return app.switch_page("steps/release.py").run()


def finished(app: AppTest, desk: Desk) -> AppTest:
    """The page once the desk has nothing left to do."""
    deadline = time.monotonic() + 120
    while any(desk.progress(entry.plan_id).state == "running" for entry in desk.ledger.pending()):
        assert time.monotonic() < deadline, "the release does not end"
        time.sleep(0.05)
    return app.run()


@pytest.fixture
def small(desk: Desk) -> DeskTable:
    """A small table at the desk."""
    frame = pd.DataFrame({"age": range(100), "ill": [True, False] * 50})
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 5},
            {"name": "ill", "kind": "booleans"},
        ]
    )
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2, "1e-9"), name="small")


def test_demo_table_to_release_and_ledger(page: Open, desk: Desk) -> None:
    app = choose_unit(page())
    assert not errors(app)
    button(app, "Open this table").click().run()
    assert [success.value for success in app.success] == [r"'clinic\_visits' is open."]
    assert "left out by the limit" in words(app)
    assert "curator only" in words(app)
    [table] = desk.tables()
    assert table.unit == Unit.id("patient_id", 3)
    assert "patient_id" not in table.domain

    app.switch_page("steps/plan.py").run()
    assert "55 tables of 2 columns" in words(app)
    assert not errors(app)
    go_on(app)
    assert "55 tables of 2 columns" in words(app)
    assert "% of what is left" in words(app)
    button(app, "Release").click().run()
    finished(app, desk)
    assert not errors(app)
    assert "Released, stored and paid" in words(app)
    labels = [download.label for download in app.get("download_button")]
    assert labels == [
        "CSV", "Parquet", "Noisy tables", "Noisy tables (Parquet)", "Report", "Report (PDF)", "Certificate",
        "Notebook", "Script", "Metadata (Croissant)", "Metadata (DataCite)", "Registry draft", "Everything (ZIP)",
    ]  # fmt: skip
    [entry] = desk.statement(table).entries
    assert entry.status == "stored"
    assert app.query_params["release"] in (entry.plan_id, [entry.plan_id])

    app.switch_page("steps/budget.py").run()
    assert not errors(app)
    [ledger] = app.dataframe
    assert list(ledger.value["State"]) == ["stored"]
    assert ledger.value["ε"].tolist() == [1.0]
    assert float(app.metric[0].value) < 2
    spent = desk.statement(table).spent_share
    assert app.metric[2].value == f"about {int((1 - spent) / spent)}"
    assert [download.label for download in app.get("download_button")] == ["Save the ledger"]


@pytest.mark.exhaustive
def test_unit_starts_empty_and_must_be_chosen(page: Open, desk: Desk) -> None:
    app = page()
    assert button(app, "Open this table").disabled
    assert "it is never assumed" in words(app)
    assert not button(choose_unit(app, unit_form.ROW), "Open this table").disabled
    assert desk.tables() == []


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "", "two", "1e9"])
def test_bad_total_budget(page: Open, desk: Desk, epsilon: str) -> None:
    app = choose_unit(page())
    field(app, "Epsilon (ε)").set_value(epsilon).run()
    [error] = errors(app)
    assert error.startswith("Epsilon: must be")
    assert button(app, "Open this table").disabled


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
def test_bad_schema_names_the_column(page: Open) -> None:
    app = choose_unit(page())
    edit(app, {2: {"low": "120"}})
    assert errors(app) == ["1 mistake in the grid:\n- Column 'age' has a low bound above its high bound\\."]
    assert button(app, "Open this table").disabled


@pytest.mark.exhaustive
def test_schema_and_choices_survive_a_visit_to_another_page(page: Open) -> None:
    app = choose_unit(page())
    edit(app, {6: {"high": "70"}, 3: {"include": False}})
    app.switch_page("steps/budget.py").run()
    app.switch_page("steps/data.py").run()
    latest = app.session_state["desk-session"].draft.latest
    assert latest.loc[6, "high"] == "70"
    assert not latest.loc[3, "include"]
    assert "10 columns" in words(app)
    assert not button(app, "Open this table").disabled


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("secret.txt", "secret")
    return buffer.getvalue()


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02secret", zipped(), "a,b\nsécret,2\n".encode("utf-16"), b"a,a\n1,2\n", b"a,\n1,2\n"],
    ids=["empty", "bytes", "zip", "utf-16", "twice", "unnamed"],
)
def test_bad_upload_is_one_sentence_and_leaves_nothing(page: Open, desk: Desk, content: bytes) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("table.csv", content, "text/csv").run()
    [error] = errors(app)
    assert error.endswith(".")
    assert "cret" not in words(app)
    assert list((desk.folder / "incoming").glob("*")) == []
    assert desk.tables() == []


@pytest.mark.exhaustive
def test_header_only_upload_is_refused_when_opened(page: Open, desk: Desk) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("people.csv", b"age,ill\n", "text/csv").run()
    edit(app, {1: {"kind": "booleans"}})
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    [error] = errors(app)
    assert "no rows" in error
    assert desk.tables() == []


@pytest.mark.exhaustive
def test_upload_with_a_hostile_name(page: Open, desk: Desk) -> None:
    app = page()
    app.radio(key="source").set_value("Upload a file").run()
    app.file_uploader(key="upload").upload("../../people.csv", PEOPLE, "text/csv").run()
    assert not [error for error in errors(app) if "Column" not in error]
    edit(app, {0: {"include": False}, 2: {"kind": "booleans"}})
    choose_unit(app)
    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert (table.name, table.domain.names, table.notes["rows"]) == ("people", ("age", "ill"), 3)
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.exhaustive
def test_schema_of_another_table_is_refused(page: Open) -> None:
    app = page()
    schema = json.dumps({"columns": [{"name": "salary", "kind": "integers", "low": 0, "high": 9}]})
    app.file_uploader(key="schema-file").upload("schema.json", schema.encode(), "application/json").run()
    [error] = errors(app)
    assert "'salary'" in error


@pytest.mark.exhaustive
def test_saved_schema_can_be_loaded(page: Open) -> None:
    app = page()
    schema = json.dumps({"columns": [{"name": "age", "kind": "integers", "low": 0, "high": 9}]})
    app.file_uploader(key="schema-file").upload("schema.json", schema.encode(), "application/json").run()
    assert not errors(app)
    assert "1 column; a record is one of 10 possible combinations" in words(app)


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


@pytest.mark.exhaustive
def test_total_changes_only_with_a_reason(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("budget")
    field(app, "New total ε").set_value("3")
    button(app, "Change the total").click().run()
    assert errors(app) == ["Give a reason; it is kept on record."]
    assert desk.table(small.id).budget.epsilon == 2

    field(app, "New total ε").set_value("3")
    field(app, "Reason").set_value("the board decided so")
    button(app, "Change the total").click().run()
    assert not errors(app)
    assert desk.table(small.id).budget.epsilon == 3
    assert "the board decided so" in words(app)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["release", "budget"])
def test_empty_desk_leads_to_data(page: Open, name: str) -> None:
    app = page(name)
    assert not errors(app)
    assert "There is no table yet" in words(app)


def test_the_listed_pages_are_those_there_are() -> None:
    assert {path.stem for path in (APP.parent / "steps").glob("*.py")} - {"__init__"} == PAGES.keys()
    decided = {"shared": "Shared", "limits": "Limits", "help": "Help"}
    assert decided == EVERYBODYS, "what a visitor may open is decided here too"


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_on_an_empty_desk(page: Open, name: str) -> None:
    """Limits with one section; all of them are unfolded in its own tests."""
    app = page(name, ["What epsilon means"])
    assert not app.exception and not errors(app)
    assert [title.value for title in app.title] == [PAGES[name]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["data", "release", "budget"])
def test_unforeseen_error_quotes_nothing(
    page: Open, desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Desk) -> None:
        raise ValueError("cell 4711")

    app = page(name)
    monkeypatch.setattr(Desk, "tables", broken)
    [error] = errors(app.run())
    assert "ValueError" in error
    assert "4711" not in words(app) + caplog.text
    assert f"tests/dashboard/pages/test_pages.py:{broken.__code__.co_firstlineno + 1} < " in caplog.text


@pytest.mark.exhaustive
def test_demo_mode_refuses_files_and_throws_the_workspace_away(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEASE_DESK_DEMO", "1")
    st.cache_resource.clear()
    app = AppTest.from_file(str(Path(state.__file__).parents[2] / "app.py"), default_timeout=60).run()
    button(choose_unit(app), "Open this table").click().run()
    assert "is open" in words(app)
    app.radio(key="source").set_value("Upload a file").run()
    assert "takes no files" in words(app)
    assert not app.get("file_uploader")
    assert os.listdir(workspace) == []
    st.cache_resource.clear()


@pytest.mark.exhaustive
def test_an_older_copy_is_said_and_its_lost_spends_are_entered(page: Open, desk: Desk, small: DeskTable) -> None:
    assert "older copy" not in " ".join(errors(page("budget")))
    assert desk.ledger.journal is not None
    plan = desk.plan(small, [Marginals(order=1)], mechanism="laplace", budget=Budget(1))
    spend = JournalSpend(
        plan_id=plan.id,
        dataset_id=small.id,
        plan_json=ReleaseTerms.write(plan),
        amounts=amounts_text(plan.amounts),
        reserved_at="2026-01-02T03:04:05",
        **{
            name: getattr(desk.ledger.account(desk.ledger.dataset(small.id).fingerprint), name)
            for name in ("fingerprint", "unit_json", "budget_json", "ways", "total")
        },
    )
    desk.ledger.journal.note([spend], [])
    app = page("budget")
    assert "older copy" in errors(app)[0]
    assert "ε 1, paid 2026-01-02" in words(app).replace("\\", "")
    button(app, "Enter what was lost").click().run()
    assert not errors(app)
    assert desk.statement(small).spent_share > 0
    assert desk.progress(plan.id).state == "ended"
