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

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.base.errors import DeskError, Refused, Unknown, printable
from core.ledger.attempts import Attempt
from core.ledger.database import Connection, Guard, Layout, TableStatement
from core.ledger.places import open_database
from core.mechanisms.kit.interactive import Reply
from core.sessions.answer import Answer, EndReason, SessionStatus
from core.sessions.question import SessionQuestion
from core.sessions.room import Kept

ALLOWANCE_IS_KEPT = Guard(
    name="allowance_is_kept",
    before="UPDATE",
    table="state",
    refusal="what a session may still do is kept",
    when="OLD.allowance IS NOT NULL AND NEW.allowance IS NULL",
)
ENDING = """CREATE TABLE ending (
    session   TEXT PRIMARY KEY REFERENCES session (id),
    reason    TEXT NOT NULL CHECK (reason IN ('closed', 'failed')),
    allowance TEXT
) STRICT"""
ENDING_IS_KEPT = Guard(name="ending_is_kept", before="DELETE", table="ending", refusal="endings are kept")
ENDING_IS_FIXED = Guard(name="ending_is_fixed", before="UPDATE", table="ending", refusal="an ending never changes")
ENDING_OF_A_CLOSED_ONE = Guard(
    name="ending_of_a_closed_one",
    before="INSERT",
    table="ending",
    refusal="only a closed session has ended",
    when="NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.session AND status = 'closed')",
)
TABLES = (
    """CREATE TABLE session (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    plan_id       TEXT NOT NULL,
    dataset_id    TEXT NOT NULL,
    terms_json    TEXT NOT NULL,
    status        TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
    version       INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0),
    opened_at     TEXT NOT NULL,
    closed_at     TEXT,
    CHECK ((status = 'closed') = (closed_at IS NOT NULL))
) STRICT""",
    """CREATE TABLE state (
    session   TEXT PRIMARY KEY REFERENCES session (id),
    version   INTEGER NOT NULL,
    digest    TEXT NOT NULL,
    data      BLOB NOT NULL,
    allowance TEXT
) STRICT""",
    """CREATE TABLE reply (
    session  TEXT NOT NULL REFERENCES session (id),
    number   INTEGER NOT NULL,
    at       TEXT NOT NULL,
    key      TEXT NOT NULL,
    words    TEXT NOT NULL,
    question TEXT NOT NULL,
    weights  BLOB NOT NULL,
    share    REAL NOT NULL,
    count    REAL NOT NULL,
    margin   REAL CHECK (margin >= 0),
    rows     REAL,
    kind     TEXT NOT NULL CHECK (kind IN ('easy', 'hard', 'unchecked')),
    spent    INTEGER NOT NULL CHECK (spent >= 0),
    "left"   INTEGER CHECK ("left" >= 0),
    low      REAL,
    high     REAL,
    PRIMARY KEY (session, number),
    UNIQUE (session, key)
) STRICT""",
    "CREATE INDEX session_of_dataset ON session (dataset_id)",
    Guard(name="session_is_kept", before="DELETE", table="session", refusal="sessions are kept"),
    Guard(name="state_is_kept", before="DELETE", table="state", refusal="states are kept"),
    Guard(name="reply_is_kept", before="DELETE", table="reply", refusal="replies are kept"),
    Guard(name="reply_is_fixed", before="UPDATE", table="reply", refusal="a reply never changes"),
    Guard(
        name="session_is_fixed",
        before="UPDATE",
        table="session",
        refusal="what a session was opened with never changes, and versions never skip",
        when="""OLD.status = 'closed' OR NEW.id <> OLD.id OR NEW.plan_id <> OLD.plan_id
        OR NEW.dataset_id <> OLD.dataset_id
        OR NEW.terms_json <> OLD.terms_json OR NEW.opened_at <> OLD.opened_at
        OR NEW.version NOT BETWEEN OLD.version AND OLD.version + 1""",
    ),
    Guard(
        name="reply_is_next",
        before="INSERT",
        table="reply",
        refusal="a reply belongs to the version it makes of an open session",
        when="""NOT EXISTS (
        SELECT 1 FROM session WHERE id = NEW.session AND status = 'open' AND version = NEW.number
    )""",
    ),
    Guard(
        name="state_goes_forward",
        before="UPDATE",
        table="state",
        refusal="a state belongs to the version it makes",
        when="""NEW.session <> OLD.session OR NEW.version <= OLD.version
        OR NEW.version <> (SELECT version FROM session WHERE id = NEW.session)""",
    ),
    ALLOWANCE_IS_KEPT,
    ENDING,
    ENDING_IS_KEPT,
    ENDING_IS_FIXED,
    ENDING_OF_A_CLOSED_ONE,
)
STEPS: dict[int, tuple[TableStatement, ...]] = {
    1: ("ALTER TABLE state ADD COLUMN allowance TEXT", ALLOWANCE_IS_KEPT),
    2: ("ALTER TABLE reply ADD COLUMN low REAL", "ALTER TABLE reply ADD COLUMN high REAL"),
    3: (ENDING, ENDING_IS_KEPT, ENDING_IS_FIXED, ENDING_OF_A_CLOSED_ONE),
}
LAYOUT = Layout(
    noun="session file",
    mark=0x52_44_53_53,
    version=4,
    tables=TABLES,
    steps=STEPS,
    busy=True,  # "RDSS"
)

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
            if _find(connection, id) is None:
                connection.execute(
                    "INSERT INTO session (id, plan_id, dataset_id, terms_json, opened_at) VALUES (?, ?, ?, ?, ?)",
                    (id, plan_id, dataset_id, terms_json, now()),
                )
                connection.execute(
                    "INSERT INTO state VALUES (?, 0, ?, ?, ?)", (id, state.digest, state.data, state.allowance)
                )
            return _row(connection, id)

    def find(self, id: str) -> SessionRow | None:
        with self.database.read() as connection:
            return _find(connection, id)

    def row(self, id: str) -> SessionRow:
        with self.database.read() as connection:
            return _row(connection, id)

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
            _check_open(_row(connection, id))
            return _reply(connection, id, key)

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
            return _last(connection, id)

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
            return _size(connection, id)

    @contextmanager
    def closing(self, id: str) -> Iterator[Turn | None]:
        """The last turn of a session, without a question; None where it is closed already."""
        with self.database.write() as connection:
            row = _row(connection, id)
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
            row = _row(connection, id)
            _check_open(row)
            self.database.check_room(connection, _size(connection, id))
            yield Turn(connection, row)

    @contextmanager
    def snapshot(self, id: str) -> Iterator[Turn]:
        """A session as it is at one moment, to be looked at only."""
        with self.database.snapshot() as connection:
            yield Turn(connection, _row(connection, id))


@dataclass(frozen=True)
class Turn:
    """One session while nothing else changes it."""

    connection: Connection
    row: SessionRow

    def reply(self, key: str) -> Answer | None:
        return _reply(self.connection, self.row.id, key)

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
        before = _last(self.connection, id)
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
        answer = _last(self.connection, id)
        assert answer is not None
        return answer


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _find(connection: Connection, id: str) -> SessionRow | None:
    row = connection.execute(f"{ROW} WHERE id = ?", (id,)).fetchone()
    return SessionRow(**dict(row)) if row else None


def _row(connection: Connection, id: str) -> SessionRow:
    found = _find(connection, id)
    if found is None:
        raise Unknown(f"This workspace holds no session '{printable(id)}'.")
    return found


def _check_open(row: SessionRow) -> None:
    if row.reason == "failed":
        raise Refused("This session could not go on and is closed; its answers stay readable: open another one.")
    if row.status == "closed":
        raise Refused("This session is closed; open another one to ask more.")


def _reply(connection: Connection, id: str, key: str) -> Answer | None:
    row = connection.execute(f"{ANSWER} WHERE session = ? AND key = ?", (id, key)).fetchone()
    return Answer(**dict(row)) if row else None


def _last(connection: Connection, id: str) -> Answer | None:
    row = connection.execute(f"{ANSWER} WHERE session = ? ORDER BY number DESC LIMIT 1", (id,)).fetchone()
    return Answer(**dict(row)) if row else None


def _size(connection: Connection, id: str) -> int:
    return int(connection.execute("SELECT length(data) AS size FROM state WHERE session = ?", (id,)).fetchone()["size"])
