"""A table of 1,306 rows: the curator is warned before it is paid, and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.dashboard.browser.browsing import (
    CALM,
    choose_demo,
    finished,
    release_button,
    settled,
    spend,
    tab,
    titled,
    visit,
)
from tests.dashboard.server import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WARNED = "The table is small for what is asked"


def test_a_small_table_is_warned_of_before_and_after(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", **CALM) as server:
        page = tab(browser)
        visit(page, server, "Data")
        choose_demo(page)
        page.get_by_text("A school survey", exact=True).click()
        settled(page)
        page.get_by_text("Each row is another person").click()
        page.get_by_role("button", name="Open this table").click()
        expect(page.get_by_text("is open.")).to_be_visible()
        settled(page)
        page.get_by_role("link", name="Go on to Plan").click()
        titled(page, "Plan")
        spend(page, "0.3")
        expect(page.get_by_role("alert").filter(has_text=WARNED)).to_be_visible()
        page.get_by_role("link", name="Go on to Release").click()
        titled(page, "Release")
        expect(page.get_by_role("alert").filter(has_text=WARNED)).to_be_visible()
        release_button(page).click()
        finished(page)
        expect(page.get_by_role("alert").filter(has_text=WARNED)).to_be_visible()
