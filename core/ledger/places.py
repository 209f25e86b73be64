"""Where a workspace keeps its books: a file in its folder, or a PostgreSQL database by its address."""

from __future__ import annotations

from pathlib import Path

from core.ledger import leases
from core.ledger.attempts import Attempts, LockedAttempts
from core.ledger.database import Database, Layout
from core.ledger.durable_file import KeptFile
from core.ledger.leases import LeasedAttempts
from core.ledger.postgres.server import PostgresServer
from core.ledger.postgres.shared_database import PostgresDatabase

ADDRESSES = ("postgresql://", "postgres://")


def on_server(place: Path | str) -> bool:
    """Whether it is the address of a server's database, which several machines may share."""
    return isinstance(place, str) and place.startswith(ADDRESSES)


def open_database(place: Path | str, layout: Layout, *, patience: float = 30.0) -> Database:
    """The tables of a layout, created if they are not there."""
    if isinstance(place, str) and on_server(place):
        return PostgresDatabase(PostgresServer(place, patience=patience), layout)
    return KeptFile(place, layout, patience=patience)


def open_attempts(database: Database) -> Attempts:
    """Who is at which plan: locks beside a file, leases in a server's database."""
    if isinstance(database, PostgresDatabase):
        return LeasedAttempts(PostgresDatabase(database.server, leases.LAYOUT))
    assert isinstance(database, KeptFile)
    return LockedAttempts(database.path.with_name("attempts"))
