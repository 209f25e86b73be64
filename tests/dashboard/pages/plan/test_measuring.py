"""Measuring a release: chosen on Plan, priced on Release, shown with the release and where it is shared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.plans.plan_file import write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.release.copies.combining import LIMIT
from dashboard.views.common.measured_view import UNMEASURED
from dashboard.views.plan import measuring_form
from dashboard.views.plan.plan_form import Accuracy
from tests.dashboard.pages.kit.elements import button, finished, go_on, words
from tests.dashboard.pages.kit.plan_page import planned

Open = Callable[..., AppTest]


def slider(app: AppTest):
    return next(found for found in app.select_slider if found.label.startswith("Measure"))


@pytest.mark.exhaustive
def test_a_release_is_measured_unless_it_is_switched_off(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("plan")
    assert slider(app).value == planned(app).measure == Fraction(1, 50)
    app = go_on(app)
    assert "2.0 % of it measures" in words(app)
    button(app, "Release").click().run()
    app = finished(app, desk)
    [entry] = desk.statement(small).entries
    release = desk.result(entry.plan_id)
    assert release is not None and release.measured is not None
    assert release.measured.headline().removesuffix(".") in words(app)
    for sentence in release.measured.sentences():
        assert sentence.partition(":")[0] in words(app)

    desk.share(entry.plan_id, title="Ages")
    assert release.measured.headline().removesuffix(".") in words(page("shared"))


@pytest.mark.exhaustive
def test_copies_are_chosen_on_plan_and_come_with_the_release(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("plan")
    next(found for found in app.number_input if found.label == "Synthetic copies").set_value(2).run()
    assert planned(app).copies == 2
    app = go_on(app)
    assert "2 synthetic copies" in words(app)
    button(app, "Release").click().run()
    app = finished(app, desk)
    assert "The ZIP also has 2 copies" in words(app) and LIMIT in words(app)
    [entry] = desk.statement(small).entries
    release = desk.result(entry.plan_id)
    assert release is not None and len(release.copies()) == 2


@pytest.mark.exhaustive
def test_off_is_one_step(page: Open, desk: Desk, small: DeskTable) -> None:
    app = page("plan")
    slider(app).set_value(Fraction(0)).run()
    assert planned(app).measure == 0
    app = go_on(app)
    assert "measures the errors" not in words(app)
    button(app, "Release").click().run()
    assert UNMEASURED.partition(",")[0] in words(finished(app, desk))


def test_little_budget_is_not_spent_on_noise(small: DeskTable) -> None:
    assert measuring_form._usual(small, (Marginals(order=2),), Budget("0.1")) == 0


@pytest.mark.exhaustive
def test_a_plan_file_says_how_much_is_measured(page: Open, desk: Desk, small: DeskTable) -> None:
    terms = ReleaseTerms(queries=(Marginals(order=2),), mechanism="laplace", budget=Budget(1), measure=Fraction(3, 200))
    app = page("plan")
    app.text_area(key="plan-text").set_value(write_plan_file(terms))
    button(app, "Use it").click().run()
    assert slider(app).value == planned(app).measure == Fraction(3, 200)


def test_a_wanted_accuracy_is_reached_beside_measuring() -> None:
    part, wanted = Fraction(1, 50), Accuracy(within=20.0, error="mean", delta=0.0)
    assert measuring_form.raised(Budget(1), part, wanted).epsilon * (1 - part) >= 1
    assert measuring_form.raised(Budget(1), Fraction(0), wanted) == Budget(1)
    assert measuring_form.raised(Budget(1), part, Budget(1)) == Budget(1)
