"""The curator's link in a real browser, and what a page of somebody else can do with the cookie it left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.browser.browsing import settled, tab, titled, visit
from tests.dashboard.listed import PAGES
from tests.dashboard.server import Server, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("door") / "home") as running:
        yield running


class EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Somebody else</h1>")

    def log_message(self, *words: object) -> None:
        """Nothing to say."""


@pytest.fixture
def somebody_else() -> Iterator[str]:
    """A page at another port of this machine."""
    other = ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{other.server_port}/"
    other.shutdown()
    thread.join()
    other.server_close()


def pages(page: Page) -> list[str]:
    settled(page)
    return [link.inner_text().split()[-1] for link in page.get_by_test_id("stSidebarNavLink").all()]


@pytest.mark.slow
def test_the_key_leaves_the_address_and_stays_with_the_browser(browser: Browser, server: Server) -> None:
    page = tab(browser)
    visit(page, server, "Budget")
    assert page.url == f"{server.address}/budget"
    assert server.key not in page.evaluate("document.cookie"), "no script reads it"
    again = page.context.new_page()
    again.goto(f"{server.address}/plan")
    titled(again, "Plan")
    assert sorted(pages(again)) == sorted(PAGES.values())

    stranger = tab(browser)
    stranger.goto(f"{server.address}/plan")
    titled(stranger, "Shared")
    assert pages(stranger) == ["Shared", "Limits", "Help"]
    stranger.get_by_role("button", name="Close").click()
    stranger.get_by_text("For the curator").click()
    expect(stranger.get_by_text("printed when it was started")).to_be_visible()


CONNECT = """address => new Promise(resolve => {
    const socket = new WebSocket(address, ['streamlit']);
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('refused');
})"""
FETCH = """address => fetch(address, {credentials: 'include'}).then(answer => answer.text(), () => 'refused')"""


@pytest.mark.slow
def test_a_page_at_another_port_cannot_use_the_cookie(browser: Browser, server: Server, somebody_else: str) -> None:
    page = tab(browser)
    visit(page, server, "Data")
    stream = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    assert page.evaluate(CONNECT, stream) == "open", "our own page can"
    assert "ok" in page.evaluate(FETCH, f"{server.address}/_stcore/health")
    page.goto(somebody_else)
    assert page.evaluate(CONNECT, stream) == "refused"
    assert page.evaluate(FETCH, f"{server.address}/_stcore/health") == "refused"


@pytest.mark.slow
def test_a_server_for_visitors_looks_like_their_page(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", "--visitors") as visitors:
        page = tab(browser)
        page.goto(visitors.address)
        titled(page, "Shared")
        assert pages(page) == ["Shared", "Limits", "Help"]
        expect(page.get_by_text("Nothing is shared yet")).to_be_visible()
