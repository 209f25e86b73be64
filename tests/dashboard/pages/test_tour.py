"""The guided tour: at most six steps, each on a page that exists, left by one click."""

from __future__ import annotations

import pytest

from dashboard import look
from dashboard.views.data import sources_form
from dashboard.views.tour.tour import MAIN, STEPS
from tests.dashboard.listed import APP, PAGES
from tests.dashboard.pages.kit.elements import Open, button, errors, words


def test_it_leads_over_pages_that_exist_in_six_steps() -> None:
    assert len(STEPS) <= 6
    assert {step.page for step in STEPS} <= set(PAGES.values())
    assert all((APP.parent / step.file).is_file() for step in STEPS)


def test_the_way_on_is_the_main_button_where_a_page_has_none():
    assert [step.page for step in STEPS[:-1] if not step.acts] == ["Accuracy", "Budget"]
    assert f".st-key-{MAIN}" in look.STYLE


@pytest.mark.exhaustive
def test_it_also_begins_on_the_page_help(page: Open) -> None:
    app = page("help")
    button(app, "Take the tour in six steps").click().run()
    assert not errors(app)
    assert "Tour, step 1 of 6: Data" in words(app) and "You have gone elsewhere" not in words(app)
    assert app.radio(key="source").value == sources_form.DEMO_TABLE


@pytest.mark.exhaustive
def test_it_begins_on_the_first_page_and_can_be_left(page: Open) -> None:
    app = page("data")
    assert "Tour, step" not in words(app)
    button(app, "Take the tour in six steps").click().run()
    assert "Tour, step 1 of 6: Data" in words(app)
    app.switch_page("steps/plan.py").run()
    assert not errors(app)
    assert "Tour, step 2 of 6: Plan" in words(app)
    app.run()
    assert "Tour, step 2 of 6: Plan" in words(app)
    app.switch_page("steps/help.py").run()
    assert "You have gone elsewhere" in words(app)
    button(app, "Leave the tour").click().run()
    assert "Tour, step" not in words(app)
