"""One session while nothing else changes it: what it was, and what follows, committed together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from core.base.errors import DeskError
from core.ledger.database import Connection
from core.mechanisms.kit.interactive import Reply
from core.sessions.answer import Answer, EndReason
from core.sessions.kept.rows import SessionRow, StoredState, last_reply, reply_to
from core.sessions.question import SessionQuestion
from core.sessions.session_limits import Kept


@dataclass(frozen=True)
class Turn:
    """One session while nothing else changes it."""

    connection: Connection
    row: SessionRow

    def reply(self, key: str) -> Answer | None:
        return reply_to(self.connection, self.row.id, key)

    def state(self) -> StoredState:
        query = "SELECT digest, data, allowance FROM state WHERE session = ?"
        found = self.connection.execute(query, (self.row.id,)).fetchone()
        stored = StoredState(bytes(found["data"]), found["allowance"])
        if stored.digest != found["digest"]:
            raise DeskError("The state of this session is damaged on disk; restore the workspace from a backup.")
        return stored

    def left(self) -> str | None:
        """What is left by the stored state; None where that is damaged, or of a version that did not keep it."""
        try:
            return self.state().allowance
        except DeskError:
            return None

    def kept(self) -> Kept:
        query = "SELECT count(*) AS answers, coalesce(sum(length(weights)), 0) AS weights FROM reply WHERE session = ?"
        return Kept(**dict(self.connection.execute(query, (self.row.id,)).fetchone()))

    def close(self, reason: EndReason, left: str | None) -> None:
        """Ends the session together with this turn; `left` is its allowance after all that this turn took."""
        self.connection.execute(
            "UPDATE session SET status = 'closed', closed_at = ? WHERE id = ?", (now(), self.row.id)
        )
        self.connection.execute("INSERT INTO ending VALUES (?, ?, ?)", (self.row.id, reason, left))

    def record(
        self,
        *,
        question: SessionQuestion,
        at: str,
        reply: Reply,
        rows: float | None,
        state: StoredState | None,
        place: int = 0,
    ) -> Answer:
        """Writes a reply and the state that follows it; no state means that it stays as it is.

        `place` is that among the replies of this turn, from 0; the state comes with the last.
        """
        id, number = self.row.id, self.row.version + 1 + place
        before = last_reply(self.connection, id)
        spent = (before.spent if before else 0) + int(reply.kind == "hard")
        self.connection.execute("UPDATE session SET version = ? WHERE id = ?", (number, id))
        self.connection.execute(
            f"INSERT INTO reply VALUES ({', '.join('?' * 16)})",
            (
                *(id, number, at, question.key, question.words, question.facts, question.weights),
                *(float(reply.share), float(reply.count), None if reply.margin is None else float(reply.margin), rows),
                *(reply.kind, spent, reply.left, *(reply.interval or (None, None))),
            ),
        )
        if state is not None:
            self.connection.execute(
                "UPDATE state SET version = ?, digest = ?, data = ?, allowance = ? WHERE session = ?",
                (number, state.digest, state.data, state.allowance, id),
            )
        answer = last_reply(self.connection, id)
        assert answer is not None
        return answer


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
