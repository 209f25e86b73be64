"""DuckDB as it reads private files: no extensions, nothing spilled to disk, no file but the ones that are named, and no
setting that anybody can change afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from core.base.errors import BadFile
from core.table.formats.identifiers import literal
from core.table.sentences import TOO_LARGE

_SETTINGS: dict[str, str] = {
    "memory_limit": "60%",
    "temp_directory": "",
    "preserve_insertion_order": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}
ROOM, ROOM_PER_BYTE, ROOM_PER_ROW = 512 << 20, 200, 50
"""Bytes of memory that any file may take, and more for each of its own: a kilobyte of Parquet can claim terabytes. An
honest one takes up to 128 (a yes or no is one bit there and a text of 16 bytes here). Ten million rows, or four for
each byte of the file, are not too many: a Parquet file is read in pieces, so that this bounds the time it takes, and of
a DuckDB database one whole column at a time is held in memory, up to 59 bytes a row (measured)."""


@contextmanager
def engine_for(paths: Sequence[Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the room that these files can need."""
    with duckdb.connect(":memory:", False, dict(_SETTINGS)) as engine:
        _confine(engine, paths)
        yield engine


def room_of(paths: Sequence[Path]) -> int:
    """Bytes that files of this size can honestly need."""
    return ROOM + ROOM_PER_BYTE * sum(path.stat().st_size for path in paths)


def _confine(engine: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Lower the engine's share of the machine's memory to what files of this size can need."""
    room = room_of(paths)
    if room < memory(engine):
        engine.execute(f"SET memory_limit='{room >> 20}MiB'")


def check_rows(engine: duckdb.DuckDBPyConnection, origin: str, room: float) -> None:
    """Refuse more rows than there is room for; the file itself says how many it has. Text has a byte for each."""
    if int(engine.execute(f"SELECT count(*) FROM {origin}").fetchall()[0][0]) * ROOM_PER_ROW > room:
        raise BadFile(TOO_LARGE)


def memory(engine: duckdb.DuckDBPyConnection) -> float:
    """Bytes that the engine may take."""
    amount, unit = engine.execute("SELECT current_setting('memory_limit')").fetchall()[0][0].split()
    return float(amount) * 1024.0 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)


def attach(engine: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Open a DuckDB file beside an empty database of our own, under the name `given`, for reading.

    Opened by itself it would come first whenever a name is looked up, and its own functions would stand for DuckDB's:
    one called current_setting could say that the configuration is locked.
    """
    engine.execute("ATTACH ? AS given (READ_ONLY)", [str(path)])
    lock(engine)


def lock(engine: duckdb.DuckDBPyConnection) -> None:
    if not engine.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
        engine.execute("SET enable_external_access=false")
        engine.execute("SET lock_configuration=true")


def allow(engine: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Let these files be read after external access is off."""
    engine.execute(f"SET allowed_paths=[{', '.join(map(literal, paths))}]")
