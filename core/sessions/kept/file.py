"""The file behind sessions: what each was opened with, its state, what it may still spend, and every reply it gave.

**Privacy** A reply leaves the desk only after it, the state that follows it and what is left of the session's spend
are committed together. A turn holds the one write lock of the file, or of the server's database, from before the state
is read until that commit, so of two tabs, processes or servers one waits, and no noise is ever drawn from a state that
another reply has replaced: nothing is drawn and thrown away. That matters, because whether a draw loses a race could
depend on how long it took, and so on the draw itself. A process that is killed in a turn leaves the old state, as if
the question had never been asked; its draw died with it, for a reason that does not depend on it. A full disk would
depend on it, because only some answers write a new state: so a turn begins only where there is room for one. An error
of the mechanism may depend on it too, because only hard answers learn: after a draw it closes the session
(`Turn.close`), which is one more outcome of a run that is paid for, and its last. What was left then is kept too, less
what that last turn took: the rest may be given back (`settlement.py`).

An older copy of this file that is put back would draw again from states that have answered already, with the same
secrets, and nothing in it can tell. The journal outside of the workspace can (`ledger/journal.py`): it knows how many
answers were given, and a session that remembers fewer is closed by the next question.

Nothing is ever deleted and no reply ever changes. What a session may still do holds secrets (noise that is drawn once);
the file is readable by its owner only, like the ledger; a database by whom its owner lets in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base.errors import Unknown
from core.ledger.attempts import Attempt
from core.ledger.places import open_database
from core.sessions.answer import Answer
from core.sessions.kept.layout import LAYOUT
from core.sessions.kept.rows import (
    ANSWER,
    ROW,
    SessionRow,
    StoredState,
    check_open,
    find_row,
    last_reply,
    reply_to,
    row_of,
    size_of,
)
from core.sessions.kept.turn import Turn, now


class SessionFile:
    """All sessions of one workspace, in a file or a database of a server (`ledger/places.py`)."""

    def __init__(self, place: Path | str, *, patience: float = 30.0) -> None:
        self.database = open_database(place, LAYOUT, patience=patience)

    def add(
        self,
        *,
        id: str,
        plan_id: str,
        dataset_id: str,
        terms_json: str,
        state: StoredState,
        attempt: Attempt | None = None,
    ) -> SessionRow:
        """Keeps a session that was just opened; of several openings the first wins, and no other state is ever used.

        Where another has taken over the attempt that drew the state, it is refused.
        """
        with self.database.write() as connection:
            if attempt is not None:
                attempt.check(connection)
            if find_row(connection, id) is None:
                connection.execute(
                    "INSERT INTO session (id, plan_id, dataset_id, terms_json, opened_at) VALUES (?, ?, ?, ?, ?)",
                    (id, plan_id, dataset_id, terms_json, now()),
                )
                connection.execute(
                    "INSERT INTO state VALUES (?, 0, ?, ?, ?)", (id, state.digest, state.data, state.allowance)
                )
            return row_of(connection, id)

    def find(self, id: str) -> SessionRow | None:
        with self.database.read() as connection:
            return find_row(connection, id)

    def row(self, id: str) -> SessionRow:
        with self.database.read() as connection:
            return row_of(connection, id)

    def rows(self, dataset_id: str | None = None) -> list[SessionRow]:
        """Newest first: of one table, or all."""
        with self.database.read() as connection:
            found = connection.execute(
                f"{ROW} WHERE dataset_id = coalesce(?, dataset_id) ORDER BY session.number DESC", (dataset_id,)
            )
            return [SessionRow(**dict(row)) for row in found]

    def asked_before(self, id: str, key: str) -> Answer | None:
        """What was replied to this question before; a closed session is refused."""
        with self.database.read() as connection:
            check_open(row_of(connection, id))
            return reply_to(connection, id, key)

    def replies(self, id: str) -> list[Answer]:
        """In the order in which they were given."""
        with self.database.read() as connection:
            found = connection.execute(f"{ANSWER} WHERE session = ? ORDER BY number", (id,))
            return [Answer(**dict(row)) for row in found]

    def tally(self, id: str) -> dict[str, int]:
        """How many replies there are of each kind."""
        with self.database.read() as connection:
            query = "SELECT kind, count(*) AS number FROM reply WHERE session = ? GROUP BY kind"
            return {row["kind"]: row["number"] for row in connection.execute(query, (id,))}

    def last(self, id: str) -> Answer | None:
        with self.database.read() as connection:
            return last_reply(connection, id)

    def question(self, id: str, number: int) -> tuple[str, bytes, str]:
        """Facts, weights and words of a question, as they were kept."""
        with self.database.read() as connection:
            query = "SELECT question, weights, words FROM reply WHERE session = ? AND number = ?"
            row = connection.execute(query, (id, number)).fetchone()
        if row is None:
            raise Unknown(f"This session has no reply number {number:,}.")
        return row["question"], bytes(row["weights"]), row["words"]

    def size(self, id: str) -> int:
        """Bytes of the stored state."""
        with self.database.read() as connection:
            return size_of(connection, id)

    @contextmanager
    def closing(self, id: str) -> Iterator[Turn | None]:
        """The last turn of a session, without a question; None where it is closed already."""
        with self.database.write() as connection:
            row = row_of(connection, id)
            yield Turn(connection, row) if row.status == "open" else None

    def left_at_end(self, id: str) -> str | None:
        """What a closed session had left; None where that is not known."""
        with self.database.read() as connection:
            row = connection.execute("SELECT allowance FROM ending WHERE session = ?", (id,)).fetchone()
        return row["allowance"] if row else None

    @contextmanager
    def turn(self, id: str) -> Iterator[Turn]:
        """Everything between reading a state and committing what follows it; nobody else writes meanwhile."""
        with self.database.write() as connection:
            row = row_of(connection, id)
            check_open(row)
            self.database.check_room(connection, size_of(connection, id))
            yield Turn(connection, row)

    @contextmanager
    def snapshot(self, id: str) -> Iterator[Turn]:
        """A session as it is at one moment, to be looked at only."""
        with self.database.snapshot() as connection:
            yield Turn(connection, row_of(connection, id))
