"""A file of one's own, described wrongly at first, and cells that a spreadsheet would take for formulas."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.browser.browsing import (
    CALM,
    download,
    finished,
    go_on,
    release_button,
    settled,
    spend,
    tab,
    titled,
    use_code_book,
    visit,
)
from tests.dashboard.server import serving

pytestmark = pytest.mark.browser

FORMULAS = ("=1+1", "@x", "+y", "-z")
CODE_BOOK = '''name,kind,low,high,bins,values
age,integers,0,99,10,
mark,categories,,,,"""=1+1"" | @x | +y | -z | plain"'''


@pytest.mark.slow
def test_an_upload_with_a_wrong_schema_corrected_and_formulas_neutralised(browser: Browser, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    with people.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "mark"])
        writer.writerows([place % 100, (*FORMULAS, "plain")[place % 5]] for place in range(2_000))
    with serving(tmp_path / "home", **CALM) as server:
        page = tab(browser)
        visit(page, server, "Data")
        page.get_by_text("Upload a file").click()
        page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(people)
        expect(page.get_by_text("with 2 columns")).to_be_visible()
        page.get_by_text("Each row is another person").click()

        use_code_book(page, CODE_BOOK)
        _type_high(page, "-5")
        refusal = page.get_by_role("alert").filter(has_text="Column 'age'")
        expect(refusal).to_have_count(1)
        assert _sentences(refusal.inner_text()) == 1
        assert page.get_by_text("Traceback").count() == 0
        expect(page.get_by_role("button", name="Open this table")).to_be_disabled()
        _type_high(page, "99")
        expect(refusal).to_have_count(0)
        page.get_by_role("button", name="Open this table").click()
        expect(page.get_by_text("Every cell fits the schema")).to_be_visible()
        page.get_by_role("link", name="Go on to Plan").click()
        titled(page, "Plan")
        spend(page, "1.5")
        go_on(page)
        release_button(page).click()
        finished(page)
        with open(download(page, "CSV").path(), newline="", encoding="utf-8") as file:
            records = list(csv.reader(file))
        assert records[0] == ["age", "mark"]
        marks = {mark for _, mark in records[1:]}
        assert marks == {"plain", *(f"'{formula}" for formula in FORMULAS)}
        for row in csv.reader(Path(download(page, "Noisy tables").path()).read_text(encoding="utf-8").splitlines()):
            assert not any(cell.startswith(("=", "@")) for cell in row)


def _type_high(page: Page, text: str) -> None:
    """Type the upper bound of the first column into the grid, which is a picture: its cell is found by its place."""
    settled(page)
    grid = page.get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    # The columns before it are 125, 70, 90, 105 and 95 wide; the header and a line are 35 high.
    grid.click(position={"x": 530, "y": 53})
    page.keyboard.press("Enter")
    editor = page.locator(".gdg-input")
    editor.fill(text)
    editor.press("Enter")
    expect(editor).to_have_count(0)


def _sentences(text: str) -> int:
    return sum(text.rstrip().count(f"{mark} ") + text.rstrip().endswith(mark) for mark in ".!?")
