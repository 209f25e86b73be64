"""Several people at one desk: tabs that spend the same budget or ask the same session, visitors from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from tests.dashboard.browser.browsing import (
    CALM,
    STRANGER,
    download,
    finished,
    go_on,
    release_button,
    settled,
    spend,
    tab,
    titled,
    visit,
)
from tests.dashboard.server import Server, serving

pytestmark = pytest.mark.browser

CURATOR = ("", "data", "plan", "release", "ask", "accuracy", "budget")
PRIVATE = "secret-town"
"""The name of the table, which a visitor has no business to know."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A desk with one small table and one stored release, served to everybody in this file."""
    home = tmp_path_factory.mktemp("desk") / "home"
    generator = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": generator.integers(0, 100, 3_000),
            "town": generator.choice(["north", "south", "west"], 3_000, p=[0.6, 0.3, 0.1]),
        }
    )
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 10},
            {"name": "town", "kind": "categories", "values": ["north", "south", "west"]},
        ]
    )
    desk = Desk(home)
    table = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(10, "1e-9"), name=PRIVATE)
    desk.release(desk.plan(table, [Marginals(order=2)], mechanism="gaussian", budget=Budget("0.5", "1e-9")))
    desk.close()
    with serving(home, **CALM) as running:
        yield running


def planned(browser: Browser, server: Server, epsilon: str) -> Page:
    """A tab that is one click before a release."""
    page = tab(browser)
    visit(page, server, "Plan")
    spend(page, epsilon)
    go_on(page)
    settled(page)
    expect(release_button(page)).to_be_enabled()
    return page


@pytest.mark.slow
def test_a_question_by_click_and_by_formula_in_two_tabs(browser: Browser, server: Server) -> None:
    page = tab(browser)
    visit(page, server, "Ask")
    page.get_by_role("button", name="Open the session").click()
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("Question 1.")).to_be_visible()
    page.get_by_text("A formula or SQL", exact=True).click()
    formula = page.get_by_role("textbox", name="Formula")
    formula.fill("age >= 50 and town in {north}")
    formula.press("Enter")
    expect(page.get_by_text("Share of rows with age at least 50 and town = north.")).to_be_visible()
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("Question 2.")).to_be_visible()
    expect(_asked(page)).to_have_text("2")

    another = tab(browser)
    visit(another, server, "Ask")
    expect(_asked(another)).to_have_text("2")
    settled(another)
    transcripts = [Path(download(each, "Save the transcript").path()).read_bytes() for each in (page, another)]
    assert transcripts[0] == transcripts[1]
    assert transcripts[0].count(b"\n") == 3

    formula.fill("age >= )")
    formula.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(1)


def _asked(page: Page) -> object:
    return page.get_by_test_id("stMetric").filter(has_text="Questions").get_by_test_id("stMetricValue")


@pytest.mark.slow
def test_a_visitor_reaches_public_pages_only(browser: Browser, server: Server) -> None:
    page = tab(browser)
    for path in CURATOR:
        page.goto(f"http://{STRANGER}:{server.port}/{path}")
        titled(page, "Shared")
        if path:
            page.get_by_role("button", name="Close").click()
        page.get_by_text("For the curator").click()
        expect(page.get_by_text("served on this machine only")).to_be_visible()
        settled(page)
        text = page.locator("body").inner_text()
        assert PRIVATE not in text
        assert page.get_by_role("link", name="Budget").count() == 0
        assert [link.inner_text().split()[-1] for link in page.get_by_test_id("stSidebarNavLink").all()] == [
            "Shared",
            "Limits",
            "Help",
        ]


@pytest.mark.slow
def test_a_visitor_downloads_what_is_shared(browser: Browser, server: Server) -> None:
    visitor = tab(browser)
    visitor.goto(f"http://{STRANGER}:{server.port}/shared")
    expect(visitor.get_by_text("Nothing is shared yet")).to_be_visible()
    page = tab(browser)
    [entry, *_] = [entry for entry in server.entries() if '"gaussian"' in entry.plan_json]
    visit(page, server, "Release", f"?release={entry.plan_id}")
    finished(page)
    page.get_by_role("button", name="Share", exact=False).last.click()
    page.get_by_role("textbox", name="Title").fill("Ages by town")
    page.get_by_role("textbox", name="Title").press("Enter")
    settled(page)
    page.get_by_role("button", name="Share it").click()
    expect(page.get_by_role("button", name="Shared")).to_be_visible()

    visitor.reload()
    expect(visitor.get_by_role("heading", name="Ages by town")).to_be_visible()
    settled(visitor)
    assert PRIVATE not in visitor.locator("body").inner_text()
    content = Path(download(visitor, "CSV").path()).read_text(encoding="utf-8")
    assert content.startswith("age,town")
    assert content.count("\n") > 1_000


@pytest.mark.slow
def test_two_tabs_cannot_spend_the_same_budget(browser: Browser, server: Server) -> None:
    """Last in this file: it leaves little of the budget."""
    first, second = planned(browser, server, "8"), planned(browser, server, "7.5")
    before = len(server.entries())
    release_button(first).click()
    finished(first)
    release_button(second).click()
    refusal = second.get_by_role("alert").filter(has_text="left")
    expect(refusal.first).to_be_visible()
    settled(second)
    expect(release_button(second)).to_be_disabled()
    assert len(server.entries()) == before + 1
    desk = Desk(server.home)
    [table] = desk.tables()
    assert desk.statement(table).spent_share <= 1
    desk.close()
