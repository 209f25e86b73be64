"""Shared items: which releases, decisions and sessions of a workspace are shown to everybody.

Sharing publishes nothing new (a release is public by its promise); it puts it where visitors look.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from core.base.errors import BadParameter, printable
from core.desk.kept.small_files import SmallItems

LONGEST_TITLE, LONGEST_NOTE = 120, 2_000
SharedKind = Literal["release", "session", "decision"]


@dataclass(frozen=True, kw_only=True)
class SharedItem:
    """Something that is shared; everything in it is public, also the title and the note, which the curator wrote."""

    id: str
    """The plan id of a release or a decision, or a session's id."""
    kind: SharedKind
    title: str
    note: str
    since: str
    """When it was shared first; once it was taken down, when it was shared again."""
    hard: int = 0
    """Hard answers of a session that one visit may take."""
    kept: int = 0
    """Hard answers of a session that visitors leave to the curator, however many of them come."""


class SharedItems:
    """The shared items of one workspace."""

    def __init__(self, items: SmallItems) -> None:
        self._items = items

    def put(
        self, identity: str, *, kind: SharedKind, title: str, note: str = "", hard: int = 0, kept: int = 0
    ) -> SharedItem:
        """Share an item, or change what is said of it and what visitors may take."""
        title = printable(title.strip(), LONGEST_TITLE)
        if not title:
            raise BadParameter("title", "give visitors a title of at least one character.")
        if len(note) > LONGEST_NOTE:
            raise BadParameter("note", f"must be at most {LONGEST_NOTE:,} characters.")
        for name, value in (("hard", hard), ("kept", kept)):
            if value < 0:
                raise BadParameter(name, "must be at least 0.")
        known = self.find(identity)
        # Citations name the day: it stays what it was when other words are found.
        since = _now() if known is None else known.since
        item = SharedItem(id=identity, kind=kind, title=title, note=note.strip(), since=since, hard=hard, kept=kept)
        self._items.write(identity, asdict(item))
        return item

    def take_down(self, identity: str) -> None:
        """Show it no longer; whoever downloaded it keeps it."""
        self._items.remove(identity)

    def find(self, identity: str) -> SharedItem | None:
        return _item(self._items.read(identity))

    def items(self) -> list[SharedItem]:
        """Newest first."""
        found = map(_item, self._items.all())
        return sorted((item for item in found if item is not None), key=lambda item: item.since, reverse=True)


def _item(content: dict[str, Any] | None) -> SharedItem | None:
    """An item, or None for a file that was not written here."""
    try:
        return None if content is None else SharedItem(**content)
    except TypeError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
