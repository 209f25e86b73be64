"""What DuckDB reads: text files, Parquet files, the tables of its own databases.

Columns are called c0, c1, ... inside; names of somebody else's choice enter SQL through `quote` only.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadFile, printable
from core.table import files
from core.table.formats.duckdb_rows import DuckRows
from core.table.formats.engine import allow, check_rows, memory, room_of
from core.table.formats.identifiers import literal, quote
from core.table.row_source import CHANGED, Column, content

_TABLES = "FROM duckdb_tables() WHERE NOT internal AND NOT temporary AND database_name = 'given'"
_COMPUTED = (
    "SELECT column_name FROM duckdb_columns()"
    " WHERE database_name = 'given' AND schema_name = ? AND table_name = ? AND is_generated"
)
TEXT_BUFFER, LONGEST_LINE = 8 << 20, 2 << 20
"""Bytes of a text file that the engine holds at a time, and of a line at most. It would hold four times as much, which
takes 80 MB more and no less time (measured)."""


def tables_of(engine: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Names of the tables of the database that is attached."""
    return tuple(row[0] for row in engine.execute(f"SELECT DISTINCT table_name {_TABLES} ORDER BY 1").fetchall())


class TextRows(DuckRows):
    """A CSV or TSV file: names in the first line, the same number of fields in every row."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, path: Path, written: files.TextFile) -> None:
        self._path, self._state = path, _state(path)
        self._digest = files.digest(path, True, written.encoding)
        self._decimal = written.decimal
        names, separator = files.header(path, written.encoding)
        types = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(names)))
        origin = (
            f"read_csv({literal(glob.escape(str(path)))}, delim={literal(separator)}, columns={{{types}}}, header=true,"
            " auto_detect=false, quote='\"', escape='\"', strict_mode=true, null_padding=false, ignore_errors=false,"
            f" compression='none', hive_partitioning=false, encoding={literal(written.encoding)},"
            f" buffer_size={TEXT_BUFFER}, max_line_size={LONGEST_LINE})"
        )
        columns = [Column(name, "VARCHAR") for name in names]
        super().__init__(engine, columns, origin, _reachable(engine, [path]), room_of([path]))

    def fingerprint(self) -> str:
        _check_unchanged([self._path], [self._state])
        return self._digest

    def _number(self, column: str) -> str:
        if self._decimal == ".":
            return super()._number(column)
        # 1.234,5: where a comma stands, points group digits.
        point = f"IF(contains({column}, ','), replace(replace({column}, '.', ''), ',', '.'), {column})"
        return f"TRY_CAST({point} AS DOUBLE)"


class ParquetRows(DuckRows):
    """Parquet files with the same columns."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._states = [_state(path) for path in paths]
        listed = [glob.escape(str(path)) for path in paths]
        in_place = _reachable(engine, paths)
        layouts = {_layout(engine, file) for file in listed}
        if len(layouts) > 1:
            raise BadFile("The Parquet files differ in the names, order or types of their columns; make them alike.")
        [layout] = layouts
        names = files.check_names([name for name, _ in layout])
        table = f"read_parquet([{', '.join(map(literal, listed))}], hive_partitioning=false)"
        origin = f"{table} AS t({_aliases(len(names))})"
        room = room_of(paths) if in_place else memory(engine)
        check_rows(engine, origin, room)
        super().__init__(engine, (Column(*column) for column in layout), origin, in_place, room)

    def fingerprint(self) -> str:
        _check_unchanged(self._paths, self._states)
        digests = [files.digest(path, text=False) for path in self._paths]
        return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _layout(engine: duckdb.DuckDBPyConnection, file: str) -> tuple[tuple[str, str], ...]:
    types = engine.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning=false)", [file]).fetchall()
    # DuckDB renames columns that differ in case only, so the names come from the file's own schema
    nodes = engine.execute("SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [file]).fetchall()
    return tuple((name, _storage(kind[1])) for name, kind in zip(_outermost(nodes), types, strict=True))


def _reachable(engine: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> bool:
    """Let these files be read in place, after everything else is out of reach, where that can be."""
    # A path with signs of a pattern is looked for in its folder, which may not be listed later on.
    if any(glob.has_magic(str(path)) for path in paths):
        return False
    allow(engine, [str(path) for path in paths])
    return True


def _check_unchanged(paths: Sequence[Path], states: list[tuple[int, int, int]]) -> None:
    if states != [_state(path) for path in paths]:
        raise BadFile(CHANGED)


def _state(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written: rows that are read at different times must be of the same table."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


class StoredRows(DuckRows):
    """A table of a DuckDB database, attached for reading.

    Views are refused because they may read other files, and computed columns because they may run for ever.
    """

    def __init__(self, engine: duckdb.DuckDBPyConnection, name: str) -> None:
        query = f"SELECT schema_name {_TABLES} AND table_name = ? ORDER BY schema_name <> 'main', schema_name"
        found = engine.execute(query, [name]).fetchall()
        if not found:
            raise BadFile(f"The database has no table '{printable(name)}'; views cannot be used.")
        computed = engine.execute(_COMPUTED, [found[0][0], name]).fetchall()
        if computed:
            raise BadFile(f"Column '{printable(computed[0][0])}' is computed by the database; store its values first.")
        self._table = f"given.{quote(found[0][0])}.{quote(name)}"
        described = engine.execute(f"DESCRIBE SELECT * FROM {self._table}").fetchall()
        names = files.check_names([row[0] for row in described])
        origin = f"{self._table} AS t({_aliases(len(names))})"
        check_rows(engine, origin, memory(engine))
        columns = (Column(name, _storage(row[1])) for name, row in zip(names, described, strict=True))
        super().__init__(engine, columns, origin, in_place=True, room=memory(engine))

    def fingerprint(self) -> str:
        return content((name, *self._printed(place)) for name, place in self._places.items())

    def _printed(self, place: int) -> tuple[NDArray[np.intp], list[str]]:
        positions, texts = self._packed(f"CAST(c{place} AS VARCHAR)", self._origin)
        return positions, texts.to_pylist()


def _aliases(count: int) -> str:
    return ", ".join(f"c{place}" for place in range(count))


def _storage(described: str) -> str:
    """The name of a type without its details: those of an ENUM are values."""
    return "LIST" if described.endswith("]") else described.split("(", 1)[0].strip().upper()


def _outermost(nodes: Sequence[tuple[str, int]]) -> list[str]:
    """Names of the outermost columns from a Parquet schema listed depth first, root included."""
    names: list[str] = []
    open_nodes: list[int] = []
    for name, children in nodes:
        if len(open_nodes) == 1:
            names.append(name)
        if open_nodes:
            open_nodes[-1] -= 1
        open_nodes.append(children)
        while open_nodes and open_nodes[-1] == 0 and len(open_nodes) > 1:
            open_nodes.pop()
    return names
