"""What a file is, judged by its bytes: its kind, its fingerprint, and for text its encoding and header line.

Names and suffixes are only hints: a renamed archive, picture or pickle is refused here, before any parser sees it.
"""

from __future__ import annotations

import codecs
import csv
import glob
import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.base.errors import BadFile, BadParameter
from core.schema.domain import MAX_COLUMNS

FileKind = Literal["text", "parquet", "duckdb", "workbook", "sqlite", "stata", "spss"]
Encoding = Literal["utf-8", "latin-1"]
DecimalSign = Literal[".", ","]


@dataclass(frozen=True)
class TextFile:
    """A text file that is not written as usual, as its curator says.

    **Privacy** Neither can be found out from the rows: one odd byte or comma would change how every other row is read.
    """

    path: str | Path
    encoding: Encoding = "utf-8"
    decimal: DecimalSign = "."

    def __post_init__(self) -> None:
        if self.encoding not in ("utf-8", "latin-1"):
            raise BadParameter("encoding", "must be 'utf-8' or 'latin-1'.")
        if self.decimal not in (".", ","):
            raise BadParameter("decimal", "must be '.' or ','.")


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns that make one table, in this order."""

    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.paths) <= MAX_FILES:
            raise BadFile(f"A table can be made of 1 to {MAX_FILES:,} Parquet files.")

    @classmethod
    def of(cls, place: str | Path) -> ParquetFiles | None:
        """The Parquet files of a folder and the folders in it, or those that a pattern such as 2024-*.parquet fits;
        None where a place names one file."""
        named = Path(place)
        try:
            if named.is_dir():
                found = sorted(each for each in named.rglob("*") if each.suffix.lower() in PARQUET and each.is_file())
            elif glob.has_magic(str(place)) and not named.exists():
                found = sorted(Path(each) for each in glob.iglob(str(place), recursive=True) if Path(each).is_file())
            else:
                return None
        except (OSError, ValueError, RuntimeError):
            return None
        if not found:
            raise BadFile("There is no Parquet file in this folder, or none that the pattern fits.")
        return cls(tuple(each.resolve() for each in found))


PARQUET = (".parquet", ".pq", ".parq")
MAX_FILES = 100_000
MAX_NODES = 10 * MAX_COLUMNS
"""Columns of a Parquet file and the parts of those that hold lists and records, which may be ignored."""
MAX_HEADER = 4_000_000
"""Bytes of the line with the column names: 10,000 names of 400 letters."""
CHUNK = 1 << 20

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet of another kind than .xlsx"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x7fELF", "a program"),
    *((bytes([0x80, protocol]), "a Python pickle") for protocol in (2, 3, 4, 5)),
)
_KINDS: tuple[tuple[re.Pattern[bytes], FileKind], ...] = (
    (re.compile(rb"PK\x03\x04"), "workbook"),
    (re.compile(rb"SQLite format 3\x00"), "sqlite"),
    (re.compile(rb"<stata_dta>|[\x6f-\x73][\x01\x02]\x01\x00"), "stata"),
    (re.compile(rb"\$FL[23]@\(#\)"), "spss"),
)
_NOT_UTF8 = "The file is not UTF-8 text; if it is Latin-1, say so, or save it in UTF-8."
_ADVICE = "save the table as CSV (UTF-8) or Parquet"


def find(path: str | Path) -> Path:
    """The absolute path of an existing regular file."""
    try:
        found = Path(path).resolve()
        if found.is_dir():
            raise BadFile("This is a folder, not a file; choose one file, or a folder of Parquet files.")
        if not found.is_file():
            raise BadFile("There is no such file; check its name and folder.")
        if found.stat().st_size == 0:
            raise BadFile("The file is empty; it needs a line with column names and at least one row.")
    except (OSError, ValueError, RuntimeError):
        raise BadFile("The file cannot be opened; check its name and your permission to read it.") from None
    return found


def kind_of(path: Path) -> FileKind:
    """What a file is, by content."""
    with _reading(path) as file:
        start = file.read(16)
        file.seek(-min(4, path.stat().st_size), io.SEEK_END)
        end = file.read(4)
    for beginning, kind in _KINDS:
        if beginning.match(start) and (kind != "workbook" or path.suffix.lower() == ".xlsx"):
            return kind
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise BadFile(f"The file is {what}, whatever its name says; {_ADVICE}.")
    if start.startswith((b"PAR1", b"PARE")):
        if end != b"PAR1":
            raise BadFile("The Parquet file is cut off or encrypted; write it again.")
        return "parquet"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if path.suffix.lower() in PARQUET:
        raise BadFile(f"The file is named like Parquet but is not; {_ADVICE}.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile("The file is UTF-16 text; save it as CSV in UTF-8.")
    return "text"


def check_width(path: Path) -> None:
    """Refuse a Parquet file by the number of nodes in its schema, before an engine builds something for each of them.

    The footer starts with the version (field 1, a number) and the schema (field 2, a list that starts with its length),
    both in Thrift's compact form. A footer that starts otherwise is left to the engine, which then refuses it.
    """
    with _reading(path) as file:
        file.seek(-min(8, path.stat().st_size), io.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, path.stat().st_size - 8 - length))
        start = file.read(16)
    found = re.match(rb"\x15[\x80-\xff]{0,4}[\x00-\x7f]\x19\xfc([\x80-\xff]{0,4}[\x00-\x7f])", start, re.DOTALL)
    nodes = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(found[1])) if found else 0
    if nodes > MAX_NODES:
        raise BadFile(f"The file has {nodes:,} columns and parts of columns; use at most {MAX_COLUMNS:,} columns.")


def digest(path: Path, text: bool, encoding: Encoding = "utf-8") -> str:
    """SHA-256 of the bytes; a text file is checked to be in its encoding and without NUL on the way."""
    seen = hashlib.sha256()
    decoder = codecs.getincrementaldecoder(encoding)()
    with _reading(path) as file:
        while chunk := file.read(CHUNK):
            seen.update(chunk)
            if text and b"\0" in chunk:
                raise BadFile("The file contains NUL bytes, so it is no text or is damaged; save it again.")
            if text and not _decodes(decoder, chunk):
                raise BadFile(_NOT_UTF8)
    if text and not _decodes(decoder, b""):
        raise BadFile(_NOT_UTF8)
    return seen.hexdigest()


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes) -> bool:
    """Whether the text goes on as UTF-8; an empty chunk ends it. The decoder's own error would carry the bytes on."""
    try:
        decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError:
        return False
    return True


def header(path: Path, encoding: Encoding = "utf-8") -> tuple[tuple[str, ...], str]:
    """Column names of a text table, and the character between fields.

    The separator is the one of comma, tab, semicolon and bar that occurs most in the header line; no row is looked at.
    """
    with _reading(path) as file:
        start = file.read(MAX_HEADER)
    text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("replace").decode(start)
    line = re.sub(r'"[^"]*"', "", text[: CHUNK // 4]).lstrip("\r\n").splitlines()[:1]
    separator = max(",\t;|", key=(line or [""])[0].count)
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), [])
    except csv.Error:
        raise BadFile("The first line cannot be read; it needs column names, with quotes in pairs.") from None
    if len(text) > CHUNK and sum(map(len, names)) >= len(text) - 2 * len(names):
        raise BadFile(f"The first line is longer than {MAX_HEADER:,} bytes; it must hold column names only.")
    return check_names(told_apart(names)), separator


def told_apart(names: list[str]) -> list[str]:
    """Names of a text file's columns, where those that are missing or repeated are called by their number: an index
    that was written without a name is common, and a curator who did not make the file cannot name it.

    No repeated name is kept: in a file without a header these are values, which nobody may see.

    >>> told_apart(["", "age", "sex", "age", "column_4"])
    ['column_1', 'column_2', 'sex', 'column_4_', 'column_4']
    """
    often = Counter(names)
    kept = {name for name in names if name.strip() and often[name] == 1}
    return [name if name in kept else _numbered(place, kept) for place, name in enumerate(names, start=1)]


def _numbered(place: int, taken: set[str]) -> str:
    name = f"column_{place}"
    while name in taken:
        name += "_"
    return name


def check_names(names: list[str]) -> tuple[str, ...]:
    """Column names that a schema can refer to: at least one, none empty, none twice."""
    if not names:
        raise BadFile("The first line is empty; it must hold the column names.")
    if len(names) > MAX_COLUMNS:
        raise BadFile(f"The file has {len(names):,} columns; use at most {MAX_COLUMNS:,}.")
    for place, name in enumerate(names, start=1):
        if not name.strip():
            raise BadFile(f"Column number {place} has no name; give every column a name.")
    name, often = Counter(names).most_common(1)[0]
    if often > 1:
        # By number: in a file without a header the first line holds values, which no message may quote.
        places = [place for place, other in enumerate(names, start=1) if other == name]
        raise BadFile(f"Columns number {places[0]} and {places[1]} have the same name; give every column its own name.")
    return tuple(names)


def _reading(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError:
        raise BadFile("The file cannot be opened; check its name and your permission to read it.") from None
