"""A table of a PostgreSQL database as rows: copied out as text in pieces, each of which becomes Arrow arrays in memory.

Nothing is written to disk, neither here nor there. Types are those that the table declares; days, moments and decimals
come as texts, because the server has some that nothing else can hold (infinity, years before Christ).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from core.base.errors import BadFile, BadSchema, printable
from core.schema.attributes import Attribute
from core.table import files
from core.table.formats.arrow_rows import arrow_rows
from core.table.formats.duckdb_rows import GROUP, PIECE, DuckPiece, numbered_owners
from core.table.formats.postgres import postgres_session as session
from core.table.formats.postgres.postgres_source import PostgresSource
from core.table.row_source import NESTED, Column

PIECE_BYTES = 32 << 20
"""Of text in a piece; the arrays made of it take some three times as much while they are encoded."""
_WHOLE, _REAL, _YES_NO = ("BIGINT", pa.int64()), ("DOUBLE", pa.float64()), ("BOOLEAN", pa.bool_())
_TYPES: dict[str, tuple[str, pa.DataType]] = {
    **dict.fromkeys(("int2", "int4", "int8"), _WHOLE),
    **dict.fromkeys(("float4", "float8"), _REAL),
    "bool": _YES_NO,
    "numeric": ("DECIMAL", pa.string()),
    "date": ("DATE", pa.string()),
    **dict.fromkeys(("timestamp", "timestamptz"), ("TIMESTAMP", pa.string())),
}
"""What a type of the server is called here, and how it is held; every other one is text."""
_LISTS = {"A": "LIST", "C": "STRUCT"}
_TABLE = """
    SELECT c.oid, c.relkind IN ('r', 'p') AND NOT EXISTS (
        WITH RECURSIVE parts(oid) AS (
            SELECT c.oid UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid
        ) SELECT FROM parts JOIN pg_class AS part USING (oid) WHERE part.relkind = 'f'
    ) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
"""
"""A table, and whether all of its rows lie in this database: those of a foreign one may come in any order."""
_COLUMNS = """
    SELECT a.attname, coalesce(b.typname, t.typname), coalesce(b.typcategory, t.typcategory),
        coalesce(b.typnamespace, t.typnamespace) = 'pg_catalog'::regnamespace, a.attgenerated IN ('', 's')
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        LEFT JOIN pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


@contextmanager
def opened(source: PostgresSource) -> Iterator[PostgresRows]:
    with session.reading(source.address) as connection:
        yield PostgresRows(connection, source)


class PostgresRows:
    """The rows of a table in one state of its database; implements `row_source.Rows`."""

    def __init__(self, connection: Any, source: PostgresSource) -> None:
        from psycopg import sql

        self._sql, self._connection = sql, connection
        self._table = sql.Identifier(source.schema, source.table)
        if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
            raise BadFile(session.NO_LETTERS)
        # Before anything is looked at: nobody can put another table under this name until the end.
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(self._table))
        found = connection.execute(_TABLE, (source.schema, source.table)).fetchone()
        if found is None:
            raise BadFile(session.NO_TABLE)
        if not found[1]:
            raise BadFile(session.NOT_A_TABLE)
        described = connection.execute(_COLUMNS, (found[0],)).fetchall()
        names = files.check_names([line[0] for line in described])
        if computed := next((line[0] for line in described if not line[4]), None):
            raise BadFile(f"Column '{printable(computed)}' is computed by the database; store its values first.")
        types = [_type(kind, category, known) for _, kind, category, known, _ in described]
        self.columns = tuple(Column(name, shown) for name, (shown, _) in zip(names, types, strict=True))
        self._held = {name: held for name, (_, held) in zip(names, types, strict=True)}
        self._count = 0

    def take(self, names: Sequence[str]) -> int:
        types = dict(self.columns)
        for name in names:
            if types[name] in _LISTS.values():
                raise BadSchema(NESTED.format(printable(name)))
        self._connection.execute(f"SET LOCAL statement_timeout = '{session.READING}s'")
        counted = self._sql.SQL("SELECT count(*) FROM {}").format(self._table)
        self._count = int(self._connection.execute(counted).fetchone()[0])
        return self._count

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[DuckPiece]:
        names = list(dict.fromkeys(each if isinstance(each, str) else each.name for each in asked))
        for piece in self._arrays(names):
            with arrow_rows(piece) as rows:
                rows.take(names)
                yield from rows.pieces(asked)

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        groups = -(-self._count // GROUP)
        for group in range(groups):
            yield numbered_owners(list(self._ids(name, group, groups)))

    def _ids(self, name: str, group: int, groups: int) -> Iterator[list[pa.Array]]:
        """Numbers of rows and their ids; equal ids are in one group."""
        read = 0
        for piece in self._arrays([name]):
            with arrow_rows(piece) as rows:
                rows.take([name])
                ids = rows.ids(name)
            numbers = pa.array(np.arange(read, read + len(ids)))
            read += len(ids)
            kept = _group(ids, groups) == group
            yield [numbers.filter(pa.array(kept)), ids.filter(pa.array(kept))]

    def fingerprint(self) -> str:
        """SHA-256 over names and cells, row by row: the same table keeps its budget wherever it is moved to."""
        seen = hashlib.sha256()
        for column in self.columns:
            raw = column.name.encode()
            seen.update(len(raw).to_bytes(8, "little") + raw)
        for row in self._copied([column.name for column in self.columns]):
            seen.update(row)
        return seen.hexdigest()

    def _arrays(self, names: Sequence[str]) -> Iterator[pa.Table]:
        held: list[bytes] = []
        size = 0
        for row in self._copied(names):
            held.append(row)
            size += len(row)
            if len(held) == PIECE or size >= PIECE_BYTES:
                yield self._read(names, held)
                held, size = [], 0
        if held:
            yield self._read(names, held)

    def _copied(self, names: Sequence[str]) -> Iterator[bytes]:
        """Lines of CSV, one for each row: the server sends every row by itself."""
        wanted = self._sql.SQL(", ").join(self._sql.Identifier(name) for name in names)
        query = self._sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(wanted, self._table)
        with self._connection.cursor() as cursor, cursor.copy(query) as copy:
            for row in copy:
                yield bytes(row)

    def _read(self, names: Sequence[str], lines: list[bytes]) -> pa.Table:
        """Null is an empty field, the empty text a quoted one."""
        raw = b"".join(lines)
        inside = [f"c{place}" for place in range(len(names))]
        table = arrow_csv.read_csv(
            pa.BufferReader(raw),
            arrow_csv.ReadOptions(use_threads=False, column_names=inside, block_size=len(raw) + 1),
            # The row of a single column that is null is an empty line.
            arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(
                column_types={key: self._held[name] for key, name in zip(inside, names, strict=True)},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
        if table.num_rows != len(lines):
            raise BadFile(session.GONE)
        return table.rename_columns(list(names))


def _type(kind: str, category: str, known: bool) -> tuple[str, pa.DataType]:
    """By the name of a type that every server has; others may be called the same and mean anything."""
    if category in _LISTS:
        return _LISTS[category], pa.string()
    return _TYPES.get(kind if known else "", ("VARCHAR", pa.string()))


def _group(ids: pa.Array, groups: int) -> NDArray[np.intp]:
    """The same number for equal ids."""
    if groups == 1:
        return np.zeros(len(ids), dtype=np.intp)
    plain = ids.fill_null(0 if pa.types.is_integer(ids.type) else "").to_numpy(zero_copy_only=False)
    return (pd.util.hash_array(plain, categorize=False) % np.uint64(groups)).astype(np.intp)
