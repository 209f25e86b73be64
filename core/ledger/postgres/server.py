"""A PostgreSQL server by its address: its connections, and the few that are kept for the next calls.

**Durability** A commit returns when it is on the server's disk: `synchronous_commit` is on for every connection,
whatever the server's default. With synchronous stand-bys it is on theirs too. What a stand-by knows may be old, so none
is read.

**Silence** A transaction whose client says nothing for `SILENCE` seconds is undone by the server, which closes its
connection; so is one whose client is gone or cannot be reached. Whoever is in a transaction and computes says every
`SILENCE / BEATS` seconds that it is still there, from a thread of its own (`PostgresConnection.beating`).

No sentence and no log quotes the address, which may hold a password.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any

from core.base.errors import DeskError
from core.base.postgres_settings import CONNECTING
from core.ledger.database import Fetched
from core.ledger.postgres import sql

WANTED = CONNECTING | {"target_session_attrs": "read-write"}
EVERY_CONNECTION = f"""
    SET search_path = {sql.SCHEMA};
    SET synchronous_commit = on;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SET lock_timeout = """
WHERE_KNOWN = ("SET client_connection_check_interval = '5s'", "SET tcp_user_timeout = '25s'")
"""A server looks whether its client is there during a statement, too, from version 14; and gives up what it has sent
and nobody takes. Not every system can do either."""
SILENCE = 25.0
"""Seconds: as soon as a connection that was cut off is given up, and sooner than those who wait for the lock lose their
patience."""
BEATS = 5
"""In that time."""
IDLE = 4
"""Connections that are kept for the next calls: a new one takes the server some milliseconds."""


class PostgresConnection:
    """A connection that reads our statements."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Fetched:
        # In binary, because bytes that are written as text do not fit a message beyond half a gigabyte.
        cursor: Fetched = self._inner.cursor(binary=True).execute(statement.replace("?", "%s"), values or None)
        return cursor

    def commit(self) -> None:
        """A transaction in which a statement failed is undone by COMMIT without an error."""
        done = self._inner.execute("COMMIT").statusmessage
        if done != "COMMIT":
            raise DeskError("A statement of this transaction failed; nothing was changed.")

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Say to the server that this transaction goes on, however long it computes."""
        over = Event()
        thread = Thread(target=self._beat, args=(over,), name="transaction", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _beat(self, over: Event) -> None:
        # Where nobody listens any more, or the transaction has failed, whoever uses it will learn that.
        while not over.wait(SILENCE / BEATS):
            with suppress(Exception):
                self._inner.execute("SELECT 1")

    @property
    def usable(self) -> bool:
        """Whether another call may have it: it is open, and no transaction was left in it."""
        return not self._inner.closed and self._inner.info.transaction_status == 0

    def close(self) -> None:
        self._inner.close()


class PostgresServer:
    """The connections of one process. They do not survive a fork: start worker processes with `spawn`."""

    def __init__(self, address: str, *, patience: float) -> None:
        """`patience` is how many seconds a call waits for other servers."""
        self.driver = _driver()
        self._address = self._read_address(address)
        silence = f"SET idle_in_transaction_session_timeout = {round(1000 * SILENCE)}"
        self._settings = f"{EVERY_CONNECTION}{max(1, round(1000 * patience))}; {silence}"
        self._idle: list[PostgresConnection] = []
        self._lock = Lock()

    @property
    def host(self) -> str:
        host = str(self._address.get("host") or "/")
        return "this machine" if host.startswith("/") else host

    def connect(self) -> PostgresConnection:
        try:
            inner = self.driver.connect(**self._address, autocommit=True, prepare_threshold=None)
            inner.row_factory = self.driver.rows.dict_row
            inner.execute(self._settings)
            for setting in WHERE_KNOWN:
                with suppress(self.driver.errors.UndefinedObject, self.driver.errors.InvalidParameterValue):
                    inner.execute(setting)
            return PostgresConnection(inner)
        except self.driver.Error as error:
            asked = error.pgconn is not None and error.pgconn.used_password
            sentence = sql.REFUSED if asked else sql.UNREACHABLE
        raise DeskError(sentence)

    def reused(self) -> PostgresConnection | None:
        """A connection that an earlier call has left, if the server still knows it."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            return None
        try:
            connection.execute("SELECT 1")
        except self.driver.Error:
            connection.close()
            self.close()  # those beside it are as old
            return None
        return connection

    def put_away(self, connection: PostgresConnection) -> None:
        with self._lock:
            if connection.usable and len(self._idle) < IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _read_address(self, address: str) -> dict[str, Any]:
        try:
            return WANTED | self.driver.conninfo.conninfo_to_dict(address)
        except self.driver.Error:
            pass  # its text quotes the address
        raise DeskError(sql.NO_ADDRESS)


def _driver() -> Any:
    """Loaded where it is needed: whoever keeps the ledger in a file does without."""
    try:
        import psycopg
        import psycopg.conninfo
        import psycopg.errors
        import psycopg.rows
    except ImportError:
        raise DeskError(sql.NOT_INSTALLED) from None
    return psycopg
