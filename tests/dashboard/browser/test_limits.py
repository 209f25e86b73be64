"""The page Limits in a real browser: for everybody, but for its last part, which only the curator sees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.dashboard.browser.browsing import settled, tab, titled, unfold, visit
from tests.dashboard.server import Server, serving

pytestmark = pytest.mark.browser

HEADINGS = (
    "Too many exact answers give everybody away",
    "A class that is too rich gives its rows back",
    "The finer the column, the larger the error",
    "Some parity is always wrong",
    "Hiding a person is not hiding a sample",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("limits") / "home") as running:
        yield running


@pytest.mark.slow
def test_attacks_are_for_the_curator_alone(browser: Browser, server: Server) -> None:
    curator = tab(browser)
    visit(curator, server, "Limits")
    expect(curator.get_by_role("heading", name="Attack my release")).to_be_visible()
    settled(curator)

    stranger = tab(browser, width=390)
    stranger.goto(f"{server.address}/limits")
    titled(stranger, "Limits")
    for heading in HEADINGS:
        expect(stranger.get_by_role("heading", name=heading)).to_be_visible()
    unfold(stranger)
    settled(stranger)
    assert "Attack my release" not in stranger.content()
    assert stranger.get_by_role("button", name="Attack", exact=True).count() == 0
    main = stranger.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth"), "nothing is wider than the page"
