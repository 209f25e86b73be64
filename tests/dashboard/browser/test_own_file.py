"""A file of one's own: a messy workbook that survives a reload, 35 columns described at once, cells that are pasted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from core.desk.desk import Desk
from tests.dashboard.browser.browsing import (
    CALM,
    finished,
    go_on,
    opened,
    picture,
    release_button,
    settled,
    spend,
    tab,
    titled,
    use_code_book,
    visit,
)
from tests.dashboard.server import Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CODE_BOOK = """name,kind,low,high,values
age,integers,0,99,
Sex,categories,,,male | female
town,categories,,,Zürich | Genève"""
WIDE = 35
PICTURES = os.environ.get("RELEASE_DESK_PICTURES")
"""Where somebody wants to look at the pages; otherwise they are drawn and forgotten."""


def messy(path: Path) -> Path:
    """An index without a name, a name twice, letters with accents, a second sheet, an empty line, a note aside."""
    generator = np.random.default_rng(5)
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Visits 2024"
    sheet.append([None, "age", "Sex", "town", "remark", "remark"])
    for place in range(1_500):
        sex = generator.choice(["male", "female"])
        sheet.append([place, int(generator.integers(0, 100)), sex, generator.choice(["Zürich", "Genève"]), "x", None])
    sheet["J3"] = "ask Ann about this"
    book.create_sheet("Notes").append(["nothing here"])
    book.save(path)
    return path


def pictures(page: Page, folder: Path, name: str) -> None:
    picture(page, Path(PICTURES) if PICTURES else folder, name)


def test_a_messy_workbook_from_upload_to_release(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "home", **CALM) as server:
        page = tab(browser)
        visit(page, server, "Data")
        page.get_by_text("Upload a file", exact=True).click()
        uploader = page.get_by_test_id("stFileUploaderDropzoneInput").first
        uploader.set_input_files(messy(tmp_path / "visits.xlsx"))
        settled(page)
        sheets = page.get_by_role("combobox", name="Table or sheet in the file")
        opened(page, sheets, page.get_by_role("option", name="Visits 2024")).click()
        expect(page.get_by_text("with 6 columns")).to_be_visible()
        page.get_by_text("Each row is another person").click()
        expect(page.get_by_text("1 mistake in the grid")).to_be_visible()
        pictures(page, tmp_path, "messy-light")

        # The guess 'F, M' by the name alone does not fit: the curator is told in red, and corrects it in another tab.
        use_code_book(page, "name,kind,low,high,values\ntown,categories,,,Zürich | Genève")
        another = tab(browser)
        visit(another, server, "Data")
        another.get_by_role("button", name="Go on with it").click()
        expect(another.get_by_text("with 6 columns")).to_be_visible()
        another.get_by_role("button", name="Open this table").click()
        expect(another.get_by_role("alert").filter(has_text="Many cells of 'Sex'")).to_be_visible()
        use_code_book(another, CODE_BOOK)
        another.get_by_role("button", name="Open this table").click()
        expect(another.get_by_text("Every cell fits the schema")).to_be_visible()
        settled(another)
        another.get_by_role("link", name="Go on to Plan").last.click()
        titled(another, "Plan")
        spend(another, "1")
        go_on(another)
        release_button(another).click()
        finished(another)
    assert not list((server.home / "drafts").rglob("*.xlsx")), "the copy is gone when the table is open"


def test_35_columns_are_described_at_once(browser: Browser, tmp_path: Path) -> None:
    generator = np.random.default_rng(6)
    frame = pd.DataFrame({f"answer {place}": generator.integers(0, 5, 800) for place in range(1, WIDE + 1)})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    with serving(tmp_path / "home", **CALM) as server:
        page = tab(browser)
        visit(page, server, "Data")
        page.get_by_text("Upload a file", exact=True).click()
        page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(tmp_path / "wide.csv")
        page.get_by_text("Each row is another person").click()
        expect(page.get_by_text(f"{WIDE} mistakes in the grid")).to_be_visible()
        _reachable(page, 1280)
        page.get_by_role("button", name="Set several columns at once").click()
        page.get_by_role("combobox", name="Columns to set").click()
        page.get_by_text("Select all").click()
        page.keyboard.press("Escape")
        page.get_by_role("combobox", name="Kind").click()
        page.get_by_role("option", name="integers").click()
        for label, text in (("Low", "0"), ("High", "4")):
            field = page.get_by_role("textbox", name=label, exact=True)
            field.fill(text)
            field.press("Tab")
        page.get_by_role("button", name="Set them").click()
        expect(page.get_by_text("mistakes in the grid")).to_have_count(0)
        settled(page)
        pictures(page, tmp_path, "wide-light")
        page.get_by_role("button", name="Open this table").click()
        expect(page.get_by_text("Every cell fits the schema")).to_be_visible()
        settled(page)
    desk = Desk(server.home)
    assert [len(table.domain) for table in desk.tables()] == [WIDE]
    desk.close()


def test_cells_are_pasted_from_a_spreadsheet_and_the_same_file_goes_on(browser: Browser, tmp_path: Path) -> None:
    generator, file = np.random.default_rng(7), tmp_path / "answers.csv"
    lows = {f"answer {place}": place for place in range(1, 4)}
    frame = pd.DataFrame({name: generator.integers(low, low + 5, 800) for name, low in lows.items()})
    frame.to_csv(file, index=False)
    with serving(tmp_path / "home", **CALM) as server:
        page = _with_upload(browser, server, file)
        expect(page.get_by_text("3 mistakes in the grid")).to_be_visible()
        _paste(page, "\n".join(f"integers\t{low}\t{low + 4}" for low in lows.values()))
        expect(page.get_by_text("mistakes in the grid")).to_have_count(0)
        settled(page)
        pictures(page, tmp_path, "pasted")
        page.context.close()

        again = _with_upload(browser, server, file)
        expect(again.get_by_text("The draft is back as it was left.")).to_be_visible()
        expect(again.get_by_text("mistakes in the grid")).to_have_count(0)
        again.get_by_role("button", name="Open this table").click()
        expect(again.get_by_text("Every cell fits the schema")).to_be_visible()
        settled(again)
    desk = Desk(server.home)
    [table] = desk.tables()
    assert {each.name: (each.label(0), each.size) for each in table.domain} == {
        name: (str(low), 5) for name, low in lows.items()
    }
    desk.close()


def _with_upload(browser: Browser, server: Server, file: Path) -> Page:
    page = tab(browser)
    visit(page, server, "Data")
    page.get_by_text("Upload a file", exact=True).click()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(file)
    expect(page.get_by_text("with 3 columns")).to_be_visible()
    page.get_by_text("Each row is another person").click()
    settled(page)
    return page


def _paste(page: Page, text: str) -> None:
    """Into the column 'Kind', from its first line on, by the keyboard, so that the browser makes the event."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    grid = page.get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    chosen = grid.locator("td[aria-selected=true]")
    for _ in range(10):  # a grid that is drawn again has forgotten the click, and a second one would open the cell
        # The columns before it are 125, 70 and 90 wide; the header and a line are 35 high.
        grid.click(position={"x": 340, "y": 53})
        page.wait_for_timeout(1_000)
        if chosen.count():
            break
    page.keyboard.press("Control+V")


def _reachable(page: Page, width: int) -> None:
    """The grid lies inside the window, and scrolls to its last column."""
    settled(page)
    grid = page.get_by_test_id("stDataFrame").first
    box = grid.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
    scroller = grid.locator(".dvn-scroller")
    inside, whole = scroller.evaluate("each => [each.clientWidth, each.scrollWidth]")
    assert whole > inside, "the columns are wider than the window"
    for _ in range(20):  # a grid that is drawn again starts at its beginning
        scroller.evaluate("each => { each.scrollLeft = each.scrollWidth }")
        page.wait_for_timeout(200)
        if reached := scroller.evaluate("each => each.scrollLeft + each.clientWidth >= each.scrollWidth - 2"):
            break
    assert reached, "the last column cannot be reached"
    scroller.evaluate("each => { each.scrollLeft = 0 }")
