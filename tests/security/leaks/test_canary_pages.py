"""The dashboard with a canary in every cell: no page sings, whatever goes wrong behind it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import Budget, Desk, Unit
from core.desk import desk as desk_module
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.plans.statements import DeskTable
from core.queries.marginals import Marginals
from core.table.table import Table
from dashboard.views.common import messages
from dashboard.views.data import sources_form
from tests.dashboard.conftest import desk, page
from tests.dashboard.listed import PAGES
from tests.dashboard.pages.kit.elements import Open, button
from tests.security.leaks.canary import DOMAIN, NUMBER, WORD, frame, hits, page_text

__all__ = ["desk", "page"]

GOOD = f"town,age,weight,ill\n{WORD},{NUMBER},{NUMBER}.5,{WORD}\n"
BAD_FILES = {
    "ragged": f"{GOOD}{WORD}\n".encode(),
    "quote": f'{GOOD}"{WORD}\n'.encode(),
    "NUL": f"{GOOD}{WORD}\0\n".encode(),
    "Latin-1": f"{GOOD}{WORD}é\n".encode("latin-1"),
    "no header": f"{WORD},{WORD}\n{WORD},{NUMBER}\n".encode(),
}


@pytest.fixture
def held(desk: Desk) -> DeskTable:
    return desk.add_table(frame(), DOMAIN, unit=Unit.row(), budget=Budget(8), name="people")


def failing(*_: Any, **__: Any) -> Any:
    raise ValueError(f"could not convert {WORD} to {NUMBER}")


def silent(app: AppTest, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    assert not app.exception
    assert hits(page_text(app)) == []
    assert hits(caplog.text) == []
    assert hits("".join(capfd.readouterr())) == []


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("name", PAGES)
def test_no_page_shows_a_cell(
    page: Open, desk: Desk, held: DeskTable, name: str,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG, "release_desk")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    desk.release(plan)
    desk.share(plan.id, title="Shared")
    app = page(name)
    assert len(page_text(app)) > 200
    silent(app, caplog, capfd)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_upload_shows_no_cell(
    page: Open, case: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    app = page()
    next(radio for radio in app.radio if radio.key == "source").set_value(sources_form.UPLOAD).run()
    app.file_uploader(key="upload").upload("people.csv", BAD_FILES[case]).run()
    if case in ("NUL", "Latin-1"):
        assert app.error, "these are refused as soon as they are chosen"
    silent(app, caplog, capfd)


def release_fails(app: AppTest, desk: Desk, held: DeskTable, patch: pytest.MonkeyPatch) -> AppTest:
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    patch.setattr(LaplaceTables, "run", failing)
    desk.submit(plan)
    desk._parts.background._executor.submit(int).result()
    return app.switch_page("steps/budget.py").run()


def answer_fails(app: AppTest, desk: Desk, held: DeskTable, patch: pytest.MonkeyPatch) -> AppTest:
    session = desk.ask(held, mechanism="online-laplace", budget=Budget(1), questions=5)
    desk.share(session.id, title="Ask", hard=5)
    patch.setattr(OnlineLaplace, "answer", failing)
    app.switch_page("steps/shared.py").run()
    return button(app, "Ask").click().run()


def reading_fails(app: AppTest, desk: Desk, held: DeskTable, patch: pytest.MonkeyPatch) -> AppTest:
    desk.release(desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1)))
    patch.setattr(Table, "marginal", failing)
    return app.switch_page("steps/accuracy.py").run()


def listing_fails(app: AppTest, desk: Desk, held: DeskTable, patch: pytest.MonkeyPatch) -> AppTest:
    patch.setattr(desk_module.Desk, "tables", failing)
    return app.switch_page("steps/budget.py").run()


FAILURES: list[Callable[..., AppTest]] = [release_fails, answer_fails, reading_fails, listing_fails]


@pytest.mark.exhaustive
@pytest.mark.parametrize("fail", FAILURES)
def test_a_failure_behind_a_page_shows_no_cell(
    page: Open, desk: Desk, held: DeskTable, fail: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    app = fail(page(), desk, held, monkeypatch)
    text = page_text(app)
    assert "ValueError" in text or "could not be computed" in text, "the failure must have got to the page"
    silent(app, caplog, capfd)


@pytest.mark.exhaustive
def test_a_page_that_quotes_errors_is_heard(
    page: Open, desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "sentence", str)
    assert hits(page_text(listing_fails(page(), desk, held, monkeypatch)))


def test_a_page_that_shows_rows_is_heard(
    page: Open, desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "legend", lambda *_: st.dataframe(frame()))
    assert hits(page_text(page()))
