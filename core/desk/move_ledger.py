"""Moving the books of a workspace from its folder to a PostgreSQL database, so that several servers can share them.

The steps, each of which may be the last before a crash; called again, it goes on where it stopped:

1. The database is opened and must be empty; its random name is noted.
2. Both files of the folder are closed for good, for that database alone (`ledger/closing.py`).
3. The folder is bound to the ledger that the database will hold: no desk opens the files any more.
4. All rows are copied in one transaction, which at its end gives the database the name of the workspace. Until then no
   desk opens the database with this folder, because that name is another.

**Privacy** At no moment can both spend: rows are in the database only after the files refuse every change, and the name
by which journals know the workspace (`ledger/journal.py`) goes with them, so an older copy of the folder that is put
back is noticed as before. Every row passes the guards of the database's own tables; replies are entered one by one, as
they were given. Drafts, encoded tables and the key of sketches stay in the folder, where every server looks for them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from core.base.errors import BadParameter, Refused
from core.desk.books import LEDGER_FILE, LEDGER_VARIABLE, SESSION_FILE, bind
from core.desk.kept import small_rows
from core.desk.kept.small_files import SmallFiles
from core.ledger import layout as ledger_layout
from core.ledger.closing import close_for_good, destination_of
from core.ledger.database import Connection, Database
from core.ledger.durable_file import KeptFile
from core.ledger.ledger import Ledger
from core.ledger.places import on_server, open_database
from core.sessions.kept import layout as session_layout

KINDS = ("labels", "shared", "publisher", "machines")
"""Of small things, each in a folder of its own."""
LEDGER_TABLES = ("account", "override", "dataset", "plan", "refund", "separation")
"""In an order in which whatever a row names is there before it."""
NUMBERED = ("override", "plan", "separation", "session")
"""Tables that number their rows; numbers that come later go on after those that were moved."""


def move_ledger(folder: Path, address: str, journal: Path, *, patience: float = 30.0) -> bool:
    """Move the books; whether there was anything left to do."""
    if not on_server(address):
        raise BadParameter(LEDGER_VARIABLE, "must be the address of a database: postgresql://user@host/database.")
    if not (folder / LEDGER_FILE).exists():
        raise Refused("This workspace has no ledger in its own folder; there is nothing to move.")
    layouts = (ledger_layout.LAYOUT, session_layout.LAYOUT, small_rows.LAYOUT)
    databases = [open_database(address, layout, patience=patience) for layout in layouts]
    files = [
        KeptFile(folder / LEDGER_FILE, ledger_layout.LAYOUT, patience=patience),
        KeptFile(folder / SESSION_FILE, session_layout.LAYOUT, patience=patience),
    ]
    for file in files:
        file.close()  # of the connection that stays open for many short calls
    try:
        return _moved(folder, files, databases[0], journal)
    finally:
        for database in databases:
            database.close()


def _moved(folder: Path, files: list[KeptFile], database: Database, journal: Path) -> bool:
    workspace = _name(files[0])
    destination = _name(database)
    if destination == workspace:
        bind(folder, workspace)
        return False
    closed = {destination_of(file) for file in files} - {None}
    if closed - {destination}:
        raise Refused(
            "This workspace was being moved to another database, which may hold its ledger already; name that one in "
            f"{LEDGER_VARIABLE} and move the ledger again."
        )
    with database.read() as connection:
        _check_empty(connection)
    if destination_of(files[0]) is None:
        Ledger(folder / LEDGER_FILE, outside=journal).check_whole()
    close_for_good([file for file in files if destination_of(file) is None], destination)
    bind(folder, workspace)
    with database.write() as connection, closing(files[0].connect()) as books, closing(files[1].connect()) as sessions:
        for layout in (session_layout.LAYOUT, small_rows.LAYOUT):
            connection.execute("SELECT pg_advisory_xact_lock(?)", (layout.mark,))
        _check_empty(connection)
        for table in LEDGER_TABLES:
            for row in books.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                _enter(connection, table, row)
        _copy_sessions(sessions, connection)
        _copy_items(folder, connection)
        for table in NUMBERED:
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), max(number)) FROM {table}")
        connection.execute("UPDATE workspace SET id = ? WHERE id = ?", (workspace, destination))
    return True


def _copy_sessions(sessions: sqlite3.Connection, connection: Connection) -> None:
    """Each as it went: opened, its replies in their order, and closed where it is."""
    for row in sessions.execute("SELECT * FROM session ORDER BY rowid"):
        _enter(connection, "session", {**dict(row), "status": "open", "version": 0, "closed_at": None})
        for reply in sessions.execute("SELECT * FROM reply WHERE session = ? ORDER BY number", (row["id"],)):
            connection.execute("UPDATE session SET version = ? WHERE id = ?", (reply["number"], row["id"]))
            _enter(connection, "reply", reply)
        for state in sessions.execute("SELECT * FROM state WHERE session = ?", (row["id"],)):
            _enter(connection, "state", state)
        if row["status"] == "closed":
            query = "UPDATE session SET status = 'closed', closed_at = ? WHERE id = ?"
            connection.execute(query, (row["closed_at"], row["id"]))
        for ending in sessions.execute("SELECT * FROM ending WHERE session = ?", (row["id"],)):
            _enter(connection, "ending", ending)


def _copy_items(folder: Path, connection: Connection) -> None:
    for kind in KINDS:
        for identity, text in _texts(SmallFiles(folder / kind)):
            _enter(connection, "item", {"kind": kind, "id": identity, "content": text})


def _texts(files: SmallFiles) -> Iterator[tuple[str, str]]:
    for identity in files.identities():
        content = files.read(identity)
        if content is not None:
            yield identity, json.dumps(content)


def _enter(connection: Connection, table: str, row: sqlite3.Row | dict[str, object]) -> None:
    names = ", ".join(f'"{name}"' for name in row.keys())  # noqa: SIM118 a row of SQLite iterates over its values
    places = ", ".join("?" for _ in row.keys())  # noqa: SIM118
    given = "OVERRIDING SYSTEM VALUE " if table in NUMBERED else ""
    connection.execute(f"INSERT INTO {table} ({names}) {given}VALUES ({places})", tuple(dict(row).values()))


def _check_empty(connection: Connection) -> None:
    for table in ("account", "session", "item"):
        if connection.execute(f"SELECT 1 AS one FROM {table} LIMIT 1").fetchone() is not None:
            raise Refused("The database holds another ledger, whose budgets would be mixed up; name an empty one.")


def _name(place: Database) -> str:
    with place.read() as connection:
        return str(connection.execute("SELECT id FROM workspace").fetchone()["id"])
