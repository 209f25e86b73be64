"""Reading sessions: one without its state, its state, and the replies it gave."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from core.base.errors import Refused, Unknown, printable
from core.ledger.database import Connection
from core.sessions.answer import Answer, EndReason, SessionStatus

ROW = """SELECT id, plan_id, dataset_id, terms_json, status, session.version AS version, opened_at, closed_at,
    state.version AS state_version, reason FROM session JOIN state ON state.session = session.id
    LEFT JOIN ending ON ending.session = session.id"""
ANSWER = 'SELECT number, at, words, share, count, margin, rows, kind, spent, "left", low, high FROM reply'


@dataclass(frozen=True, kw_only=True)
class SessionRow:
    """A session without its state."""

    id: str
    plan_id: str
    """The paid plan behind it: its own, or that of the release it answers from."""
    dataset_id: str
    terms_json: str
    status: SessionStatus
    version: int
    """How many replies it gave."""
    state_version: int
    """Up to which of them the stored state has gone; later ones left it unchanged."""
    opened_at: str
    closed_at: str | None
    reason: EndReason | None
    """Why it ended; None while it is open, and where an earlier version or an older copy ended it."""


@dataclass(frozen=True)
class StoredState:
    """Everything the next answer depends on, as it is kept."""

    data: bytes
    """The mechanism's state."""
    allowance: str | None
    """What is left of the reserved spend and the secrets of open comparisons, as JSON; None in a session that was
    opened before this was kept (`old_states.py`)."""

    @property
    def digest(self) -> str:
        found = hashlib.sha256(self.data)
        if self.allowance is not None:
            found.update(b"\0" + self.allowance.encode())
        return found.hexdigest()


def find_row(connection: Connection, id: str) -> SessionRow | None:
    row = connection.execute(f"{ROW} WHERE id = ?", (id,)).fetchone()
    return SessionRow(**dict(row)) if row else None


def no_session(id: str) -> Unknown:
    return Unknown(f"This workspace holds no session '{printable(id)}'.")


def row_of(connection: Connection, id: str) -> SessionRow:
    found = find_row(connection, id)
    if found is None:
        raise no_session(id)
    return found


def check_open(row: SessionRow) -> None:
    if row.reason == "failed":
        raise Refused("This session could not go on and is closed; its answers stay readable: open another one.")
    if row.status == "closed":
        raise Refused("This session is closed; open another one to ask more.")


def reply_to(connection: Connection, id: str, key: str) -> Answer | None:
    row = connection.execute(f"{ANSWER} WHERE session = ? AND key = ?", (id, key)).fetchone()
    return Answer(**dict(row)) if row else None


def last_reply(connection: Connection, id: str) -> Answer | None:
    row = connection.execute(f"{ANSWER} WHERE session = ? ORDER BY number DESC LIMIT 1", (id,)).fetchone()
    return Answer(**dict(row)) if row else None


def size_of(connection: Connection, id: str) -> int:
    return int(connection.execute("SELECT length(data) AS size FROM state WHERE session = ?", (id,)).fetchone()["size"])
