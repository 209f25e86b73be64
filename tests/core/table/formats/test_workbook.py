"""Workbooks: what is read, and what is refused before it can do harm."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest

from core.base.errors import BadFile
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats import workbook
from core.table.source import opened, stored_tables
from core.table.table import Table, inspect

DOMAIN = Domain.from_list(
    [
        {"name": "age", "kind": "integers", "low": 0, "high": 120, "missing": True},
        {"name": "sex", "kind": "categories", "values": ["male", "female"], "other": "other"},
        {"name": "day", "kind": "dates", "low": "2024-01-01", "high": "2024-01-31", "missing": True},
    ]
)
HEADER = (None, "age", "sex", "day")


def written(path: Path, *rows: tuple[object, ...], header: tuple[object, ...] = HEADER) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "People"
    for row in (header, *rows):
        sheet.append(row)
    book.save(path)
    return path


def codes(path: Path) -> dict[str, list[int]]:
    table = Table.load((path, "People"), DOMAIN, Unit.row(), Noise())
    return {name: column.tolist() for name, column in table.codes.items()}


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.xlsx",
        (0, 41, "male", datetime(2024, 1, 3)),
        (1, 12.0, "x", None),
        (2, None, "female", "2024-01-02"),
    )
    assert stored_tables(path) == ("People",)
    assert [column.name for column in inspect((path, "People"))] == ["column_1", "age", "sex", "day"]
    assert codes(path) == {"age": [41, 12, 121], "sex": [0, 2, 1], "day": [2, 31, 1]}


def test_lines_without_cells_cells_beside_the_table_and_formulas(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "People"
    for row, cells in {
        3: HEADER,
        4: (0, 41, "male", None),
        9: (1, "=40+1", "male", None),
        10: (2, "#N/A", "male"),
    }.items():
        for place, cell in enumerate(cells, start=1):
            sheet.cell(row, place, cell)
    sheet.cell(4, 20, "a note")
    sheet.cell(12, 20, "a note alone")
    book.create_chartsheet("Chart")
    book.save(path)
    assert stored_tables(path) == ("People",)
    # No program has computed the formula, so no result is stored beside it.
    assert codes(path)["age"] == [41, 121, 121]


def test_one_row_moves_no_other(tmp_path: Path) -> None:
    plain = [(place, 30, "male", datetime(2024, 1, 2)) for place in range(5)]
    before = codes(written(tmp_path / "a.xlsx", *plain))
    for place, odd in enumerate([("x", "thirty", True, 3.5), (None, None, "", None), (1, 30.0, "male ", "2024-01-02")]):
        after = codes(written(tmp_path / f"b{place}.xlsx", *plain[:2], odd, *plain[2:]))
        for name, column in after.items():
            kept = column[:2] + column[3:] if len(column) == 6 else column
            assert kept == before[name]


def test_ids_are_told_apart_as_in_other_files(tmp_path: Path) -> None:
    rows = [
        (1, 30, "male"),
        ("1", 31, "male"),
        (1.0, 32, "male"),
        (2, 33, "male"),
        (None, 34, "male"),
        (True, 35, "male"),
    ]
    path = written(tmp_path / "a.xlsx", *rows, header=("id", "age", "sex", "day"))
    with opened((path, "People")) as found:
        found.take(["id"])
        [(_, ids)] = found.owners("id")
        owners = ids.tolist()
    assert owners[0] == owners[1] == owners[2] and owners[4] == -1
    assert len({owners[0], owners[3], owners[5]}) == 3
    large = written(tmp_path / "b.xlsx", (1e17, 3, "male"), header=("id", "age", "sex"))
    with pytest.raises(BadFile, match="too large for floats"), opened((large, "People")) as found:
        found.take(["id"])
        next(iter(found.owners("id")))


def changed(path: Path, name: str, change: Callable[[bytes], bytes], level: int = 9) -> Path:
    """The workbook with one part changed, or added."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    parts[name] = change(parts.get(name, b""))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    found = path.with_name(f"changed-{path.name}")
    found.write_bytes(buffer.getvalue())
    return found


SHEET = "xl/worksheets/sheet1.xml"
ENTITY = b'<!DOCTYPE w [<!ENTITY a "secret"><!ENTITY b "&a;&a;&a;">]>'
HOSTILE: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "bomb": (SHEET, lambda part: part + b" " * (64 << 20), "unpacks to more"),
    "wide styles": ("xl/styles.xml", lambda part: part + b" " * (9 << 20), "unpacks to more"),
    "entities": (SHEET, lambda part: ENTITY + part[part.index(b"<worksheet") :], "cannot be read"),
    "two meanings": (
        "[Content_Types].xml",
        lambda part: part.replace(
            b"</Types>", b'<Override PartName="/xl/workbook.xml" ContentType="application/x.worksheet+xml"/></Types>'
        ),
        "cannot be read",
    ),
    "no manifest": ("[Content_Types].xml", lambda part: b"", "cannot be read"),
    "damaged": (SHEET, lambda part: part[: len(part) // 2], "cannot be read"),
    "no number": (SHEET, lambda part: part.replace(b"<v>41</v>", b"<v>secret</v>"), "cannot be read"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_workbooks_are_one_sentence(case: str, tmp_path: Path) -> None:
    name, change, words = HOSTILE[case]
    path = changed(written(tmp_path / "a.xlsx", (0, 41, "male", None)), name, change)
    with pytest.raises(BadFile, match=words) as told:
        codes(path)
    assert "secret" not in str(told.value)
    assert told.value.__context__ is None or case == "no manifest"


@pytest.mark.exhaustive
def test_far_cells_take_no_memory(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xlsx", (0, 41, "male", None))
    far = b'<row r="99999999999"><c r="ZZZ99999999999" t="n"><v>1</v></c></row></sheetData>'
    path = changed(path, SHEET, lambda part: part.replace(b"</sheetData>", far))
    assert codes(path)["age"] == [41]


def test_macros_links_and_pictures_are_not_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xlsx", (0, 41, "male", None))
    for part in ("xl/vbaProject.bin", "xl/media/image1.png", "docProps/custom.xml"):
        path = changed(path, part, lambda _: b"\x00broken")
    assert codes(path)["age"] == [41]


def test_other_archives_passwords_and_names(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xlsx", (0, 41, "male", None))
    with pytest.raises(BadFile, match="name one of its sheets"):
        inspect(path)
    with pytest.raises(BadFile, match="no sheet 'Gone'"):
        inspect((path, "Gone"))
    (tmp_path / "b.xlsx").write_bytes(b"\xd0\xcf\x11\xe0 a workbook with a password")
    with pytest.raises(BadFile, match="old Office"):
        inspect((tmp_path / "b.xlsx", "People"))
    (tmp_path / "a.ods").write_bytes(path.read_bytes())
    with pytest.raises(BadFile, match=r"another kind than \.xlsx"):
        inspect((tmp_path / "a.ods", "People"))


def test_entities_are_refused_even_where_somebody_switched_that_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.xlsx", (0, 41, "male", None))
    monkeypatch.setattr("openpyxl.xml.DEFUSEDXML", False)
    with pytest.raises(BadFile, match="defusedxml"):
        workbook.sheets(path)
