"""A PostgreSQL database that several servers share: how it is filled and written.

Statements come as SQLite reads them (`database.py`). A layout that is not there is created, an older one is brought up
to date, in one transaction; a newer one is refused. So is a server that does not sync what is committed.

**One writer** A writer holds a lock of the server, one for each layout, from before its first statement to its commit;
each of its statements then sees everything that was committed before it (READ COMMITTED). The lock goes with the
transaction, also where the client is killed, stopped or cut off: the server undoes what a silent client has begun
(`server.py`), and others go on.

**Privacy** A transaction that is undone may have drawn (`core/sessions/kept/file.py`), so whether that happens must not
depend on how long a draw took. A client that computes is not silent: a thread of its own tells the server so. What is
undone belongs to a client that was stopped or cut off as a whole, for `server.SILENCE` seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from core.base.errors import DeskError
from core.ledger.database import Connection, Layout, TableStatement
from core.ledger.postgres import sql
from core.ledger.postgres.server import PostgresConnection, PostgresServer

OPENING = 0x52_44_50_47
"""The lock of whoever creates tables."""
SPARE = 65_536
"""Bytes that a turn writes besides a state."""


class PostgresDatabase:
    """The tables of one layout on a server."""

    def __init__(self, server: PostgresServer, layout: Layout) -> None:
        """Opens the tables or creates them."""
        self.server = server
        self.layout = layout
        with self.read() as connection:
            _check_server(connection)
            version = self._version(connection)
        if version != layout.version:
            self._migrate()

    @property
    def where(self) -> str:
        return f"a PostgreSQL database on {self.server.host}"

    def connect(self) -> PostgresConnection:
        return self.server.connect()

    @contextmanager
    def read(self) -> Iterator[PostgresConnection]:
        connection = self.server.reused() or self.connect()
        try:
            yield connection
        except self.server.driver.Error as error:
            raise DeskError(sql.sentence_of(error.sqlstate, self.layout.noun)) from None
        except UnicodeEncodeError:
            noun = self.layout.noun
            raise DeskError(f"A name or text for the {noun} is not valid Unicode; type it again.") from None
        finally:
            self.server.put_away(connection)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresConnection]:
        with self._within("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[PostgresConnection]:
        with self._writing(self.layout.mark) as connection:
            yield connection

    def check_room(self, connection: Connection, size: int) -> None:
        """What is free on a server's disk cannot be asked, so that much is written and taken back."""
        connection.execute("SAVEPOINT room")
        connection.execute("INSERT INTO room VALUES (decode(repeat('00', ?), 'hex'))", (size + SPARE,))
        connection.execute("ROLLBACK TO SAVEPOINT room")

    def close(self) -> None:
        self.server.close()

    @contextmanager
    def _writing(self, mark: int) -> Iterator[PostgresConnection]:
        with self._within("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") as connection:
            connection.execute("SELECT pg_advisory_xact_lock(?)", (mark,))
            yield connection

    @contextmanager
    def _within(self, begin: str) -> Iterator[PostgresConnection]:
        with self.read() as connection:
            connection.execute(begin)
            try:
                with connection.beating():
                    yield connection
                connection.commit()
            except BaseException:
                with suppress(self.server.driver.Error):
                    connection.execute("ROLLBACK")
                raise

    def _migrate(self) -> None:
        """All tables, or all steps from an older version to this one; or none of them."""
        with self._writing(OPENING) as connection:
            # Asked again under the lock: another server may have done it meanwhile.
            if not _is_there(connection):
                for statement in sql.FIRST:
                    connection.execute(statement)
            version = self._version(connection)
            if version is None:
                self._run(connection, self.layout.tables)
                values = (self.layout.mark, self.layout.version)
                connection.execute("INSERT INTO layout VALUES (?, ?)", values)
                return
            for older in range(version, self.layout.version):
                self._run(connection, self.layout.steps[older])
            values = (self.layout.version, self.layout.mark)
            connection.execute("UPDATE layout SET version = ? WHERE mark = ?", values)

    @staticmethod
    def _run(connection: PostgresConnection, statements: Sequence[TableStatement]) -> None:
        for statement in statements:
            for each in sql.as_postgres(statement):
                connection.execute(each)

    def _version(self, connection: PostgresConnection) -> int | None:
        """Of the tables that are there, which are not newer; None where there are none."""
        if not _is_there(connection):
            return None
        row = connection.execute("SELECT version FROM layout WHERE mark = ?", (self.layout.mark,)).fetchone()
        if row is not None and row["version"] > self.layout.version:
            raise DeskError(
                f"The {self.layout.noun} on the PostgreSQL server was written by a newer Release Desk; "
                "update the program to use it."
            )
        return None if row is None else int(row["version"])


def _check_server(connection: PostgresConnection) -> None:
    query = "SELECT current_setting('fsync') AS synced, current_setting('server_encoding') AS letters"
    found = connection.execute(query).fetchone()
    if found["synced"] != "on":
        raise DeskError(sql.NOT_DURABLE)
    if found["letters"] != "UTF8":
        raise DeskError(sql.NOT_UNICODE)


def _is_there(connection: PostgresConnection) -> bool:
    # Read from the catalogue: a name that is looked up may come out of a cache that is older than the lock.
    query = "SELECT tablename FROM pg_tables WHERE schemaname = ? AND tablename = 'layout'"
    return connection.execute(query, (sql.SCHEMA,)).fetchone() is not None
