"""What a file is, judged by its bytes: its kind, its fingerprint, and for text its encoding and header line.

Names and suffixes are only hints: a renamed archive, picture or pickle is refused here, before any parser sees it.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from pathlib import Path
from typing import Literal

from core.base.errors import BadFile

FileKind = Literal["text", "parquet", "duckdb"]
MAX_COLUMNS = 10_000
MAX_NODES = 10 * MAX_COLUMNS
"""Columns of a Parquet file and the parts of those that hold lists and records, which may be ignored."""
MAX_HEADER = 4_000_000
"""Bytes of the line with the column names: 10,000 names of 400 letters."""
CHUNK = 1 << 20

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet"),
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
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x7fELF", "a program"),
    *((bytes([0x80, protocol]), "a Python pickle") for protocol in (2, 3, 4, 5)),
)
_NOT_UTF8 = "The file is not UTF-8 text (perhaps Latin-1 or Windows-1252); save it in UTF-8."
_ADVICE = "save the table as CSV (UTF-8) or Parquet"


def find(path: str | Path) -> Path:
    """The absolute path of an existing regular file."""
    try:
        found = Path(path).resolve()
        if found.is_dir():
            raise BadFile("This is a folder, not a file; choose one CSV or Parquet file.")
        if not found.is_file():
            raise BadFile("There is no such file; check its name and folder.")
        if found.stat().st_size == 0:
            raise BadFile("The file is empty; it needs a line with column names and at least one row.")
    except (OSError, ValueError, RuntimeError):
        raise BadFile("The file cannot be opened; check its name and your permission to read it.") from None
    return found


def kind_of(path: Path) -> FileKind:
    """Text, Parquet or DuckDB, by content."""
    with _reading(path) as file:
        start = file.read(16)
        file.seek(-min(4, path.stat().st_size), io.SEEK_END)
        end = file.read(4)
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise BadFile(f"The file is {what}, whatever its name says; {_ADVICE}.")
    if start.startswith((b"PAR1", b"PARE")):
        if end != b"PAR1":
            raise BadFile("The Parquet file is cut off or encrypted; write it again.")
        return "parquet"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if path.suffix.lower() in (".parquet", ".pq", ".parq"):
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


def digest(path: Path, text: bool) -> str:
    """SHA-256 of the bytes; a text file is checked to be UTF-8 without NUL on the way."""
    seen = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
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


def header(path: Path) -> tuple[tuple[str, ...], str]:
    """Column names of a text table, and the character between fields.

    The separator is the one of comma, tab, semicolon and bar that occurs most in the header line; no row is looked at.
    """
    with _reading(path) as file:
        start = file.read(MAX_HEADER)
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(start)
    line = re.sub(r'"[^"]*"', "", text[: CHUNK // 4]).lstrip("\r\n").splitlines()[:1]
    separator = max(",\t;|", key=(line or [""])[0].count)
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), [])
    except csv.Error:
        raise BadFile("The first line cannot be read; it needs column names, with quotes in pairs.") from None
    if len(text) > CHUNK and sum(map(len, names)) >= len(text) - 2 * len(names):
        raise BadFile(f"The first line is longer than {MAX_HEADER:,} bytes; it must hold column names only.")
    return check_names(names), separator


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
