"""A SQLite file that must not be lost: how it is created, opened and written, and what a failing disk says.

Nothing here knows what the file is about; a `Layout` gives its tables and its name in sentences. A file of an older
version is brought up to date, in one transaction, when it is opened; one of a newer version is refused. Every call gets
a connection of its own, so threads and processes share nothing but the file, and a killed process leaves nothing behind
but a transaction that never happened. Every commit is synced before it returns.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from core.base.errors import DeskError
from core.ledger.database import Connection, Guard, Layout, TableStatement

SENTENCES = {
    "SQLITE_BUSY": "Another process is using the {noun}; nothing was changed: try again in a moment.",
    "SQLITE_LOCKED": "Another process is using the {noun}; nothing was changed: try again in a moment.",
    "SQLITE_FULL": "The disk is full; nothing was changed: free some space and try again.",
    "SQLITE_READONLY": "The {noun} is read-only; nothing was changed: check the rights of the workspace folder.",
    "SQLITE_CANTOPEN": "The {noun} cannot be opened; the workspace must be a folder of yours on a local disk.",
    "SQLITE_NOTADB": "This file is not a {noun} of Release Desk; choose another workspace folder.",
    "SQLITE_CORRUPT": "The {noun} is damaged on disk; restore the workspace from a backup.",
}


ROOM = 16_000_000
"""Bytes that must be free on the disk before something begins that may have to write, besides four times its size."""


class KeptFile:
    """One SQLite file on a local disk (write-ahead log, every commit synced), readable by its owner only.

    SQLite's locks do not survive a fork in the middle of a call: start worker processes with `spawn`.
    """

    def __init__(self, path: Path | str, layout: Layout, *, patience: float = 30.0) -> None:
        """Opens the file or creates it; `patience` is how many seconds a call waits for other processes."""
        self.path = Path(path).absolute()
        self.layout = layout
        self.patience = patience
        try:
            if not self.path.exists():
                _create(self.path, layout)
        except (OSError, ValueError) as error:
            raise DeskError(self._say("SQLITE_CANTOPEN")) from error
        except sqlite3.Error as error:
            raise DeskError(self._sentence(error)) from error
        with self.read() as connection:
            older = self._check(connection) < layout.version
        if older:
            self._migrate()
        self._let_go = weakref.finalize(self, self._stay().close) if layout.busy else None

    @property
    def where(self) -> str:
        return "a file in the workspace"

    def connect(self) -> sqlite3.Connection:
        return _connect(self.path, self.patience)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self.connect()) as connection:
                yield connection
        except sqlite3.Error as error:
            raise DeskError(self._sentence(error)) from error
        except UnicodeEncodeError as error:
            noun = self.layout.noun
            raise DeskError(f"A name or text for the {noun} is not valid Unicode; type it again.") from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        with self.read() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
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

    def check_room(self, connection: Connection, size: int) -> None:
        if shutil.disk_usage(self.path.parent).free < ROOM + 4 * size:
            raise DeskError("The disk is nearly full; nothing was asked: free some space and try again.")

    def close(self) -> None:
        if self._let_go is not None:
            self._let_go()

    def _stay(self) -> sqlite3.Connection:
        """Whoever closes the last connection moves the whole log into the file; one that stays saves that."""
        stays = self.connect()
        stays.execute("PRAGMA schema_version").fetchall()
        return stays

    def _migrate(self) -> None:
        """All steps from the file's version to this one, or none of them."""
        with self.write() as connection:
            # Asked again under the lock: another process may have done it meanwhile.
            for version in range(self._check(connection), self.layout.version):
                for statement in self.layout.steps[version]:
                    connection.execute(as_sqlite(statement))
                connection.execute(f"PRAGMA user_version = {version + 1}")

    def _check(self, connection: sqlite3.Connection) -> int:
        """The version of the file, which is one of ours and not a newer one."""
        if connection.execute("PRAGMA application_id").fetchone()[0] != self.layout.mark:
            raise DeskError(self._say("SQLITE_NOTADB"))
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > self.layout.version:
            raise DeskError(
                f"This {self.layout.noun} was written by a newer Release Desk; "
                "update the program to open this workspace."
            )
        return version

    def _sentence(self, error: sqlite3.Error) -> str:
        name = getattr(error, "sqlite_errorname", None) or type(error).__name__
        kind = "_".join(name.split("_")[:2])  # SQLITE_BUSY_RECOVERY is a SQLITE_BUSY
        if kind in SENTENCES:
            return self._say(kind)
        return f"The {self.layout.noun} could not be used ({name}); reopen the workspace and try again."

    def _say(self, kind: str) -> str:
        return SENTENCES[kind].format(noun=self.layout.noun)


def as_sqlite(statement: TableStatement) -> str:
    """A statement as SQLite reads it."""
    if not isinstance(statement, Guard):
        return statement
    when = f"WHEN {statement.when}\n    " if statement.when else ""
    return (
        f"CREATE TRIGGER {statement.name} BEFORE {statement.before} ON {statement.table}\n    "
        f"{when}BEGIN SELECT RAISE(ABORT, '{statement.refusal}'); END"
    )


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    # mode=rw: a file deleted under a running desk must not come back empty, with a fresh budget.
    # Another thread may close what one has opened (Desk.close); no connection is used by two threads at once.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: without it a sync may end in the drive's own cache
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _create(path: Path, layout: Layout) -> None:
    """Makes a complete file aside and gives it its name in one step, so that nobody ever opens half of one.

    Of several processes that do so at once the first wins (a link never replaces a file). An empty file in the place
    of a kept one is therefore damage, not a file still to be filled with a fresh budget.
    """
    with TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        fresh = Path(folder) / "file"
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connect(fresh, patience=0)) as connection:
            for statement in layout.tables:
                connection.execute(as_sqlite(statement))
            connection.execute(f"PRAGMA application_id = {layout.mark}")
            connection.execute(f"PRAGMA user_version = {layout.version}")
            connection.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):
            os.link(fresh, path)
