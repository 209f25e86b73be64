"""The file behind the ledger: its tables, how it is opened, and what a failing disk says to a curator.

Nothing here knows what a spend is; `ledger.py` does. Every call gets a connection of its own, so threads and processes
share nothing but the file, and a killed process leaves nothing behind but a transaction that never happened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import DeskError

MARK = 0x52_44_4C_47  # "RDLG": says that a SQLite file is a ledger of ours
VERSION = 1
LARGEST_AMOUNT = 2**62  # spent + units and total - units then both fit SQLite's 64-bit integers

TABLES = f"""
CREATE TABLE account (
    fingerprint TEXT PRIMARY KEY,
    unit_json   TEXT NOT NULL,
    budget_json TEXT NOT NULL,
    order_text  TEXT,
    total       INTEGER NOT NULL CHECK (total BETWEEN 0 AND {LARGEST_AMOUNT}),
    spent       INTEGER NOT NULL DEFAULT 0 CHECK (spent BETWEEN 0 AND total),
    opened_at   TEXT NOT NULL
) STRICT;
CREATE TABLE override (
    number      INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL REFERENCES account (fingerprint),
    who         TEXT NOT NULL CHECK (who <> ''),
    at          TEXT NOT NULL,
    from_budget TEXT NOT NULL,
    to_budget   TEXT NOT NULL,
    from_total  INTEGER NOT NULL,
    to_total    INTEGER NOT NULL,
    reason      TEXT NOT NULL CHECK (reason <> '')
) STRICT;
CREATE TABLE dataset (
    id           TEXT PRIMARY KEY,
    fingerprint  TEXT NOT NULL REFERENCES account (fingerprint),
    name         TEXT NOT NULL,
    schema_json  TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    details_json TEXT NOT NULL
) STRICT;
CREATE TABLE plan (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    dataset_id  TEXT NOT NULL REFERENCES dataset (id),
    plan_json   TEXT NOT NULL,
    units       INTEGER NOT NULL CHECK (units BETWEEN 0 AND {LARGEST_AMOUNT}),
    status      TEXT NOT NULL CHECK (status IN ('reserved', 'stored')),
    note        TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    reserved_at TEXT NOT NULL,
    stored_at   TEXT,
    digest      TEXT,
    result      BLOB,
    CHECK ((status = 'stored') = (result IS NOT NULL AND digest IS NOT NULL AND stored_at IS NOT NULL))
) STRICT;
CREATE INDEX plan_of_dataset ON plan (dataset_id);
CREATE TRIGGER spent_never_falls BEFORE UPDATE ON account WHEN NEW.spent < OLD.spent
    BEGIN SELECT RAISE(ABORT, 'spent never falls'); END;
CREATE TRIGGER account_is_kept BEFORE DELETE ON account
    BEGIN SELECT RAISE(ABORT, 'accounts are kept'); END;
CREATE TRIGGER override_is_kept BEFORE DELETE ON override
    BEGIN SELECT RAISE(ABORT, 'overrides are kept'); END;
CREATE TRIGGER plan_is_kept BEFORE DELETE ON plan
    BEGIN SELECT RAISE(ABORT, 'plans are kept'); END;
CREATE TRIGGER plan_is_fixed BEFORE UPDATE ON plan
    WHEN OLD.status = 'stored' OR NEW.id <> OLD.id OR NEW.units <> OLD.units OR NEW.dataset_id <> OLD.dataset_id
        OR NEW.plan_json <> OLD.plan_json
    BEGIN SELECT RAISE(ABORT, 'a paid plan and its result never change'); END;
PRAGMA application_id = {MARK};
PRAGMA user_version = {VERSION};
"""

SENTENCES = {
    "SQLITE_BUSY": "Another process is using the ledger; nothing was changed: try again in a moment.",
    "SQLITE_LOCKED": "Another process is using the ledger; nothing was changed: try again in a moment.",
    "SQLITE_FULL": "The disk is full; nothing was changed: free some space and try again.",
    "SQLITE_READONLY": "The ledger is read-only; nothing was changed: check the rights of the workspace folder.",
    "SQLITE_CANTOPEN": "The ledger cannot be opened; the workspace must be a folder of yours on a local disk.",
    "SQLITE_NOTADB": "This file is not a ledger of Release Desk; choose another workspace folder.",
    "SQLITE_CORRUPT": "The ledger is damaged on disk; restore the workspace from a backup.",
}


class LedgerFile:
    """One SQLite file on a local disk (write-ahead log, every commit synced), readable by its owner only.

    SQLite's locks do not survive a fork in the middle of a call: start worker processes with `spawn`.
    """

    def __init__(self, path: Path | str, *, patience: float = 30.0) -> None:
        """Opens the file or creates it; `patience` is how many seconds a call waits for other processes."""
        self.path = Path(path).absolute()
        self.patience = patience
        try:
            if not self.path.exists():
                _create(self.path)
        except (OSError, ValueError) as error:
            raise DeskError(SENTENCES["SQLITE_CANTOPEN"]) from error
        except sqlite3.Error as error:
            raise DeskError(_sentence(error)) from error
        with self.read() as connection:
            _check(connection)

    def connect(self) -> sqlite3.Connection:
        return _connect(self.path, self.patience)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection on which each statement sees one committed state."""
        try:
            with closing(self.connect()) as connection:
                yield connection
        except sqlite3.Error as error:
            raise DeskError(_sentence(error)) from error
        except UnicodeEncodeError as error:
            raise DeskError("A name or text for the ledger is not valid Unicode; type it again.") from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction that no other writer overlaps: committed and synced at its end, undone by any exception."""
        with self.read() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # Explicit, because a closed connection keeps its lock for as long as a traceback holds a cursor of it.
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    # mode=rw: a ledger deleted under a running desk must not come back empty, with a fresh budget.
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=patience, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: without it a sync may end in the drive's own cache
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _create(path: Path) -> None:
    """Makes a complete ledger aside and gives it its name in one step, so that nobody ever opens half of one.

    Of several processes that do so at once the first wins (a link never replaces a file). An empty file in the place
    of a ledger is therefore damage, not a ledger still to be filled with a fresh budget.
    """
    with TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
        fresh = Path(folder) / "ledger"
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connect(fresh, patience=0)) as connection:
            connection.executescript(TABLES)
            connection.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):
            os.link(fresh, path)


def _check(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != MARK:
        raise DeskError(SENTENCES["SQLITE_NOTADB"])
    if connection.execute("PRAGMA user_version").fetchone()[0] > VERSION:
        raise DeskError("This ledger was written by a newer Release Desk; update the program to open this workspace.")


def _sentence(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    kind = "_".join(name.split("_")[:2])  # SQLITE_BUSY_RECOVERY is a SQLITE_BUSY
    return SENTENCES.get(kind, f"The ledger could not be used ({name}); reopen the workspace and try again.")
