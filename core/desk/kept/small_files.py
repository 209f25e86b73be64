"""Small things that a workspace keeps under ids: in a folder of JSON files, or in the database of its servers.

A file is written aside and renamed, so that a crash leaves the old state or the new one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Protocol

from core.base.errors import Unknown


class SmallItems(Protocol):
    """What is kept under ids, each a few fields."""

    def write(self, identity: str, content: Mapping[str, Any]) -> None: ...
    def remove(self, identity: str) -> None: ...
    def read(self, identity: str) -> dict[str, Any] | None:
        """What is kept; None where there is nothing, or something that was not written here."""

    def all(self) -> list[dict[str, Any]]: ...


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
        return content_of(self._read(self._place(identity)))

    def all(self) -> list[dict[str, Any]]:
        found = map(self._read, self.folder.glob("*.json")) if self.folder.exists() else ()
        return [content for content in map(content_of, found) if content is not None]

    def identities(self) -> list[str]:
        """Under which something is kept, in order."""
        return sorted(place.stem for place in self.folder.glob("*.json")) if self.folder.exists() else []

    @staticmethod
    def _read(place: Path) -> bytes | None:
        try:
            return place.read_bytes()
        except OSError:
            return None

    def _place(self, identity: str) -> Path:
        check_identity(identity)
        return self.folder / f"{identity}.json"


def check_identity(identity: str) -> None:
    if not re.fullmatch("[0-9a-z-]{1,64}", identity):
        raise Unknown("There is no such table, release or session here.")


def content_of(text: str | bytes | None) -> dict[str, Any] | None:
    """The fields of an item; None for whatever is none."""
    try:
        content = None if text is None else json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
