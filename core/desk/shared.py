"""Shared items: which releases and sessions of a workspace are shown to everybody.

Sharing publishes nothing new (a release is public by its promise); it puts it where visitors look. One small file per
item, written aside and renamed, so that a crash leaves the old state or the new one.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from core.base.errors import BadParameter, Unknown, printable

LONGEST_TITLE, LONGEST_NOTE = 120, 2_000
SharedKind = Literal["release", "session"]


@dataclass(frozen=True, kw_only=True)
class SharedItem:
    """Something that is shared; everything in it is public, also the title and the note, which the curator wrote."""

    id: str
    """The plan id of a release, or a session's id."""
    kind: SharedKind
    title: str
    note: str
    since: str


class SharedItems:
    """The shared items of one workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, identity: str, *, kind: SharedKind, title: str, note: str = "") -> SharedItem:
        """Share an item, or change its title and note."""
        title = printable(title.strip(), LONGEST_TITLE)
        if not title:
            raise BadParameter("title", "give visitors a title of at least one character.")
        if len(note) > LONGEST_NOTE:
            raise BadParameter("note", f"must be at most {LONGEST_NOTE:,} characters.")
        item = SharedItem(id=identity, kind=kind, title=title, note=note.strip(), since=_now())
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with NamedTemporaryFile("w", dir=self.folder, prefix=".", delete=False, encoding="utf-8") as file:
            json.dump(asdict(item), file)
        os.replace(file.name, self._place(identity))
        return item

    def take_down(self, identity: str) -> None:
        """Show it no longer; whoever downloaded it keeps it."""
        self._place(identity).unlink(missing_ok=True)

    def find(self, identity: str) -> SharedItem | None:
        place = self._place(identity)
        return _read(place) if place.exists() else None

    def items(self) -> list[SharedItem]:
        """Newest first."""
        found = [_read(place) for place in self.folder.glob("*.json")] if self.folder.exists() else []
        return sorted((item for item in found if item is not None), key=lambda item: item.since, reverse=True)

    def _place(self, identity: str) -> Path:
        if not re.fullmatch("[0-9a-z-]{1,64}", identity):
            raise Unknown("There is no such release or session here.")
        return self.folder / f"{identity}.json"


def _read(place: Path) -> SharedItem | None:
    """An item, or None for a file that was not written here."""
    try:
        return SharedItem(**json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
