"""The tables of sessions and the guards that keep what was written in them, with the steps from earlier versions."""

from __future__ import annotations

from core.ledger.database import Guard, Layout, TableStatement

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
