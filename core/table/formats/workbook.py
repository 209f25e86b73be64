"""Excel workbooks (.xlsx): the sheets of one, and a sheet as rows.

openpyxl reads them, one row at a time. DuckDB has a reader as an extension, which is fetched from the network when it
is first used, and the faster readers lay a sheet out as one rectangle, so that two cells in opposite corners claim the
memory of seventeen thousand million. No formula is computed and no macro, link or picture is looked at: a formula
counts as the result that Excel stored beside it, and as an empty cell where it stored none.

A workbook is an archive, so its parts are weighed by what they claim before any is unpacked. Entities in its XML are
refused by defusedxml.
"""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl.xml
from defusedxml.ElementTree import fromstring
from openpyxl.packaging.manifest import Manifest
from openpyxl.reader.excel import ExcelReader

from core.base.errors import BadFile, printable
from core.table import files
from core.table.formats.packed_cells import PackedCells, chosen
from core.table.row_source import Column

MOST_BYTES = 1 << 30
"""Of all parts unpacked: a full sheet of a million rows and some twenty columns."""
ROOM, ROOM_PER_BYTE = 16 << 20, 200
"""Bytes that any workbook may unpack to, and more for each of its own: sheets of one word shrink to a hundredth."""
MOST_TEXTS = 256 << 20
"""Of the list of texts, which is held in memory."""
MOST_PART = 8 << 20
"""Of any other part, which is held as a tree of objects."""
MOST_PARTS = 10_000
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
"""Of a sheet, by the format."""
ERRORS = frozenset(("#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"))
"""What a formula leaves that could not be computed: no value."""

_SHEET = "worksheet+xml"
_TEXTS = "sharedStrings+xml"
_UNREADABLE = "The workbook cannot be read; it may be damaged or have a password, so save it again as .xlsx."
_TOO_LARGE = "The workbook unpacks to more than a table of its size can need; save the sheet as CSV or Parquet."

# openpyxl warns of a date that is out of range, and quotes it: no cell may reach a log.
warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")


def sheets(path: Path) -> tuple[str, ...]:
    """The names of the sheets that hold cells."""
    with _opened(path) as book:
        return tuple(sheet.title for sheet in book.worksheets)


@contextmanager
def opened(path: Path, name: str) -> Iterator[PackedCells]:
    """A sheet whose first line that is not empty holds the names of the columns.

    Columns reach to the last name; what stands to the right of it is not read. A line without any cell is no row.
    """
    with _opened(path) as book:
        if name not in {sheet.title for sheet in book.worksheets}:
            raise BadFile(f"The workbook has no sheet '{printable(name)}' with cells.")
        sheet = book[name]
        lines = _lines(sheet, MOST_COLUMNS)
        found = _named(next(lines, ()))
        # The lines before the names are empty, so they are not counted among the rows either.
        columns = files.check_names(files.told_apart(found))

        def read(places: Sequence[int]) -> Iterator[list[object]]:
            return chosen(islice(_lines(sheet, len(columns)), 1, None), places)

        yield PackedCells((Column(name, "VARCHAR") for name in columns), read, lambda: _digest(path, name))


def _named(cells: Sequence[object]) -> list[str]:
    """Texts of the line of names, up to the last one."""
    texts = ["" if cell is None else str(cell).strip() for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _lines(sheet: Any, width: int) -> Iterator[Sequence[object]]:
    """The lines of a sheet that hold a cell."""
    sheet.reset_dimensions()  # what a sheet says about its own size may be wrong
    for line in sheet.iter_rows(max_row=MOST_ROWS, max_col=width, values_only=True):
        cells = [None if isinstance(cell, str) and (not cell or cell in ERRORS) else cell for cell in line]
        if any(cell is not None for cell in cells):
            yield cells


def _digest(path: Path, name: str) -> str:
    return hashlib.sha256(f"{files.digest(path, text=False)} {name}".encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The workbook, for reading; what its reader raises may quote a cell, and whoever calls this replaces it."""
    _check(path)
    reader = _SheetReader(str(path), read_only=True, data_only=True, keep_links=False)
    try:
        reader.read()
        yield reader.wb
    finally:
        reader.archive.close()


def _check(path: Path) -> None:
    """Refuse archives that claim too much, before anything is unpacked but the list of their parts."""
    if not openpyxl.xml.DEFUSEDXML:
        raise BadFile("Workbooks are read with defusedxml only; install it, and do not switch it off.")
    try:
        with zipfile.ZipFile(path) as archive:
            parts = {part.filename: part.file_size for part in archive.infolist()}
            if len(parts) > MOST_PARTS or len(parts) < len(archive.infolist()):
                raise BadFile(_UNREADABLE)
            if sum(parts.values()) > min(MOST_BYTES, ROOM + ROOM_PER_BYTE * path.stat().st_size):
                raise BadFile(_TOO_LARGE)
            if parts.get("[Content_Types].xml", MOST_PART + 1) > MOST_PART:
                raise BadFile(_UNREADABLE)
            kinds = _kinds(archive.read("[Content_Types].xml"))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError):
        raise BadFile(_UNREADABLE) from None
    for name, size in parts.items():
        kind = "" if name.endswith(".rels") else kinds.get(name, "")
        most = MOST_BYTES if kind.endswith(_SHEET) else MOST_TEXTS if kind.endswith(_TEXTS) else MOST_PART
        if size > most and name.endswith((".xml", ".rels")):
            raise BadFile(_TOO_LARGE)


def _kinds(manifest: bytes) -> dict[str, str]:
    """What each part is said to be; one that is said to be two things could be read as the larger of them."""
    try:
        listed = [
            (each.PartName.lstrip("/"), each.ContentType) for each in Manifest.from_tree(fromstring(manifest)).Override
        ]
    except Exception:
        listed = []
    kinds = dict(listed)
    if not listed or len(kinds) < len(listed):
        raise BadFile(_UNREADABLE)
    return kinds


class _SheetReader(ExcelReader):
    """Reads cells and what their dates look like, nothing else."""

    def read_properties(self) -> None:
        pass

    def read_custom(self) -> None:
        pass

    def read_theme(self) -> None:
        pass

    def read_chartsheet(self, sheet: Any, rel: Any) -> None:
        pass
