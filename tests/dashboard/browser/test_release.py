"""The way from a table to a file in a real Chromium, served as README's command serves it, whatever gets in between."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from core.ledger.ledger import Ledger
from tests.dashboard.browser.browsing import (
    CALM,
    download,
    finished,
    go_on,
    open_demo_table,
    picture,
    release_button,
    spend,
    tab,
    visit,
)
from tests.dashboard.server import ROOT, serving

pytestmark = pytest.mark.browser


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.slow
def test_from_the_demo_table_to_a_file(browser: Browser, home: Path, tmp_path: Path) -> None:
    with serving(home) as server:
        page = tab(browser)
        open_demo_table(page, server)
        expect(page.get_by_role("link", name="Go on to Release")).to_be_visible()
        go_on(page)
        picture(page, tmp_path, "release-light")
        release_button(page).dblclick()
        page.wait_for_url("**/release?release=*")
        page.reload()
        finished(page)
        [entry] = server.entries()
        assert entry.status == "stored"
        _every_file_opens(page)
        stored = Ledger(home / "ledger.sqlite").result(entry.plan_id)
        assert Path(download(page, "Everything (ZIP)").path()).read_bytes() == stored

        # The same plan in a new tab is not paid for again.
        another = tab(browser, "dark")
        visit(another, server, "Plan")
        go_on(another)
        picture(another, tmp_path, "release-dark")
        expect(another.get_by_text("already paid; its release is stored")).to_be_visible()
        expect(release_button(another)).to_be_disabled()
        another.get_by_role("button", name="Open the stored release").click()
        finished(another)
        assert len(server.entries()) == 1


def _every_file_opens(page: Page) -> None:
    """Each of the downloads is what its name says."""
    with open(ROOT / "data" / "clinic_visits.csv", newline="", encoding="utf-8") as original:
        header = [name for name in next(csv.reader(original)) if name != "patient_id"]
    synthetic = download(page, "CSV")
    assert synthetic.suggested_filename == "clinic_visits-synthetic.csv"
    with open(synthetic.path(), newline="", encoding="utf-8") as file:
        records = list(csv.reader(file))
    assert records[0] == header
    assert len(records) > 1_000
    assert list(pd.read_parquet(io.BytesIO(_bytes(page, "Parquet"))).columns) == header
    assert _bytes(page, "Noisy tables").count(b"\n") > 1_000
    assert json.loads(_bytes(page, "Certificate"))["synthetic_rows"] == len(records) - 1
    report = _bytes(page, "Report").decode()
    assert report.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", report), "the report stands alone"
    metadata = json.loads(_bytes(page, "Metadata (Croissant)"))
    assert "@context" in metadata
    compile(_bytes(page, "Script"), "reproduce.py", "exec")
    with zipfile.ZipFile(io.BytesIO(_bytes(page, "Everything (ZIP)"))) as everything:
        assert everything.testzip() is None
        assert len(everything.namelist()) >= 7


def _bytes(page: Page, label: str) -> bytes:
    return Path(download(page, label).path()).read_bytes()


@pytest.mark.slow
def test_closed_tab_and_killed_server_lose_nothing(browser: Browser, home: Path) -> None:
    with serving(home, **CALM) as server:
        page = tab(browser)
        open_demo_table(page, server)
        spend(page, "0.5")
        go_on(page)
        release_button(page).click()
        page.wait_for_url("**/release?release=*")
        page.context.close()
        page = tab(browser, width=360)
        visit(page, server, "Release")
        page.get_by_text("Earlier releases (1)").click()
        page.get_by_role("button", name="Open it").click()
        finished(page)

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
    with serving(home, **CALM) as server:
        page = tab(browser)
        visit(page, server, "Release", f"?{link}")
        finished(page)
        assert [entry.status for entry in server.entries()] == ["stored", "stored"]
