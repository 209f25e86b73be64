"""Small things that a workspace keeps under ids, in the database that its servers share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.desk.kept.small_files import SmallFiles, check_identity, content_of
from core.ledger.database import Connection, Database, Layout

LAYOUT = Layout(
    noun="list of shared items",
    mark=0x52_44_49_54,  # "RDIT"
    version=1,
    tables=(
        """CREATE TABLE item (
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT""",
    ),
)


class SmallRows:
    """What is kept under ids, of one kind; the last who writes an item wins, as with files."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind

    def write(self, identity: str, content: Mapping[str, Any]) -> None:
        check_identity(identity)
        with self._database.write() as connection:
            connection.execute(
                """INSERT INTO item (kind, id, content) VALUES (?, ?, ?)
                ON CONFLICT (kind, id) DO UPDATE SET content = excluded.content""",
                (self._kind, identity, json.dumps(content)),
            )

    def remove(self, identity: str) -> None:
        check_identity(identity)
        with self._database.write() as connection:
            connection.execute("DELETE FROM item WHERE kind = ? AND id = ?", (self._kind, identity))

    def read(self, identity: str) -> dict[str, Any] | None:
        check_identity(identity)
        with self._database.read() as connection:
            query = "SELECT content FROM item WHERE kind = ? AND id = ?"
            row = connection.execute(query, (self._kind, identity)).fetchone()
        return content_of(row["content"] if row else None)

    def all(self) -> list[dict[str, Any]]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT content FROM item WHERE kind = ?", (self._kind,)).fetchall()
        return [content for content in (content_of(row["content"]) for row in rows) if content is not None]


def copy_items(files: SmallFiles, kind: str, connection: Connection) -> None:
    """Enter all that a folder keeps of one kind."""
    for identity in files.identities():
        content = files.read(identity)
        if content is not None:
            connection.execute("INSERT INTO item VALUES (?, ?, ?)", (kind, identity, json.dumps(content)))
