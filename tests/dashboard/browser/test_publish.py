"""Publish and visit: a curator shares a release, and a stranger on a phone follows the link to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from tests.dashboard.browser.browsing import STRANGER, accessible, download, finished, settled, tab, titled, visit
from tests.dashboard.server import ROOT, Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A desk with a release of the small demo table that nobody has seen yet."""
    home = tmp_path_factory.mktemp("publish") / "home"
    schema = Domain.from_json((ROOT / "data" / "school_survey.schema.json").read_text(encoding="utf-8"))
    desk, source = Desk(home), ROOT / "data" / "school_survey.csv"
    table = desk.add_table(source, schema, unit=Unit.row(), budget=Budget(4, "1e-9"), name="pupils")
    desk.release(desk.plan(table, [Marginals(order=1)], mechanism="gaussian", budget=Budget(1, "1e-9")))
    desk.close()
    with serving(home) as running:
        yield running


def test_a_stranger_on_a_phone_reads_what_was_published(browser: Browser, server: Server) -> None:
    page = tab(browser)
    _say_who_publishes(page, server)
    [entry] = server.entries()
    _share(page, server, entry.plan_id)

    stranger = tab(browser, "dark", 390)
    stranger.goto(f"http://{STRANGER}:{server.port}/shared?item={entry.plan_id}")
    titled(stranger, "Shared")
    expect(stranger.get_by_role("heading", name="Pupils of one school")).to_be_visible()
    settled(stranger)
    expect(stranger.get_by_text("Page not found")).to_have_count(0)
    expect(stranger.get_by_text("Published by Office of Schools")).to_be_visible()
    expect(stranger.get_by_text("How to cite")).to_be_visible()
    accessible(stranger, "a shared release")
    _ask(stranger)
    assert Path(download(stranger, "Report (PDF)").path()).read_bytes().startswith(b"%PDF")
    report = Path(download(stranger, "Report").path()).read_text(encoding="utf-8")
    address = f"http://{STRANGER}:{server.port}/shared?item={entry.plan_id}"
    for said in ("Pupils of one school", "Office of Schools", "CC BY 4.0", address):
        assert said in report
    assert "pupils" not in stranger.locator("body").inner_text().split(), "the table's own name is not shown"

    # Without a page's name in the address, they come to the same.
    stranger.goto(f"http://{STRANGER}:{server.port}/")
    expect(stranger.get_by_role("heading", name="Pupils of one school")).to_be_visible()


def _ask(page: Page) -> None:
    """A question by clicking and one in SQL, answered on the spot."""
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("No error is promised: the release behind this answer")).to_be_visible()
    settled(page)
    page.get_by_text("A formula or SQL", exact=True).click()
    field = page.get_by_role("textbox", name="Formula")
    field.fill("SELECT gender, COUNT(*) FROM t GROUP BY gender")
    field.press("Enter")
    settled(page)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("It rests on")).to_be_visible()
    settled(page)
    accessible(page, "an answer of a shared release")


def _say_who_publishes(page: Page, server: Server) -> None:
    visit(page, server, "Shared")
    settled(page)
    page.get_by_text("Who publishes").click()
    for label, text in (("Organisation", "Office of Schools"), ("Licence", "CC BY 4.0")):
        page.get_by_role("textbox", name=label).fill(text)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Published by Office of Schools")).to_be_visible()


def _share(page: Page, server: Server, plan_id: str) -> None:
    visit(page, server, "Release", f"?release={plan_id}")
    finished(page)
    settled(page)
    page.get_by_role("button", name="Share", exact=False).last.click()
    title = page.get_by_role("textbox", name="Title")
    title.fill("Pupils of one school")
    title.press("Enter")
    settled(page)
    page.get_by_role("button", name="Share it").click()
    expect(page.get_by_role("button", name="Shared")).to_be_visible()
    expect(page.get_by_text(f"{server.address}/shared?item={plan_id}")).to_be_visible()
