"""Where a desk under test is: its folder, and the database that it shares with other servers if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import Desk
from core.ledger import leases
from core.ledger.places import on_server

LEASE = 4.0
"""Seconds, so that nobody waits long for a server that was killed."""


@dataclass(frozen=True)
class Place:
    """Handed to processes, which open desks of their own there."""

    folder: Path
    server: str | None

    @classmethod
    def of(cls, folder: Path, books: Path | str) -> Place:
        return cls(folder, books if isinstance(books, str) and on_server(books) else None)

    def desk(self, **options: Any) -> Desk:
        leases.SECONDS = LEASE
        return Desk(self.folder, ledger=self.server, **options)

    def attempts(self) -> list[Any]:
        """Plans that somebody is at."""
        if self.server is None:
            return list((self.folder / "attempts").iterdir())
        import psycopg

        with psycopg.connect(self.server) as connection:
            return connection.execute("SELECT plan_id FROM release_desk.lease").fetchall()
