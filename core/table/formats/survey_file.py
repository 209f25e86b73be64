"""Files of Stata (.dta) and SPSS (.sav, .zsav), read by pyreadstat, an optional extra.

Codes stay codes: labels of values are not taken for the values, because programs also make labels out of the rows.
Where they come from a questionnaire the curator says so, and `code_book` reads them. Cells that the file calls missing
are empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadFile
from core.base.optional_package import can_load
from core.schema.attributes import Attribute
from core.schema.labels import labelled
from core.table import files
from core.table.frame import Frame
from core.table.row_source import Column
from core.table.sentences import TOO_LARGE

SurveyFormat = Literal["stata", "spss"]
READERS: dict[SurveyFormat, str] = {"stata": "read_dta", "spss": "read_sav"}
MOST_BYTES = 2 << 30
"""Of all cells of the columns that are read: a compressed file may claim any number of rows."""
_MISSING = (
    "Files of Stata and SPSS are read by pyreadstat, which is not installed here; install release-desk[survey], or "
    "save the table as CSV (UTF-8) or Parquet."
)
_MOMENT = re.compile(r"%-?t[cC]|DATETIME|YMDHMS|MDYHMS")
_DAY = re.compile(r"%-?t?d|DATE|ADATE|EDATE|JDATE|SDATE")


class SurveyFile:
    """A file of either program; implements `row_source.Rows`."""

    def __init__(self, path: Path, kind: SurveyFormat) -> None:
        self._path = path
        self._read: Callable[..., Any] = partial(getattr(_reader(), READERS[kind]), str(path))
        self._about = self._read(metadataonly=True)[1]
        names = files.check_names([str(name) for name in self._about.column_names])
        self.columns = tuple(Column(name, self._type(name)) for name in names)
        self._frame: Frame | None = None

    def take(self, names: Sequence[str]) -> int:
        wanted = list(dict.fromkeys(names))
        # An empty cell takes eight bytes here, however narrow the file keeps it.
        width = sum(max(16, int(self._about.variable_storage_width.get(name, 8))) for name in wanted)
        most = MOST_BYTES // max(1, width)
        frame = self._read(usecols=wanted, row_limit=most + 1, user_missing=False)[0]
        if len(frame) > most:
            raise BadFile(TOO_LARGE)
        self._frame = Frame(frame)
        return len(frame)

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[Frame]:
        return self._taken.pieces(asked)

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        return self._taken.owners(name)

    def fingerprint(self) -> str:
        return files.digest(self._path, text=False)

    @property
    def _taken(self) -> Frame:
        if self._frame is None:
            raise BadFile("Nothing was taken from the file yet.")
        return self._frame

    def _type(self, name: str) -> str:
        """The type that the file declares; a number of SPSS is a whole one if it shows no decimals."""
        stored = str(self._about.readstat_variable_types.get(name, "string"))
        shown = str(self._about.original_variable_types.get(name, "") or "")
        if stored == "string":
            return "VARCHAR"
        if _MOMENT.match(shown):
            return "TIMESTAMP"
        if _DAY.match(shown):
            return "DATE"
        return "BIGINT" if stored.startswith("int") or re.fullmatch(r"F\d+(\.0)?", shown) else "DOUBLE"


def code_book(path: Path, kind: SurveyFormat) -> list[dict[str, Any]]:
    """The lines of a code book that the labels in the file amount to; no row is read.

    A list of codes is taken where the file does not call the column a measurement and more than one code has a label: a
    single one is mostly that of a refusal.
    """
    # Which codes count as missing is told only to those who ask for the codes themselves.
    about = getattr(_reader(), READERS[kind])(str(path), metadataonly=True, user_missing=True)[1]
    lines = []
    for name, label in zip(about.column_names, about.column_labels, strict=True):
        codes = _codes(about, name)
        line: dict[str, Any] = {"name": name}
        if codes:
            line |= {"kind": "categories", "values": list(codes)}
        if note := labelled(label or "", codes.items()):
            line["note"] = note
        if len(line) > 1:
            lines.append(line)
    return lines


def _codes(about: Any, name: str) -> dict[str | int, str]:
    """Codes and labels of a column, without those that stand for an empty cell."""
    found: dict[str | int, str] = {}
    for code, label in about.variable_value_labels.get(name, {}).items():
        if isinstance(code, str):
            found[code] = str(label)
        elif isinstance(code, int | float) and float(code).is_integer() and not _empty(about, name, float(code)):
            found[int(code)] = str(label)
    return found if len(found) > 1 and about.variable_measure.get(name) != "scale" else {}


def _empty(about: Any, name: str, code: float) -> bool:
    """Whether the file counts a code as missing."""
    ranges = [each for each in about.missing_ranges.get(name, ()) if not isinstance(each["lo"], str)]
    return any(each["lo"] <= code <= each["hi"] for each in ranges)


def installed() -> bool:
    """Whether such files can be read here."""
    return can_load("pyreadstat")


def _reader() -> Any:
    if not installed():
        raise BadFile(_MISSING)
    import pyreadstat

    return pyreadstat
