"""A plan lasts as long as its fields hold what it was made from, whatever happens to the page meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.plans.statements import DeskTable
from dashboard.views.plan import offers
from tests.dashboard.pages.kit.elements import field, go_on, words

Open = Callable[..., AppTest]


@pytest.fixture
def left_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on the page is left before it has made a plan, as by a click on another page."""
    return lambda: monkeypatch.setattr(offers, "choose", lambda *_: st.stop())


@pytest.mark.exhaustive
def test_a_page_that_is_left_while_it_runs_again_keeps_its_plan(
    page: Open, mixed: DeskTable, left_in_the_middle: Callable[[], None]
) -> None:
    app = page("plan")
    left_in_the_middle()
    app.run()
    app.run()
    assert "What you are about to release" in words(go_on(app))


@pytest.mark.exhaustive
def test_a_field_that_changed_meanwhile_leaves_no_plan(
    page: Open, mixed: DeskTable, left_in_the_middle: Callable[[], None]
) -> None:
    """Or the Release page would offer what the curator no longer wants."""
    app = page("plan")
    left_in_the_middle()
    field(app, "Epsilon (ε)").set_value("0.3").run()
    assert "Nothing is planned" in words(go_on(app))
