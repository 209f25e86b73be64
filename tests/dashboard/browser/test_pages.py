"""Every page as it looks and as it is read aloud: light and dark, narrow and wide, with the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.desk.desk import Desk
from core.formulas.question import question
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from dashboard.views.data import sources_form
from tests.dashboard import listed
from tests.dashboard.browser.browsing import (
    Scheme,
    accessible,
    choose_demo,
    finished,
    go_on,
    opened,
    picture,
    settled,
    tab,
    titled,
    unfold_rest,
    visit,
)
from tests.dashboard.server import ROOT, Server, serving

pytestmark = pytest.mark.browser

PAGES = [title for title in listed.PAGES.values() if title != "Release"]
FIGURE, GRID, TABLE = "stPlotlyChart", "stDataFrame", "stTable"
FEWEST = {
    "Data": {GRID},
    "Plan": {FIGURE},
    "Ask": {FIGURE, GRID},
    "Decide": set(),
    "Collect": {FIGURE, TABLE},
    "Accuracy": {FIGURE, TABLE},
    "Budget": {FIGURE, GRID},
    "Limits": {FIGURE, TABLE},
    "Shared": {FIGURE},
    "Help": {TABLE},
}
"""What each page must have for its text alternatives to be worth a check; the page Release is reached by a plan."""
TABS = 80


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A desk with the demo table, two releases, one of them shared, and a session that was asked."""
    home = tmp_path_factory.mktemp("pages") / "home"
    schema = Domain.from_json((ROOT / "data" / "clinic_visits.schema.json").read_text(encoding="utf-8"))
    desk, delta = Desk(home), "1e-9"
    table = desk.add_table(
        ROOT / "data" / "clinic_visits.csv",
        schema,
        unit=Unit(column="patient_id", limit=3),
        budget=Budget(4, delta),
        name="clinic_visits",
    )
    shared = desk.plan(table, [Marginals(order=2)], mechanism="gaussian", budget=Budget(1, delta))
    desk.release(shared)
    desk.share(shared.id, title="Visits to the clinic", note="Counts of every pair of columns.")
    ages = [Intervals(column="age")]
    desk.release(desk.plan(table, ages, mechanism="interval-tree", budget=Budget("0.3", delta)))
    session = desk.ask(table, mechanism="online-laplace", budget=Budget("0.5", delta), questions=8)
    for age in (20, 40, 65):
        session.answer(question(f"age >= {age}", session.domain))
    desk.close()
    with serving(home) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1600), ("dark", 360)])
def test_every_page_can_be_seen_and_read_aloud(
    browser: Browser, server: Server, tmp_path: Path, scheme: Scheme, width: int
) -> None:
    """One walk for all checks, because a page takes a second to draw."""
    page = tab(browser, scheme, width)
    for name in PAGES:
        visit(page, server, name)
        if name == "Data":
            choose_demo(page)
        elif name == "Help":
            page.get_by_text("What can be asked", exact=True).click()
        _check(page, tmp_path, name.lower(), FEWEST[name])
    visit(page, server, "Plan")
    go_on(page)
    _check(page, tmp_path, "release", set())
    plan_id = next(entry.plan_id for entry in server.entries() if '"gaussian"' in entry.plan_json)
    visit(page, server, "Release", f"?release={plan_id}")
    finished(page)
    _check(page, tmp_path, "result", {FIGURE, GRID})
    assert len(list(tmp_path.glob("*.png"))) == len(PAGES) + 2


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_what_is_chosen_or_unfolded_can_be_read_too(
    browser: Browser, server: Server, scheme: Scheme, width: int
) -> None:
    page = tab(browser, scheme, width)
    visit(page, server, "Data")
    for source in list(sources_form.CHOICES)[1:]:
        page.get_by_text(source, exact=True).first.click()
        settled(page)
        accessible(page, source)
    for name in ("Collect", "Budget", "Decide", "Help"):
        visit(page, server, name)
        settled(page)
        unfold_rest(page)
        accessible(page, f"{name}, unfolded")
    visit(page, server, "Ask")
    settled(page)
    session = page.get_by_role("combobox", name="Session")
    opened(page, session, page.get_by_role("option").filter(has_text="opened")).click()
    page.get_by_text("Numbers by group", exact=True).click()
    settled(page)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("It rests on")).to_be_visible()
    settled(page)
    accessible(page, "an answer by group")
    visitor = tab(browser, scheme, width)
    visitor.goto(f"{server.address}/shared")
    expect(visitor.get_by_role("heading", name="Visits to the clinic")).to_be_visible()
    settled(visitor)
    unfold_rest(visitor)
    accessible(visitor, "a shared release")


def _check(page: Page, folder: Path, name: str, expected: set[str]) -> None:
    main = page.get_by_test_id("stMain")
    for kind in expected:
        expect(main.get_by_test_id(kind).first, f"{name}: {kind}").to_be_visible()
    picture(page, folder, name)
    _nothing_is_cut_off(page)
    _headings_are_in_order(page)
    accessible(page, name)
    for kind in (FIGURE, GRID, TABLE):
        for element in main.get_by_test_id(kind).all():
            assert _alternative(element.evaluate(LABELS)), f"{name}: {kind} without a text alternative"


LABELS = """element => [element, ...element.querySelectorAll('*')].map(
    part => part.getAttribute('aria-label') || part.getAttribute('alt') || (part.tagName == 'CAPTION' && part.innerText)
)"""


def _alternative(labels: list[str | None]) -> bool:
    """Whether one of the labels is a sentence and not the name of a button."""
    return any(label and len(label.split()) >= 3 and label.rstrip().endswith(".") for label in labels)


def _nothing_is_cut_off(page: Page) -> None:
    main = page.get_by_test_id("stMain")
    wide, shown = main.evaluate("main => [main.scrollWidth, main.clientWidth]")
    assert wide <= shown, "the page scrolls sideways"


def _headings_are_in_order(page: Page) -> None:
    expect(page.get_by_test_id("stMain").get_by_role("heading", level=1).first).to_be_visible()
    levels = page.get_by_test_id("stMain").evaluate(
        "main => [...main.querySelectorAll('h1, h2, h3, h4')].map(heading => Number(heading.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


@pytest.mark.slow
def test_the_demo_table_is_opened_with_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as server:
        page = tab(browser)
        visit(page, server, "Data")
        settled(page)
        accessible(page, "the first page")
        _tab_to(page, "Try the demo table")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Visits to a clinic", exact=True)).to_be_visible()
        settled(page)
        _tab_to(page, "One person")
        expect(page.get_by_role("button", name="Open this table")).to_be_enabled()
        settled(page)
        _tab_to(page, "Open this table")
        page.keyboard.press("Enter")
        expect(page.get_by_text("is open.")).to_be_visible()
        settled(page)
        _stays_readable_under_the_pointer(page, page.get_by_role("link", name="Go on to Plan"))
        _tab_to(page, "Go on to Plan")
        page.keyboard.press("Enter")
        titled(page, "Plan")


def _stays_readable_under_the_pointer(page: Page, link: Locator) -> None:
    """The main button where it is a link: white on the main colour, which other links lose under the pointer."""
    colours = "each => [each, each.querySelector('p')].map(part => getComputedStyle(part))"
    colours += ".map((style, place) => place ? style.color : style.backgroundColor)"
    before = link.evaluate(colours)
    link.hover()
    page.wait_for_timeout(500)
    assert link.evaluate(colours) == before == ["rgb(31, 95, 139)", "rgb(255, 255, 255)"]


def _tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on something of this name, or within a group of this name."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if name in page.evaluate(FOCUSED):
            return
    raise AssertionError(f"{TABS} tabs do not reach '{name}'")


FOCUSED = """() => {
    const part = document.activeElement, group = part.closest('[role=radiogroup]');
    const text = part.matches('a, button, input') ? part.innerText : '';
    return [text, part.ariaLabel, group && (group.ariaLabel || group.innerText)].join(' ');
}"""
"""The name of what has the focus; a part of the page that scrolls has it too, and no name."""
