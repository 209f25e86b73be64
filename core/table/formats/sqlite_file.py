"""SQLite databases: their tables, and one of them as rows, by Python's own SQLite.

DuckDB would need an extension for it, which it fetches from the network. The file is opened for reading as it is: no
journal is replayed, no view, virtual table or computed column is touched, and the statement that reads may call no
function, so nothing that the file's maker wrote is run.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote as in_address

from core.base.errors import BadFile, printable
from core.table import files
from core.table.formats.identifiers import quote
from core.table.formats.packed_cells import PackedCells
from core.table.row_source import Column

_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
_KINDS = (("INT", "BIGINT"), ("CHAR", "VARCHAR"), ("CLOB", "VARCHAR"), ("TEXT", "VARCHAR"), ("BOOL", "BOOLEAN"),
          ("DATE", "DATE"), ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"), ("DOUB", "DOUBLE"), ("DEC", "DOUBLE"),
          ("NUM", "DOUBLE"))  # fmt: skip
"""What a declared type says, by the words in it; SQLite itself keeps any value in any column."""


def tables(path: Path) -> tuple[str, ...]:
    """Names of the plain tables."""
    with _reading(path) as engine:
        return _tables(engine)


@contextmanager
def opened(path: Path, name: str) -> Iterator[PackedCells]:
    with _reading(path) as engine:
        if name not in _tables(engine):
            raise BadFile(f"The database has no table '{printable(name)}'; views cannot be used.")
        described = engine.execute(f"PRAGMA main.table_xinfo({quote(name)})").fetchall()
        if computed := next((row[1] for row in described if row[6]), None):
            raise BadFile(f"Column '{printable(computed)}' is computed by the database; store its values first.")
        columns = files.check_names([row[1] for row in described])
        engine.set_authorizer(_read_only)

        def read(places: Sequence[int]) -> Iterator[Sequence[object]]:
            wanted = ", ".join(quote(columns[place]) for place in places)
            return engine.execute(f"SELECT {wanted} FROM main.{quote(name)}")

        kinds = (Column(row[1], _kind(row[2])) for row in described)
        yield PackedCells(kinds, read, lambda: _digest(path, name))


def _tables(engine: sqlite3.Connection) -> tuple[str, ...]:
    listed = engine.execute("PRAGMA main.table_list").fetchall()
    return tuple(sorted(row[1] for row in listed if row[2] == "table" and not row[1].startswith("sqlite_")))


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        raise BadFile("The SQLite database is in use by another program; close it there first.")
    address = f"file:{in_address(str(path))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as engine:
        engine.text_factory = _text
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "mmap_size=0"):
            engine.execute(f"PRAGMA {setting}")
        yield engine


def _read_only(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _text(raw: bytes) -> str:
    """A text, whichever bytes it has: one odd cell is no reason to refuse all others."""
    return raw.decode("utf-8", "replace")


def _kind(declared: str) -> str:
    return next((kind for word, kind in _KINDS if word in declared.upper()), "VARCHAR")


def _digest(path: Path, name: str) -> str:
    return hashlib.sha256(f"{files.digest(path, text=False)} {name}".encode("utf-8", "surrogatepass")).hexdigest()
