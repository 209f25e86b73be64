"""Sessions of one file entered in another database, each as it went."""

from __future__ import annotations

from core.ledger.database import Connection
from core.ledger.durable_file import KeptFile
from core.ledger.moving import enter_row


def copy_sessions(file: KeptFile, connection: Connection) -> None:
    """Opened, its replies in their order, its last state, and closed where it is: by the guards of the tables."""
    with file.read() as source:
        for row in map(dict, source.execute("SELECT * FROM session ORDER BY rowid")):
            owned = (row["id"],)
            enter_row(connection, "session", row | {"status": "open", "version": 0, "closed_at": None})
            for reply in source.execute("SELECT * FROM reply WHERE session = ? ORDER BY number", owned):
                connection.execute("UPDATE session SET version = ? WHERE id = ?", (reply["number"], *owned))
                enter_row(connection, "reply", dict(reply))
            for state in source.execute("SELECT * FROM state WHERE session = ?", owned):
                enter_row(connection, "state", dict(state))
            if row["status"] == "closed":
                closed = "UPDATE session SET status = 'closed', closed_at = ? WHERE id = ?"
                connection.execute(closed, (row["closed_at"], *owned))
            for ending in source.execute("SELECT * FROM ending WHERE session = ?", owned):
                enter_row(connection, "ending", dict(ending))
