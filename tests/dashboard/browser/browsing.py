"""What visitors do in a real browser, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Download, Locator, Page, TimeoutError, expect

from dashboard.views.limits import sections
from dashboard.views.plan.trials import first_trials, public_trials
from tests.dashboard.server import PATIENCE, STRANGER, Server

expect.set_options(timeout=PATIENCE)

Scheme = Literal["light", "dark"]
CALM = {public_trials.SECONDS_VARIABLE: "0"}
"""For servers of walks that look at no figure of the Plan page: it makes none of them better meanwhile."""
RESOLVED = f"--host-resolver-rules=MAP {STRANGER} 127.0.0.1"


def tab(browser: Browser, scheme: Scheme = "light", width: int = 1280) -> Page:
    """A new visitor."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def visit(page: Page, server: Server, name: str, query: str = "") -> None:
    """As the curator, by the printed link."""
    page.goto(server.link("" if name == "Data" else name.lower(), query))
    titled(page, name)
    if name == "Limits":
        unfold(page)


def titled(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()


def unfold(page: Page) -> None:
    """Open every section of the page Limits; the first is open already."""
    shown = page.get_by_test_id("stExpander").filter(has_text=sections.SHOW)
    expect(shown).to_have_count(len(sections.SECTIONS))
    for place in range(1, len(sections.SECTIONS)):
        shown.nth(place).get_by_text(sections.SHOW).click()
        expect(shown.nth(place).get_by_test_id("stMarkdown").first).to_be_visible()


def unfold_rest(page: Page) -> None:
    """Open whatever can still be unfolded on a page, also what comes to light by that."""
    closed = page.get_by_test_id("stMain").locator("details:not([open]) > summary")
    while closed.count():
        left = closed.count()
        closed.first.click()
        expect(closed).not_to_have_count(left)
        settled(page)


def choose_demo(page: Page) -> None:
    page.get_by_text("Demo table", exact=True).first.click()
    expect(page.get_by_text("Visits to a clinic", exact=True)).to_be_visible()
    settled(page)


def open_demo_table(page: Page, server: Server) -> None:
    visit(page, server, "Data")
    choose_demo(page)
    page.get_by_role("button", name="Open this table").click()
    expect(page.get_by_text("is open.")).to_be_visible()
    page.get_by_role("link", name="Go on to Plan").click()
    titled(page, "Plan")


def go_on(page: Page) -> None:
    """From the plan to the page that releases it."""
    page.get_by_role("link", name="Go on to Release").click()
    titled(page, "Release")
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


def download(page: Page, label: str) -> Download:
    with page.expect_download() as started:
        page.get_by_role("button", name=label, exact=True).click()
    return started.value


def settled(page: Page) -> None:
    """Wait until the page has run to its end, nothing is tried beside it any more, and its figures are drawn."""
    ran = expect(page.get_by_test_id("stApp"))
    ran.to_have_attribute("data-test-script-state", "notRunning")
    for what in (first_trials.TRYING, first_trials.PRICING, first_trials.COMPARING):
        expect(page.get_by_text(f"{what} …")).to_have_count(0)
    ran.to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    for figure in page.get_by_test_id("stPlotlyChart").all():
        expect(figure.locator(".main-svg").first).to_be_visible()


def opened(page: Page, opener: Locator, inside: Locator) -> Locator:
    """What is inside a list or popover, once it is open: a page that runs again just then has closed it."""
    for patience in (2_000, 5_000, 10_000):
        opener.click()
        try:
            inside.wait_for(timeout=patience)
            return inside
        except TimeoutError:
            settled(page)
    opener.click()
    expect(inside).to_be_visible()
    return inside


def use_code_book(page: Page, text: str) -> None:
    """Paste a code book, and close the popover over it."""
    settled(page)
    field = page.get_by_role("textbox", name="Paste it here")
    opened(page, page.get_by_role("button", name="Use a code book"), field).fill(text)
    field.press("Control+Enter")
    page.get_by_role("button", name="Use it", exact=True).click()
    expect(page.get_by_text("Close this to see the grid")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Close this to see the grid")).to_be_hidden()
    settled(page)


def picture(page: Page, folder: Path, name: str) -> None:
    """The whole page, however long it is: it scrolls inside the window, so the window grows."""
    settled(page)
    size = page.viewport_size
    assert size is not None
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": height})
    page.wait_for_timeout(300)
    page.screenshot(path=folder / f"{name}.png")
    page.set_viewport_size(size)
    assert (folder / f"{name}.png").stat().st_size > 5_000


def accessible(page: Page, name: str) -> None:
    """No serious finding of axe-core, which its package brings along: nothing is fetched."""
    found = Axe().run(page).response["violations"]
    serious = [
        f"{finding['id']}: {node['html'][:200]}"
        for finding in found
        for node in finding["nodes"]
        if finding["impact"] in ("serious", "critical")
    ]
    assert not serious, f"{name}: {serious}"
