"""A table on Spark in a real browser: a folder of Parquet is looked at, opened, released and downloaded."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, expect
from pyarrow import parquet

from dashboard.views.data import sources_form
from dashboard.views.data.servers.spark_form import VARIABLE
from tests.dashboard.browser.browsing import (
    CALM,
    download,
    go_on,
    release_button,
    spend,
    tab,
    titled,
    use_code_book,
    visit,
)
from tests.dashboard.server import PATIENCE, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROWS = 2_000
LONGER = 4 * PATIENCE
"""Java starts twice: for the page that looks, and for the process that releases."""
QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
CODE_BOOK = '''name,kind,low,high,bins,values
age,integers,0,99,10,
town,categories,,,,"Aa | Bb"'''


def test_a_folder_of_parquet_on_spark_is_opened_released_and_downloaded(browser: Browser, tmp_path: Path) -> None:
    people, encoded = tmp_path / "people", tmp_path / "encoded"
    people.mkdir()
    for part in range(2):
        places = range(part, ROWS, 2)
        columns = {"age": [place % 100 for place in places], "town": [("Aa", "Bb")[place // 2 % 2] for place in places]}
        parquet.write_table(pa.table(columns), people / f"{part}.parquet")
    with serving(tmp_path / "home", **CALM, **QUICK_JAVA, **{VARIABLE: "local[2]"}) as server:
        page = tab(browser)
        visit(page, server, "Data")
        page.get_by_text(sources_form.SPARK, exact=True).click()
        page.get_by_role("textbox", name="Path or name").fill(str(people))
        page.get_by_role("textbox", name="Folder on the cluster for encoded columns").fill(str(encoded))
        page.get_by_role("button", name="Look at its columns").click()
        expect(page.get_by_text("'people' with 2 columns")).to_be_visible(timeout=LONGER)
        page.get_by_text("Each row is another person").click()
        use_code_book(page, CODE_BOOK)
        page.get_by_role("button", name="Open this table").click()
        expect(page.get_by_text("is open.")).to_be_visible(timeout=LONGER)
        assert list(encoded.rglob("*.parquet"))
        page.get_by_role("link", name="Go on to Plan").click()
        titled(page, "Plan")
        spend(page, "1.5")
        go_on(page)
        release_button(page).click()
        expect(page.get_by_text("Released, stored and paid")).to_be_visible(timeout=LONGER)
        with open(download(page, "CSV").path(), newline="", encoding="utf-8") as file:
            head, *records = csv.reader(file)
        assert head == ["age", "town"]
        assert len(records) > ROWS / 2 and {town for _, town in records} == {"Aa", "Bb"}
