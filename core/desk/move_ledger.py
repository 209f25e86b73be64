"""Moving the books of a workspace from its folder to a PostgreSQL database, so that several servers can share them.

The steps, each of which may be the last before a crash; called again, it goes on where it stopped:

1. The database is opened and must be empty; its random name is noted.
2. Both files of the folder are closed for good, for that database alone (`ledger/moving.py`).
3. The folder is bound to the ledger that the database will hold: no desk opens the files any more.
4. All rows are copied in one transaction, which at its end gives the database the name of the workspace. Until then no
   desk opens the database with this folder, because that name is another.

**Privacy** At no moment can both spend: rows are in the database only after the files refuse every change, and the name
by which journals know the workspace (`ledger/journal.py`) goes with them, so an older copy of the folder that is put
back is noticed as before. Every row passes the guards of the database's own tables; replies are entered one by one, as
they were given. Drafts, encoded tables and the key of sketches stay in the folder, where every server looks for them.
"""

from __future__ import annotations

from pathlib import Path

from core.base.errors import BadParameter, Refused
from core.desk.books import LEDGER_FILE, LEDGER_VARIABLE, SESSION_FILE, bind
from core.desk.kept import small_rows
from core.desk.kept.small_files import SmallFiles
from core.ledger import layout as ledger_layout
from core.ledger import moving
from core.ledger.database import Database
from core.ledger.durable_file import KeptFile
from core.ledger.ledger import Ledger
from core.ledger.places import on_server, open_database
from core.sessions.kept import layout as session_layout
from core.sessions.kept.copying import copy_sessions

KINDS = ("labels", "shared", "publisher", "machines")
"""Of small things, each in a folder of its own."""
LAYOUTS = (ledger_layout.LAYOUT, session_layout.LAYOUT, small_rows.LAYOUT)


def move_ledger(folder: Path, address: str, journal: Path, *, patience: float = 30.0) -> bool:
    """Move the books; whether there was anything left to do."""
    if not on_server(address):
        raise BadParameter(LEDGER_VARIABLE, "must be the address of a database: postgresql://user@host/database.")
    if not (folder / LEDGER_FILE).exists():
        raise Refused("This workspace has no ledger in its own folder; there is nothing to move.")
    databases = [open_database(address, layout, patience=patience) for layout in LAYOUTS]
    names = (LEDGER_FILE, SESSION_FILE)
    files = [KeptFile(folder / name, layout, patience=patience) for name, layout in zip(names, LAYOUTS, strict=False)]
    for file in files:
        file.close()  # the connection that stays for many short calls
    try:
        return _move(folder, files, databases[0], journal)
    finally:
        for database in databases:
            database.close()


def _move(folder: Path, files: list[KeptFile], database: Database, journal: Path) -> bool:
    workspace, destination = moving.workspace_of(files[0]), moving.workspace_of(database)
    if destination == workspace:
        bind(folder, workspace)
        return False
    _close(folder, files, database, destination, journal)
    bind(folder, workspace)
    with moving.write_all(database, *LAYOUTS[1:]) as connection:
        moving.check_empty(connection)
        moving.copy_ledger(files[0], connection)
        copy_sessions(files[1], connection)
        for kind in KINDS:
            small_rows.copy_items(SmallFiles(folder / kind), kind, connection)
        moving.take_name(connection, destination, workspace)
    return True


def _close(folder: Path, files: list[KeptFile], database: Database, destination: str, journal: Path) -> None:
    """Whatever can be refused is refused before the first file is closed."""
    closed_for = [moving.destination_of(file) for file in files]
    if any(each not in (None, destination) for each in closed_for):
        raise Refused(
            "This workspace was being moved to another database, which may hold its ledger already; name that one in "
            f"{LEDGER_VARIABLE} and move the ledger again."
        )
    with database.read() as connection:
        moving.check_empty(connection)
    if closed_for[0] is None:
        Ledger(folder / LEDGER_FILE, outside=journal).check_whole()
    still_open = [file for file, each in zip(files, closed_for, strict=True) if each is None]
    moving.close_for_good(still_open, destination)
