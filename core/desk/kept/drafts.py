"""Tables that are being described and plans that are being made, kept over reloads, new tabs and restarts.

A draft of an upload needs the file again, so a copy of it lies beside the draft: private, readable by its owner only,
and removed when the table is open, when the curator discards it, and after a few days in any case. Drafts belong to one
curator; whoever is none has none.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base.errors import BadFile, Unknown
from core.desk.kept.small_files import SmallFiles

MOST = 5
"""Drafts of one curator; the oldest makes room."""
DAYS = 7
"""A draft that nobody touched for so long is removed, with its file."""
PIECE = 2**20
"""Bytes that are compared at a time."""
ORPHAN_SECONDS = 3600
"""A file that never got its draft, because a server was killed in between."""


@dataclass(frozen=True, kw_only=True)
class KeptDraft:
    """What was begun, and when it was touched last."""

    id: str
    saved: datetime
    content: dict[str, Any] = field(repr=False)
    file: Path | None = field(repr=False)
    """The copy of an upload; None where there is none (any more)."""


class Drafts:
    """All drafts of a workspace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, curator: str) -> list[KeptDraft]:
        """The newest first."""
        place = self._place(curator)
        if not place.is_dir():
            return []
        found = []
        for path in place.glob("*.json"):
            content = SmallFiles(place).read(path.stem)
            if content is not None:
                saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                found.append(KeptDraft(id=path.stem, saved=saved, content=content, file=self.file(curator, path.stem)))
        return sorted(found, key=lambda draft: draft.saved, reverse=True)

    def begin(self, curator: str, suffix: str | None = None, content: memoryview | bytes = b"") -> str:
        """The id of a new draft, with a copy of an upload if it has an ending."""
        identity = secrets.token_hex(16)
        if suffix is None:
            return identity
        if not re.fullmatch(r"\.[a-z0-9]{1,8}", suffix):
            raise BadFile("The file's name has no ending that can be kept.")
        place = self._place(curator)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(place / f"{identity}{suffix}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                target.write(content)
        except OSError:
            raise BadFile("The upload cannot be kept; check the space and permissions of the workspace.") from None
        return identity

    def write(self, curator: str, identity: str, content: Mapping[str, Any]) -> None:
        """Keep what was filled in so far."""
        self._place(curator).mkdir(mode=0o700, parents=True, exist_ok=True)
        SmallFiles(self._place(curator)).write(identity, content)
        for old in self.of(curator)[MOST:]:
            self.remove(curator, old.id)

    def file(self, curator: str, identity: str) -> Path | None:
        _check(identity)
        return next((path for path in self._place(curator).glob(f"{identity}.*") if path.suffix != ".json"), None)

    def of_file(self, curator: str, suffix: str, content: memoryview | bytes) -> KeptDraft | None:
        """The newest draft of the very same upload; compared in pieces, so that memory does not follow the file."""
        whole = memoryview(content)
        return next(
            (kept for kept in self.of(curator) if kept.file is not None and _holds(kept.file, suffix, whole)), None
        )

    def remove(self, curator: str, identity: str) -> None:
        _check(identity)
        for path in self._place(curator).glob(f"{identity}.*"):
            path.unlink(missing_ok=True)

    def write_plan(self, curator: str, table: str, text: str) -> None:
        """Keep the plan that a curator works on for a table; it holds choices only."""
        self._plans(curator).folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._plans(curator).write(table, {"plan": text})

    def plan(self, curator: str, table: str) -> str | None:
        found = self._plans(curator).read(table)
        return found["plan"] if found is not None and isinstance(found.get("plan"), str) else None

    def remove_plan(self, curator: str, table: str) -> None:
        self._plans(curator).remove(table)

    def sweep(self) -> None:
        """Remove what nobody came back for."""
        for path in self.folder.glob("*/*"):
            with suppress(OSError):
                draft = path.with_suffix(".json")
                # A file is as old as its draft, which is touched more often.
                dated, most = (draft, DAYS * 86400) if draft.exists() else (path, ORPHAN_SECONDS)
                if path.is_file() and time.time() - dated.stat().st_mtime > most:
                    path.unlink()

    def _place(self, curator: str) -> Path:
        _check(curator)
        return self.folder / curator

    def _plans(self, curator: str) -> SmallFiles:
        return SmallFiles(self._place(curator) / "plans")


def _holds(path: Path, suffix: str, content: memoryview) -> bool:
    try:
        if path.suffix != suffix or path.stat().st_size != content.nbytes:
            return False
        with path.open("rb") as file:
            return all(file.read(PIECE) == content[start : start + PIECE] for start in range(0, content.nbytes, PIECE))
    except OSError:
        # Removed meanwhile: then there is nothing to go on with.
        return False


def _check(name: str) -> None:
    if not re.fullmatch("[0-9a-z]{1,64}", name):
        raise Unknown("There is no such draft here.")
