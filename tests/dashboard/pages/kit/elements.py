"""What is on a page, by the words that people see, and how they go on from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk

Open = Callable[..., AppTest]


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


def number(app: AppTest, label: str) -> Any:
    return next(found for found in app.number_input if found.label == label)


def way(app: AppTest, name: str) -> AppTest:
    return next(found for found in app.segmented_control if found.label == "Compose it as").set_value(name).run()
