"""A PostgreSQL server by its address: its connections, and the few that are kept for the next calls.

**Durability** A commit returns when it is on the server's disk: `synchronous_commit` is on for every connection,
whatever the server's default. With synchronous stand-bys it is on theirs too. What a stand-by knows may be old, so none
is read.

No sentence and no log quotes the address, which may hold a password.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
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
        self._settings = f"{EVERY_CONNECTION}{max(1, round(1000 * patience))}"
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
        import psycopg.rows
    except ImportError:
        raise DeskError(sql.NOT_INSTALLED) from None
    return psycopg
