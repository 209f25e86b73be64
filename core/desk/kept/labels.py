"""What the curator calls tables and releases, and which of them are put away; the ledger keeps everything as it was."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from core.base.errors import BadParameter, printable
from core.desk.kept.small_files import SmallItems

LONGEST_NAME = 120


@dataclass(frozen=True, kw_only=True)
class Label:
    """How a table or release is shown at the desk. Curator-only: what visitors read is the title of a shared item."""

    name: str = ""
    """Empty for the name that it came with."""
    archived: bool = False


class Labels:
    """The labels of one workspace."""

    def __init__(self, items: SmallItems) -> None:
        self._items = items

    def of(self, identity: str) -> Label:
        try:
            return Label(**(self._items.read(identity) or {}))
        except TypeError:
            return Label()

    def rename(self, identity: str, name: str) -> None:
        """Call it so from now on; an empty name brings the first one back."""
        if len(name.strip()) > LONGEST_NAME:
            raise BadParameter("name", f"must be at most {LONGEST_NAME} characters.")
        self._write(identity, replace(self.of(identity), name=printable(name.strip(), LONGEST_NAME)))

    def archive(self, identity: str, away: bool = True) -> None:
        """Put it away, or bring it back; nothing is deleted and no budget comes back."""
        self._write(identity, replace(self.of(identity), archived=away))

    def _write(self, identity: str, label: Label) -> None:
        self._items.write(identity, asdict(label))
