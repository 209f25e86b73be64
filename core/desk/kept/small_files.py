"""One small JSON file per release, session or table: written aside and renamed, so that a crash leaves the old state or
the new one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from core.base.errors import Unknown


class SmallFiles:
    """What a workspace keeps under ids in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, identity: str, content: Mapping[str, Any]) -> None:
        place = self._place(identity)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with NamedTemporaryFile("w", dir=self.folder, prefix=".", delete=False, encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(file.name, place)

    def remove(self, identity: str) -> None:
        self._place(identity).unlink(missing_ok=True)

    def read(self, identity: str) -> dict[str, Any] | None:
        """What is kept; None where there is nothing, or a file that was not written here."""
        return _content(self._place(identity))

    def all(self) -> list[dict[str, Any]]:
        found = map(_content, self.folder.glob("*.json")) if self.folder.exists() else ()
        return [content for content in found if content is not None]

    def _place(self, identity: str) -> Path:
        if not re.fullmatch("[0-9a-z-]{1,64}", identity):
            raise Unknown("There is no such table, release or session here.")
        return self.folder / f"{identity}.json"


def _content(place: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
