"""A table of a PostgreSQL database in one state of it: copied out as CSV, which the server writes itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from core.base.errors import BadFile, printable
from core.table.formats.databases import database_words as words
from core.table.formats.databases import postgres_session as session
from core.table.formats.databases.database_rows import HeldColumn
from core.table.formats.databases.database_source import DatabaseSource

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
def opened(source: DatabaseSource) -> Iterator[PostgresTable]:
    with session.reading(source.address) as connection:
        yield PostgresTable(connection, source)


class PostgresTable:
    """Implements `database_rows.DatabaseTable`."""

    def __init__(self, connection: Any, source: DatabaseSource) -> None:
        from psycopg import sql

        self._sql, self._connection = sql, connection
        self._table = sql.Identifier(source.schema, source.table)
        if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
            raise BadFile(session.NO_LETTERS)
        # Before anything is looked at: nobody can put another table under this name until the end.
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(self._table))
        found = connection.execute(_TABLE, (source.schema, source.table)).fetchone()
        if found is None:
            raise BadFile(words.NO_TABLE)
        if not found[1]:
            raise BadFile(words.NOT_A_TABLE)
        described = connection.execute(_COLUMNS, (found[0],)).fetchall()
        if computed := next((line[0] for line in described if not line[4]), None):
            raise BadFile(words.COMPUTED.format(name=printable(computed)))
        self.columns = [HeldColumn(name, *_type(kind, category, known)) for name, kind, category, known, _ in described]

    def count(self) -> int:
        self._connection.execute(f"SET LOCAL statement_timeout = '{session.READING}s'")
        counted = self._sql.SQL("SELECT count(*) FROM {}").format(self._table)
        return int(self._connection.execute(counted).fetchone()[0])

    def lines(self, names: Sequence[str]) -> Iterator[bytes]:
        """The server sends every row by itself."""
        wanted = self._sql.SQL(", ").join(self._sql.Identifier(name) for name in names)
        query = self._sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(wanted, self._table)
        with self._connection.cursor() as cursor, cursor.copy(query) as copy:
            for row in copy:
                yield bytes(row)


def _type(kind: str, category: str, known: bool) -> tuple[str, pa.DataType]:
    """By the name of a type that every server has; others may be called the same and mean anything."""
    if category in _LISTS:
        return _LISTS[category], pa.string()
    return _TYPES.get(kind if known else "", ("VARCHAR", pa.string()))
