"""A workspace's files whose rows go to a server's database: they are closed for good, and then copied.

**Privacy** A ledger in a file beside its copy in a database would be two budgets for the same people, and two files of
sessions would draw twice from one state. So a file is closed before a row of it is copied, by guards of its own tables,
which hold for programs that have it open too and for copies of the closed file; and it names the one database that may
take its rows, so that no second one does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from core.base.errors import DeskError, Refused
from core.ledger.database import Connection, Database, Guard, Layout
from core.ledger.durable_file import KeptFile, as_sqlite

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
_REFUSAL = "it was moved to a database"
LEDGER_TABLES = ("account", "override", "dataset", "plan", "refund", "separation")
"""In an order in which whatever a row names is there before it."""
_NUMBERED = ("override", "plan", "separation", "session")
"""Tables whose rows are numbered by the database, in the order in which they come."""


def destination_of(file: KeptFile) -> str | None:
    """The random name of the database that this file was closed for; None where it is not closed."""
    with file.read() as connection:
        if connection.execute(f"{_TABLES} AND name = 'moved'").fetchone() is None:
            return None
        return str(connection.execute("SELECT destination FROM moved").fetchone()["destination"])


def close_for_good(files: list[KeptFile], destination: str) -> None:
    """Close these files, all while nobody else has any of them open; otherwise none is changed.

    Killed between two of them, it leaves the first closed and none copied: the next call closes the rest.
    """
    if not files:
        return
    first, *others = files
    with _alone(first) as connection:
        close_for_good(others, destination)
        connection.execute("CREATE TABLE moved (destination TEXT PRIMARY KEY) STRICT")
        connection.execute("INSERT INTO moved VALUES (?)", (destination,))
        for table in [row["name"] for row in connection.execute(_TABLES)]:
            for word in ("INSERT", "UPDATE", "DELETE"):
                name = f"{table}_moved_{word.lower()}"
                guard = Guard(name=name, before=word, table=table, refusal=_REFUSAL)
                connection.execute(as_sqlite(guard))
        connection.execute("COMMIT")
        # With its log: whoever copies the file by itself copies the guards too.
        connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _alone(file: KeptFile) -> Iterator[sqlite3.Connection]:
    """A transaction that begins only where no other connection to the file is open, and lets none be opened."""
    with closing(file.connect()) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise Refused(
                "Another program has this workspace open; nothing was changed: stop every server and notebook that "
                "uses it, then move the ledger."
            ) from None
        try:
            yield connection
        except sqlite3.Error as error:
            raise DeskError(f"The {file.layout.noun} could not be closed; nothing was moved: try again.") from error


def workspace_of(place: Database) -> str:
    """The random name of a ledger."""
    with place.read() as connection:
        return str(connection.execute("SELECT id FROM workspace").fetchone()["id"])


def check_empty(connection: Connection) -> None:
    """Refuse a database that holds anything."""
    for table in ("account", "session", "item"):
        if connection.execute(f"SELECT 1 AS one FROM {table} LIMIT 1").fetchone() is not None:
            raise Refused("The database holds another ledger, whose budgets would be mixed up; name an empty one.")


@contextmanager
def write_all(database: Database, *others: Layout) -> Iterator[Connection]:
    """One transaction of a server that no writer of any of these layouts overlaps."""
    with database.write() as connection:
        for layout in others:
            connection.execute("SELECT pg_advisory_xact_lock(?)", (layout.mark,))
        yield connection


def copy_ledger(file: KeptFile, connection: Connection) -> None:
    """Enter every row of a ledger's file, oldest first, by the guards of the tables that take them."""
    with file.read() as source:
        for table in LEDGER_TABLES:
            for row in source.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                enter_row(connection, table, dict(row))


def enter_row(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    given = {name: value for name, value in row.items() if name != "number" or table not in _NUMBERED}
    names = ", ".join(f'"{name}"' for name in given)
    places = ", ".join("?" for _ in given)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(given.values()))


def take_name(connection: Connection, old: str, new: str) -> None:
    """Let a ledger go by another name: that of the one whose rows it holds."""
    connection.execute("UPDATE workspace SET id = ? WHERE id = ?", (new, old))
