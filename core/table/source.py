"""Opened sources: text and Parquet files, DuckDB tables, DataFrames. The only file with SQL.

Files and DuckDB tables are read by DuckDB: no extensions, nothing spilled to disk, and before a value is looked at
external access is off and the configuration locked. DuckDB's own error texts quote cells, so each is replaced by a
fixed sentence. Columns are called c0, c1, ... inside; names of somebody else's choice enter SQL through `quote` only.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from core.base.errors import BadFile, BadSchema, printable
from core.schema.attributes import Attribute
from core.schema.domain import Dates
from core.schema.values import BLANKS, moment, text_of
from core.table import files
from core.table.frame import Frame
from core.table.rows import NESTED, Column, Rows, check_told_apart, content, counted
from core.table.sentences import TOO_LARGE, without_cell_values

TableSource = str | Path | tuple[str | Path, str] | pd.DataFrame
"""A CSV, TSV or Parquet file; a DuckDB file with the name of a table in it; or a DataFrame."""


@contextmanager
def opened(source: TableSource) -> Iterator[Rows]:
    if isinstance(source, pd.DataFrame):
        yield Frame(source)
        return
    path, name = source if isinstance(source, tuple) else (source, None)
    path = files.find(path)
    kind = files.kind_of(path)
    if (name is None) == (kind == "duckdb"):
        raise BadFile(
            "The file is a DuckDB database; name one of its tables."
            if name is None
            else "The file is not a DuckDB database, so no table can be chosen in it; leave the table name out."
        )
    if kind == "parquet":
        files.check_width(path)
    with duckdb.connect(":memory:", False, dict(_SETTINGS)) as engine:
        _confine(engine, path)
        if kind == "duckdb":
            _attach(engine, path)
            yield _Stored(engine, name or "")
        else:
            yield _Text(engine, path) if kind == "text" else _Parquet(engine, path)


@without_cell_values
def stored_tables(path: str | Path) -> tuple[str, ...] | None:
    """Names of the tables of a DuckDB file; None where the file is not a DuckDB database."""
    found = files.find(path)
    if files.kind_of(found) != "duckdb":
        return None
    with duckdb.connect(":memory:", False, dict(_SETTINGS)) as engine:
        _confine(engine, found)
        _attach(engine, found)
        return tuple(row[0] for row in engine.execute(f"SELECT DISTINCT table_name {_TABLES} ORDER BY 1").fetchall())


_TABLES = "FROM duckdb_tables() WHERE NOT internal AND NOT temporary AND database_name = 'given'"
_COMPUTED = (
    "SELECT column_name FROM duckdb_columns()"
    " WHERE database_name = 'given' AND schema_name = ? AND table_name = ? AND is_generated"
)
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
honest one takes up to 128 (a yes or no is one bit there and a text of 16 bytes here). A row takes up to 59 while it is
encoded (measured), so ten million rows, or four for each byte of the file, are not too many."""


def quote(name: str) -> str:
    """A name as an SQL identifier; the only way a name of somebody else's choice enters SQL."""
    if "\0" in name:
        raise BadSchema(f"The name '{printable(name)}' contains a NUL character; choose another.")
    return '"' + name.replace('"', '""') + '"'


class _Database:
    """Rows behind DuckDB. `origin` is a FROM clause that names the columns c0, c1, ... and takes `parameters`."""

    def __init__(
        self, engine: duckdb.DuckDBPyConnection, columns: Iterable[Column], origin: str, parameters: list[Any]
    ) -> None:
        self.columns = tuple(columns)
        self._engine = engine
        self._origin = origin
        self._parameters = parameters
        self._places = {column.name: place for place, column in enumerate(self.columns)}

    def take(self, names: Sequence[str]) -> int:
        for name in names:
            if _NESTED.search(self.columns[self._places[name]].type):
                raise BadSchema(NESTED.format(printable(name)))
        wanted = ", ".join(f"c{place}" for place in sorted({self._places[name] for name in names}))
        self._engine.execute(f"CREATE TEMP TABLE taken AS SELECT {wanted} FROM {self._origin}", self._parameters)
        _lock(self._engine)
        return int(self._engine.execute("SELECT count(*) FROM taken").fetchall()[0][0])

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        place = self._places[attribute.name]
        column, storage = f"c{place}", self.columns[place].type
        if isinstance(attribute, Dates) and _TIME.match(storage):
            return counted(attribute.encode(self._days(column)))
        if attribute.numeric and storage == "VARCHAR":
            codes, misfits = counted(attribute.encode(self._numbers(f"TRY_CAST({column} AS DOUBLE)")))
            # without a 'missing' cell every null is a misfit already
            return codes, misfits + (self._unread(column) if attribute.missing else 0)
        if attribute.numeric and _WHOLE.match(storage):
            return counted(attribute.encode(self._numbers(column)))
        if _FLOAT.match(storage) or (attribute.numeric and storage == "BOOLEAN"):
            return counted(attribute.encode(self._numbers(f"CAST({column} AS DOUBLE)")))
        if attribute.numeric and _DIGITS.match(storage):
            # by way of text, which is rounded once: a direct cast may round differently with another scale
            return counted(attribute.encode(self._numbers(f"TRY_CAST(CAST({column} AS VARCHAR) AS DOUBLE)")))
        positions, values = self._values(column, storage)
        codes, changed = attribute.encode([*values, None])  # null has position -1, the last entry
        return codes[positions], int(np.count_nonzero(changed[positions]))

    def owners(self, name: str) -> NDArray[np.intp]:
        place = self._places[name]
        column, storage = f"c{place}", self.columns[place].type
        if _FLOAT.match(storage):
            query = f"SELECT count(*) FROM taken WHERE isfinite({column}) AND abs({column}) >= ?"
            found = self._engine.execute(query, [2.0 ** (24 if storage == "FLOAT" else 53)]).fetchall()
            check_told_apart(name, found[0][0] > 0)
            column = f"CASE WHEN NOT isnan({column}) THEN {column} + 0 END"  # -0 is 0, and no number is no id
        positions, texts = self._packed(f"CAST({column} AS VARCHAR)")
        blank = texts.index("").as_py()  # -1, the place of null, where no id is empty
        return np.where(positions == blank, -1, positions)

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        place = self._places[name]
        positions, values = self._values(f"c{place}", self.columns[place].type)
        return positions, [text_of(value) for value in values]

    def fingerprint(self) -> str:
        raise NotImplementedError

    def _numbers(self, expression: str) -> NDArray[Any]:
        values = self._engine.execute(f"SELECT {expression} AS value FROM taken").fetchnumpy()["value"]
        if not np.ma.isMaskedArray(values):
            return np.asarray(values)
        return np.ma.filled(values.astype(np.float64), np.nan)

    def _days(self, column: str) -> NDArray[np.datetime64]:
        endless = f"IF(CAST({column} AS VARCHAR) LIKE '-%', -1e12, 1e12)"
        seconds = self._numbers(f"CASE WHEN isinf({column}) THEN {endless} ELSE epoch({column}) END")
        known = ~np.isnan(seconds)
        days = np.full(len(seconds), np.datetime64("NaT"), dtype="datetime64[D]")
        days[known] = np.floor(seconds[known] / 86400).astype(np.int64).astype("datetime64[D]")
        return days

    def _unread(self, column: str) -> int:
        """How many texts are neither blank nor a number."""
        query = f"SELECT count(*) FROM taken WHERE TRY_CAST({column} AS DOUBLE) IS NULL AND trim({column}, ?) <> ''"
        return int(self._engine.execute(query, [BLANKS]).fetchall()[0][0])

    def _values(self, column: str, storage: str) -> tuple[NDArray[np.intp], list[Any]]:
        """Where each row stands in a list of values, as a DataFrame would hold them; null is -1."""
        if storage == "BLOB":  # as text it would be escaped, and one odd byte makes a whole column of texts a BLOB
            positions, found = self._packed(column)
            return positions, found.to_pylist()
        # a float prints as the double of the same value, whatever its width
        printed = f"CAST({column} AS DOUBLE)" if _FLOAT.match(storage) else column
        positions, found = self._packed(f"CAST({printed} AS VARCHAR)")
        read = next((read for types, read in _READ if types.match(storage)), None)
        return positions, found.to_pylist() if read is None else [read(text) for text in found.to_pylist()]

    def _packed(self, expression: str, table: str = "taken") -> tuple[NDArray[np.intp], pa.Array]:
        """Where each row stands in a list of distinct values (in order of appearance); null is -1."""
        found = self._engine.sql(f"SELECT {expression} AS value FROM {table}").to_arrow_table()
        packed = found.column(0).dictionary_encode().combine_chunks()
        return packed.indices.fill_null(-1).to_numpy().astype(np.intp), packed.dictionary


class _Text(_Database):
    """A CSV or TSV file: UTF-8, names in the first line, the same number of fields in every row."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._digest = files.digest(path, text=True)
        names, separator = files.header(path)
        origin = (
            "read_csv(?, delim=?, columns=?, header=true, auto_detect=false, quote='\"', escape='\"', strict_mode=true,"
            " null_padding=false, ignore_errors=false, compression='none', hive_partitioning=false)"
        )
        types = {f"c{place}": "VARCHAR" for place in range(len(names))}
        parameters = [glob.escape(str(path)), separator, types]
        super().__init__(engine, (Column(name, "VARCHAR") for name in names), origin, parameters)

    def fingerprint(self) -> str:
        return self._digest


class _Parquet(_Database):
    """A Parquet file."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._path = path
        file = glob.escape(str(path))
        types = engine.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning=false)", [file]).fetchall()
        # DuckDB renames columns that differ in case only, so the names come from the file's own schema
        nodes = engine.execute("SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [file]).fetchall()
        names = files.check_names(_outermost(nodes))
        origin = f"read_parquet(?, hive_partitioning=false) AS t({_aliases(len(names))})"
        _check_rows(engine, origin, [file])
        columns = (Column(name, _storage(kind[1])) for name, kind in zip(names, types, strict=True))
        super().__init__(engine, columns, origin, [file])

    def fingerprint(self) -> str:
        return files.digest(self._path, text=False)


class _Stored(_Database):
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
        _check_rows(engine, origin, [])
        columns = (Column(name, _storage(row[1])) for name, row in zip(names, described, strict=True))
        super().__init__(engine, columns, origin, [])

    def fingerprint(self) -> str:
        return content((name, *self._printed(place)) for name, place in self._places.items())

    def _printed(self, place: int) -> tuple[NDArray[np.intp], list[str]]:
        positions, texts = self._packed(f"CAST(c{place} AS VARCHAR)", self._origin)
        return positions, texts.to_pylist()


_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|ARRAY|VARIANT")
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?$")
_FLOAT = re.compile(r"DOUBLE|FLOAT")
_DIGITS = re.compile(r"DECIMAL|U?HUGEINT|BIGNUM")
_TIME = re.compile(r"DATE|TIMESTAMP")
_READ: tuple[tuple[re.Pattern[str], Callable[[Any], object]], ...] = (
    (_WHOLE, int),
    (_FLOAT, float),
    (_DIGITS, Decimal),
    (_TIME, moment),
    (re.compile("BOOLEAN"), "true".__eq__),
)
"""What a printed value of a type means: the same as a DataFrame would hold, whichever type its writer chose."""


def _confine(engine: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Lower the engine's share of the machine's memory to what a file of this size can need."""
    room = ROOM + ROOM_PER_BYTE * path.stat().st_size
    if room < _memory(engine):
        engine.execute(f"SET memory_limit='{room >> 20}MiB'")


def _check_rows(engine: duckdb.DuckDBPyConnection, origin: str, parameters: list[Any]) -> None:
    """Refuse more rows than there is room for; the file itself says how many it has. Text has a byte for each."""
    count = int(engine.execute(f"SELECT count(*) FROM {origin}", parameters).fetchall()[0][0])
    if count * ROOM_PER_ROW > _memory(engine):
        raise BadFile(TOO_LARGE)


def _memory(engine: duckdb.DuckDBPyConnection) -> float:
    """Bytes that the engine may take."""
    amount, unit = engine.execute("SELECT current_setting('memory_limit')").fetchall()[0][0].split()
    return float(amount) * 1024.0 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)


def _attach(engine: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Open a DuckDB file beside an empty database of our own, under the name `given`, for reading.

    Opened by itself it would come first whenever a name is looked up, and its own functions would stand for DuckDB's:
    one called current_setting could say that the configuration is locked.
    """
    engine.execute("ATTACH ? AS given (READ_ONLY)", [str(path)])
    _lock(engine)


def _lock(engine: duckdb.DuckDBPyConnection) -> None:
    if not engine.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
        engine.execute("SET enable_external_access=false")
        engine.execute("SET lock_configuration=true")


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
