"""Pages are tested against a desk of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from playwright.sync_api import Browser, sync_playwright
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from dashboard.door import access
from dashboard.views.ask import trial_queue
from dashboard.views.common import state
from dashboard.views.limits import composition_view, finer_bits_view, parity_view, reconstruction_view, sections
from dashboard.views.plan.trials import first_trials, public_trials
from tests.dashboard.browser.browsing import RESOLVED
from tests.dashboard.listed import APP
from tests.dashboard.server import FLAGS


@pytest.fixture
def desk(workspace: Path, small_trials: None) -> Iterator[Desk]:
    """The desk that the pages of this test share, as a running server would."""
    st.cache_resource.clear()
    opened = state.desk()
    assert opened.folder == workspace.resolve()
    yield opened
    opened.close()
    st.cache_resource.clear()


@pytest.fixture
def page(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens a page in a new session, as a curator's new tab would."""
    # Pages that run without a server have no cookies.
    monkeypatch.setattr(access, "has_key", lambda: True)
    # Figures that get better while nobody looks would take the processor from other tests.
    monkeypatch.setattr(public_trials, "SECONDS", 0.0)
    # A page in a test is run once, not again and again until its trials have ended.
    monkeypatch.setattr(first_trials, "PATIENCE", 600.0)
    monkeypatch.setattr(trial_queue, "TRIES", False)
    # The page Limits makes releases of invented tables; small ones show the same.
    monkeypatch.setattr(finer_bits_view, "BITS", (4, 6))
    monkeypatch.setattr(parity_view, "START", 16)
    monkeypatch.setattr(reconstruction_view, "RUNS", 1)
    monkeypatch.setattr(composition_view, "NUMBERS", (1, 500))

    def opened(name: str = "data", limits: Iterable[str] = tuple(sections.SECTIONS)) -> AppTest:
        app = unfolded(AppTest.from_file(str(APP), default_timeout=60), limits).run()
        return app if name == "data" else app.switch_page(f"steps/{name}.py").run()

    return opened


def unfolded(app: AppTest, limits: Iterable[str] = tuple(sections.SECTIONS)) -> AppTest:
    """A session in which these sections of the page Limits are open, all of them where nothing is said."""
    for title in sections.SECTIONS:
        app.session_state[sections.key(title)] = title in limits
    return app


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path, args=[*FLAGS, RESOLVED])
        yield launched
        launched.close()
