"""The dashboard in a real Chromium, served as README's command serves it."""

from __future__ import annotations

import csv
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from core.ledger import Ledger
from tests.dashboard.server import FLAGS, PATIENCE, ROOT, Server, serving

pytestmark = pytest.mark.browser

expect.set_options(timeout=PATIENCE)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield launched
        launched.close()


def tab(browser: Browser, scheme: Literal["light", "dark"] = "light", width: int = 1280) -> Page:
    """A new visitor."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def visit(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.address}/{'' if name == 'Data' else name.lower()}")
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def open_demo_table(page: Page, server: Server) -> None:
    visit(page, server, "Data")
    expect(page.get_by_role("button", name="Open this table")).to_be_disabled()
    page.get_by_text("Several rows can belong to one person").click()
    page.get_by_role("button", name="Open this table").click()
    expect(page.get_by_text("is open.")).to_be_visible()
    page.get_by_role("link", name="Go on to Plan").click()
    expect(page.get_by_role("heading", name="Plan", exact=True)).to_be_visible()


def go_on(page: Page) -> None:
    """From the plan to the page that releases it."""
    page.get_by_role("link", name="Go on to Release").click()
    expect(page.get_by_role("heading", name="Release", exact=True)).to_be_visible()
    expect(page.get_by_text("What you are about to release")).to_be_visible()


def spend(page: Page, epsilon: str) -> None:
    """Type the epsilon of the next release and wait until the page has priced it."""
    field = page.get_by_role("textbox", name="Epsilon (ε)")
    field.fill(epsilon)
    field.press("Enter")
    expect(page.get_by_text(f"with ε {epsilon}.")).to_be_visible()


def release_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Release", exact=True)


def finished(page: Page) -> None:
    expect(page.get_by_text("Released, stored and paid")).to_be_visible()


def picture(page: Page, folder: Path, name: str) -> None:
    page.wait_for_timeout(500)
    page.screenshot(path=folder / f"{name}.png", full_page=True)
    assert (folder / f"{name}.png").stat().st_size > 5_000


def test_from_the_demo_table_to_a_file(browser: Browser, home: Path, tmp_path: Path) -> None:
    with serving(home) as server:
        page = tab(browser)
        open_demo_table(page, server)
        expect(page.get_by_role("link", name="Go on to Release")).to_be_visible()
        picture(page, tmp_path, "plan")
        go_on(page)
        picture(page, tmp_path, "release")
        release_button(page).dblclick()
        page.wait_for_url("**/release?release=*")
        page.reload()
        finished(page)
        [entry] = server.entries()
        assert entry.status == "stored"

        with page.expect_download() as download:
            page.get_by_role("button", name="CSV", exact=True).click()
        assert download.value.suggested_filename == "clinic_visits-synthetic.csv"
        with open(download.value.path(), newline="", encoding="utf-8") as synthetic:
            records = list(csv.reader(synthetic))
        with open(ROOT / "data" / "clinic_visits.csv", newline="", encoding="utf-8") as original:
            header = next(csv.reader(original))
        assert records[0] == [name for name in header if name != "patient_id"]
        assert len(records) > 1_000
        with page.expect_download() as download:
            page.get_by_role("button", name="Everything (ZIP)").click()
        assert Path(download.value.path()).read_bytes() == Ledger(home / "ledger.sqlite").result(entry.plan_id)

        # The same plan in a new tab is not paid for again.
        another = tab(browser, "dark")
        visit(another, server, "Plan")
        go_on(another)
        expect(another.get_by_text("already paid; its release is stored")).to_be_visible()
        expect(release_button(another)).to_be_disabled()
        another.get_by_role("button", name="Open the stored release").click()
        finished(another)
        picture(another, tmp_path, "result-dark")
        another.get_by_role("link", name="Budget").click()
        expect(another.get_by_text("No row is ever deleted")).to_be_visible()
        picture(another, tmp_path, "budget-dark")
        assert len(server.entries()) == 1


def test_closed_tab_and_killed_server_lose_nothing(browser: Browser, home: Path, tmp_path: Path) -> None:
    with serving(home) as server:
        page = tab(browser)
        open_demo_table(page, server)
        spend(page, "0.5")
        go_on(page)
        release_button(page).click()
        page.wait_for_url("**/release?release=*")
        page.context.close()
        page = tab(browser, width=390)
        visit(page, server, "Release")
        page.get_by_text("Earlier releases (1)").click()
        page.get_by_role("button", name="Open it").click()
        finished(page)
        picture(page, tmp_path, "result-narrow")

        page.get_by_role("button", name="Plan another release").click()
        rows = page.get_by_role("spinbutton", name="Synthetic rows")
        rows.fill("300000")
        rows.press("Enter")
        spend(page, "0.25")
        go_on(page)
        expect(page.get_by_text("Synthetic records (300,000)")).to_be_visible()
        release_button(page).click()
        page.wait_for_url(re.compile(r"release=[0-9a-f]{32}$"))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        link = page.url.partition("?")[2]
        page.context.close()
    with serving(home) as server:
        page = tab(browser)
        page.goto(f"{server.address}/release?{link}")
        finished(page)
        assert [entry.status for entry in server.entries()] == ["stored", "stored"]


def test_strangers_are_kept_out_whatever_page_they_visit_first(chromium_path: str, home: Path) -> None:
    with sync_playwright() as playwright, serving(home) as server:
        # A name of somebody else that leads to this machine, as in a rebinding attack.
        flags = [*FLAGS, "--host-resolver-rules=MAP desk.test 127.0.0.1"]
        launched = playwright.chromium.launch(executable_path=chromium_path, args=flags)
        page = tab(launched)
        page.goto(f"http://desk.test:{server.port}/budget")
        expect(page.get_by_text("served on this machine only")).to_be_visible()
        expect(page.get_by_text("There is no table yet")).to_have_count(0)
        launched.close()
    assert not home.exists()
