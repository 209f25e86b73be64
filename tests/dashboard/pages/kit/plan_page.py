"""Acts on the Plan page: a plan is made, compared, rehearsed and loaded."""

from __future__ import annotations

import json
import time
from typing import Any

from streamlit.testing.v1 import AppTest

from core.plans.release_terms import ReleaseTerms
from dashboard.views.common import state
from dashboard.views.plan import plan_form, rehearsals
from tests.dashboard.pages.kit.elements import button, chooser, number


def session(app: AppTest) -> state.PageState:
    return app.session_state["desk-session"]


def planned(app: AppTest) -> ReleaseTerms:
    [plan] = session(app).planned.values()
    return plan


def by_accuracy(app: AppTest, within: float, measure: str = "worst") -> AppTest:
    next(found for found in app.get("button_group") if found.label == "Choose").set_value(plan_form.BY_ACCURACY).run()
    number(app, "Error of at most so many rows").set_value(within)
    return next(found for found in app.selectbox if found.label == "For").set_value(measure).run()


def rehearsed(app: AppTest) -> AppTest:
    """Press the button and wait."""
    button(app, "Rehearse").click().run()
    deadline, service = time.monotonic() + 60, rehearsals.service()
    while any(service.progress(run.id) is not None for run in session(app).rehearsals):
        assert time.monotonic() < deadline, "the rehearsal does not end"
        time.sleep(0.02)
    return app.run()


def load(app: AppTest, text: str) -> AppTest:
    app.text_area(key="plan-text").set_value(text).run()
    return button(app, "Use it").click().run()


def chart(app: AppTest) -> dict[str, Any]:
    figure = app.get("plotly_chart")[0]
    return json.loads(figure.proto.spec or figure.proto.figure.spec)


def pick(app: AppTest, *classes: str) -> AppTest:
    return chooser(app, "Query classes").set_value(list(classes)).run()


def mechanism(app: AppTest) -> Any:
    return next(found for found in app.radio if found.label == "Mechanism")


def study(app: AppTest) -> AppTest:
    """List the mechanisms for study too."""
    return next(found for found in app.toggle if found.label.endswith("for study")).set_value(True).run()
