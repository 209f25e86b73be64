"""What PostgreSQL says otherwise than SQLite: types, guards, a few functions, and what its errors mean in a sentence.

Whole numbers are 64 bits wide in both. Amounts in JSON are compared as `numeric`, which is exact at any width; real
numbers are doubles in both.
"""

from __future__ import annotations

import re

from core.ledger.database import Guard, TableStatement

SCHEMA = "release_desk"
"""Where all tables lie: one workspace has a database of its own."""
TYPES = (
    (r"\bINTEGER PRIMARY KEY\b", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bREAL\b", "DOUBLE PRECISION"),
    (r"\bBLOB\b", "BYTEA"),
    # Every row of SQLite has one; it says in which order rows came.
    (r"\) STRICT$", ", rowid BIGINT GENERATED ALWAYS AS IDENTITY)"),
    (re.escape("lower(hex(randomblob(16)))"), "replace(gen_random_uuid()::text, '-', '')"),
)
FIRST = (
    f"CREATE SCHEMA {SCHEMA}",
    "CREATE TABLE layout (mark BIGINT PRIMARY KEY, version BIGINT NOT NULL)",
    # SQLite's function of this name gives numbers for numbers.
    """CREATE FUNCTION json_each(text) RETURNS TABLE (key text, value numeric) LANGUAGE sql IMMUTABLE AS
        'SELECT pair.key, pair.value::numeric FROM json_each_text($1::json) AS pair'""",
    "CREATE TABLE room (filler BYTEA NOT NULL)",
    "ALTER TABLE room ALTER COLUMN filler SET STORAGE EXTERNAL",
)
"""What comes before any table of a layout. In `room` nothing is ever committed: see `PostgresDatabase.check_room`."""

BUSY = "Another server is using the {noun}; nothing was changed: try again in a moment."
GONE = (
    "The connection to the PostgreSQL server was lost; try again in a moment: what is paid for is paid once, and what "
    "was stored is found again."
)
SENTENCES = {
    "40001": BUSY,
    "40P01": BUSY,
    "55P03": BUSY,
    "53100": "The disk of the PostgreSQL server is full; nothing was changed: free some space and try again.",
    "53300": "The PostgreSQL server has no connection left; try again in a moment, or allow it more of them.",
    "25006": "The PostgreSQL server takes no changes now (a stand-by?); name the one that does in RELEASE_DESK_LEDGER.",
    "42501": "The PostgreSQL user may not use the {noun}; it must own the schema release_desk or may create it.",
    "XX001": "The {noun} is damaged on the PostgreSQL server; restore the database from a backup.",
}
UNREACHABLE = (
    "The PostgreSQL server that RELEASE_DESK_LEDGER names cannot be reached; nothing was changed: check that it runs, "
    "its host, its port and the name of the database."
)
REFUSED = (
    "The PostgreSQL server refused the user, the password or the database that RELEASE_DESK_LEDGER names; nothing was "
    "changed: check all three, or keep the password in a password file of yours."
)
NO_ADDRESS = "RELEASE_DESK_LEDGER is not an address that PostgreSQL reads; write postgresql://user@host/database."
NOT_INSTALLED = (
    "RELEASE_DESK_LEDGER names a PostgreSQL server, which needs psycopg; install it with "
    "pip install 'release-desk[postgres]'."
)
NOT_DURABLE = (
    "The PostgreSQL server has fsync switched off, so a crash would forget what was spent; switch it on to keep a "
    "ledger there."
)
NOT_UNICODE = "The PostgreSQL database cannot hold every letter; create it with the encoding UTF8."


def as_postgres(statement: TableStatement) -> tuple[str, ...]:
    """A statement about tables as PostgreSQL reads it."""
    if isinstance(statement, Guard):
        return _guard(statement)
    for before, after in TYPES:
        statement = re.sub(before, after, statement)
    return (statement,)


def _guard(guard: Guard) -> tuple[str, ...]:
    """A function and the triggers that call it; emptying a whole table passes by row triggers, so it has its own."""
    kept = "OLD" if guard.before == "DELETE" else "NEW"
    made = (
        f"""CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql SET search_path = {SCHEMA}, pg_temp AS $$
        BEGIN
            IF {guard.when or "TRUE"} THEN
                RAISE EXCEPTION USING MESSAGE = '{guard.refusal}', ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN {kept};
        END $$""",
        f"""CREATE TRIGGER {guard.name} BEFORE {guard.before} ON {guard.table}
        FOR EACH ROW EXECUTE FUNCTION {guard.name}()""",
    )
    if guard.before != "DELETE":
        return made
    return (
        *made,
        f"""CREATE TRIGGER {guard.name}_whole BEFORE TRUNCATE ON {guard.table}
        FOR EACH STATEMENT EXECUTE FUNCTION {guard.name}()""",
    )


def sentence_of(code: str | None, noun: str) -> str:
    """What an error with this SQLSTATE means; without one the connection broke."""
    if code is None or code.startswith(("08", "57P", "25P03")):
        return GONE
    known = SENTENCES.get(code) or f"The {{noun}} could not be used ({code}); reopen the workspace and try again."
    return known.format(noun=noun)
