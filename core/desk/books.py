"""Where a workspace keeps its ledger, its sessions and what it shares: in its own folder, or in a PostgreSQL database.

A database lets several servers, each with the same folder of encoded tables, spend from one budget. A workspace stays
with the ledger that it began with, or that this was moved to (`move_ledger.py`): another one, empty, would be a new
budget for the same people. So a folder with a ledger of its own is not opened with a database, nor one that belongs to
a database without it, or with another.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile

from core.base.errors import BadParameter, DeskError, Refused
from core.desk.kept.small_files import SmallFiles, SmallItems
from core.desk.kept.small_rows import LAYOUT, SmallRows
from core.ledger.database import Database
from core.ledger.ledger import Ledger
from core.ledger.places import on_server, open_database

LEDGER_VARIABLE = "RELEASE_DESK_LEDGER"
LEDGER_FILE = "ledger.sqlite"
SESSION_FILE = "sessions.sqlite"
BOUND = "ledger.server"
"""A file that says to which ledger of a server the folder belongs, by the random name that this has."""


@dataclass(frozen=True)
class Books:
    """The places of one workspace."""

    folder: Path
    ledger: Path | str = field(repr=False)
    """A file, or the address of a database, which may hold a password."""

    @classmethod
    def of(cls, folder: Path, named: str | Path | None = None) -> Books:
        """Those given, else those the environment names, else files in the folder."""
        chosen = named or os.environ.get(LEDGER_VARIABLE) or folder / LEDGER_FILE
        if on_server(chosen):
            if (folder / LEDGER_FILE).exists() and not (folder / BOUND).exists():
                raise Refused(
                    "This workspace has a ledger in its own folder, and a database would be a second budget; move it "
                    f"there with release-desk --move-ledger, choose an empty folder, or do without {LEDGER_VARIABLE}."
                )
        elif Path(chosen) != folder / LEDGER_FILE:
            raise BadParameter(LEDGER_VARIABLE, "must be the address of a database: postgresql://user@host/database.")
        elif (folder / BOUND).exists():
            raise Refused(
                f"The ledger of this workspace is in a PostgreSQL database; name it in {LEDGER_VARIABLE} to go on."
            )
        return cls(folder, chosen)

    @property
    def sessions(self) -> Path | str:
        return self.ledger if on_server(self.ledger) else self.folder / SESSION_FILE

    def items(self, kind: str) -> SmallItems:
        """Small things of one kind."""
        return SmallRows(self._shared, kind) if on_server(self.ledger) else SmallFiles(self.folder / kind)

    def bind(self, ledger: Ledger) -> None:
        """Let the folder stay with this ledger."""
        if on_server(self.ledger):
            bind(self.folder, ledger.workspace)

    def close(self) -> None:
        """Let go of whatever stays open between calls."""
        if on_server(self.ledger):
            self._shared.close()

    @cached_property
    def _shared(self) -> Database:
        return open_database(self.ledger, LAYOUT)


def bind(folder: Path, workspace: str) -> None:
    """Let a folder stay with the ledger of this name, for good."""
    place = folder / BOUND
    try:
        # Written aside: a crash leaves no file, or a whole one.
        with NamedTemporaryFile("w", dir=folder, prefix=".", encoding="utf-8") as file:
            file.write(workspace)
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(file.name, place)
        found = place.read_text(encoding="utf-8")
    except OSError as error:
        raise DeskError("The workspace cannot be written; check its space and rights.") from error
    if found != workspace:
        raise Refused(
            "This workspace belongs to the ledger of another database; name that one in "
            f"{LEDGER_VARIABLE}, or choose an empty folder. Where a move of its ledger was cut off, move it again."
        )
