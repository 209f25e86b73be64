"""Uploaded files: on disk only while they are read, under a name of our own, readable by the owner only."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from core.base.errors import BadFile

TEXTS = (".csv", ".tsv")
SUFFIXES = (*TEXTS, ".xlsx", ".parquet", ".duckdb", ".sqlite", ".db", ".dta", ".sav", ".zsav")
FOLDER = "incoming"
STALE_SECONDS = 3600
"""Older files are left over from a server that was killed while reading; younger ones may be in use by another."""


@contextmanager
def on_disk(file: Any, workspace: Path) -> Iterator[Path]:
    """The upload as a file for as long as it is needed; its own name is never used for anything but display."""
    folder = workspace / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{secrets.token_hex(16)}{suffix_of(file.name)}"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as target:
            # `getbuffer` would copy it: the bytes of an upload are shared with its other readers.
            target.write(file.getvalue())
        yield path
    finally:
        path.unlink(missing_ok=True)


def suffix_of(name: str) -> str:
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if suffix not in SUFFIXES:
        raise BadFile(
            "The file must be a CSV, TSV, Excel, Parquet, Stata or SPSS file or a DuckDB or SQLite database; its name "
            f"must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
        )
    return suffix


def text_of(file: Any, what: str, most: int) -> str:
    """The text of an upload that is read as a whole, of at most so many bytes."""
    if file.size > most:
        raise BadFile(f"The {what} file is too large to be one.")
    try:
        return str(file.getvalue().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadFile(f"The {what} file is not UTF-8 text; save it again in UTF-8.") from None


def name_of(name: str) -> str:
    """What to call the table on the page: no folders, no ending."""
    return PurePosixPath(name.replace("\\", "/")).stem.strip() or "table"


def sweep(workspace: Path) -> None:
    """Remove what a killed server left behind."""
    for path in (workspace / FOLDER).glob("*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - STALE_SECONDS:
                path.unlink()
