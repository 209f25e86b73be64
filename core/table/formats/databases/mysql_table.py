"""A table of a MariaDB or MySQL database in one state of it: each row comes as a line of CSV, which the server makes.

**Order** Rows are read more than once (ids, cells, fingerprint), so their order must be the same each time. InnoDB
keeps rows in the order of one index; read without any other, in one snapshot, they come in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from core.base.errors import BadFile, printable
from core.table.formats.databases import database_words as words
from core.table.formats.databases import mysql_session as session
from core.table.formats.databases.database_rows import HeldColumn
from core.table.formats.databases.database_source import DatabaseSource
from core.table.formats.identifiers import mysql_quote as quote

_WHOLE, _REAL, _TEXT = ("BIGINT", pa.int64()), ("DOUBLE", pa.float64()), ("VARCHAR", pa.string())
_DECIMAL, _YES_NO = ("DECIMAL", pa.string()), ("BOOLEAN", pa.int64())
_NUMBERS: dict[str, tuple[str, pa.DataType]] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit"), _WHOLE),
    **dict.fromkeys(("float", "double"), _REAL),
    "decimal": _DECIMAL,
    "date": ("DATE", pa.string()),
    **dict.fromkeys(("datetime", "timestamp"), ("TIMESTAMP", pa.string())),
}
"""What a type of the server is called here, and how it is held. No sign of them needs quotes."""
_BYTES = frozenset(
    ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "geometry", "point", "linestring",
     "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection")
)  # fmt: skip
"""No letters, so written as signs of base 16."""
_TABLE = """
    SELECT table_name, table_type, engine FROM information_schema.tables WHERE table_schema = %s AND table_name = %s
"""
_COLUMNS = """
    SELECT column_name, data_type, column_type, extra FROM information_schema.columns
    WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
NO_STATE = (
    "This table is not kept by InnoDB, so it cannot be read in one state while others write; "
    "convert it with ALTER TABLE ... ENGINE = InnoDB, or bring it as a file."
)
TOO_LONG = "A row of the table is longer than the server's max_allowed_packet; raise it there, or leave out long texts."


@contextmanager
def opened(source: DatabaseSource) -> Iterator[MySqlTable]:
    with session.reading(source.address) as connection:
        yield MySqlTable(connection, session.database_of(source.address), source.table)


class MySqlTable:
    """Implements `database_rows.DatabaseTable`."""

    def __init__(self, connection: Any, database: str, table: str) -> None:
        self._connection = connection
        self._table = f"{quote(database)}.{quote(table)}"
        self._check(database, table)
        # Every column has to be readable. Until the end nobody can put another table under this name; what it was just
        # before is looked at again.
        session.run(connection, f"SELECT * FROM {self._table} LIMIT 0")
        self._check(database, table)
        described = session.run(connection, _COLUMNS, (database, table))
        if computed := next((name for name, *_, extra in described if "VIRTUAL" in str(extra).upper()), None):
            raise BadFile(words.COMPUTED.format(name=printable(computed)))
        self._kinds = {str(name): str(kind).lower() for name, kind, *_ in described}
        self.columns = [
            HeldColumn(str(name), *_type(kind.lower(), whole.lower())) for name, kind, whole, _ in described
        ]

    def _check(self, database: str, table: str) -> None:
        """Names are compared letter by letter here: the catalogue takes large and small ones for the same."""
        found = session.run(self._connection, _TABLE, (database, table))
        kept = next(((kind, engine) for name, kind, engine in found if name == table), None)
        if kept is None:
            raise BadFile(words.NO_TABLE)
        if kept[0] != "BASE TABLE":
            raise BadFile(words.NOT_A_TABLE)
        if str(kept[1]).lower() != "innodb":
            raise BadFile(NO_STATE)

    def count(self) -> int:
        session.run(self._connection, session.limited(self._connection, session.READING))
        return int(session.run(self._connection, f"SELECT COUNT(*) FROM {self._table}")[0][0])

    def lines(self, names: Sequence[str]) -> Iterator[bytes]:
        """Rows are fetched as they come; the server waits meanwhile."""
        from pymysql.cursors import SSCursor

        fields = ", ".join(_field(quote(name), self._kinds[name]) for name in names)
        # No index but that of the rows themselves: another one would give them in another order.
        query = f"SELECT CAST(CONCAT_WS(',', {fields}) AS BINARY) FROM {self._table} USE INDEX ()"
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(query)
            for (line,) in cursor:
                if line is None:
                    raise BadFile(TOO_LONG)
                yield line + b"\n"


def _type(kind: str, whole: str) -> tuple[str, pa.DataType]:
    """By the name of a type, and by how the column was declared with it."""
    if whole.startswith(("tinyint(1)", "bit(1)")):
        return _YES_NO  # what BOOLEAN stands for; its cells are numbers all the same
    if whole == "bit(64)" or (kind == "bigint" and "unsigned" in whole):
        return _DECIMAL  # one bit more than whole numbers have here
    return _NUMBERS.get(kind, _TEXT)


def _field(name: str, kind: str) -> str:
    """A cell of this column as a field of CSV; null would swallow the fields beside it."""
    if kind in _NUMBERS:
        return f"IFNULL(CAST({name}{' + 0' if kind == 'bit' else ''} AS CHAR), '')"
    text = f"HEX({name})" if kind in _BYTES else f"CONVERT({name} USING utf8mb4)"
    return f"""IFNULL(CONCAT('"', REPLACE({text}, '"', '""'), '"'), '')"""
