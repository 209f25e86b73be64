"""Every page as its script runs, without a browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.privacy.unit import Unit
from dashboard.views.common import state
from tests.dashboard.listed import APP, EVERYBODYS, PAGES
from tests.dashboard.pages.kit.data_page import choose_unit, edit
from tests.dashboard.pages.kit.elements import Open, button, errors, finished, go_on, words


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
