"""The tables of the ledger's file, which are a second wall behind the rules of `ledger.py`.

Nothing here knows what a spend is; `ledger.py` does, and `durable_file.py` knows how such a file is opened and written.
"""

from __future__ import annotations

from pathlib import Path

from core.ledger.durable_file import KeptFile, Layout

LARGEST_AMOUNT = 2**62  # spent + units and total - units then both fit SQLite's 64-bit integers

FALLS = """(NEW.spent < OLD.spent AND NEW.budget_json = OLD.budget_json) OR EXISTS (
        SELECT 1 FROM json_each(OLD.sums) AS was LEFT JOIN json_each(NEW.sums) AS now ON now.key = was.key
        WHERE now.key IS NULL OR (was.value IS NULL AND now.value IS NOT NULL) OR now.value < was.value)"""
ALWAYS_KEPT = f"""CREATE TRIGGER spends_never_fall BEFORE UPDATE ON account WHEN {FALLS}
    BEGIN SELECT RAISE(ABORT, 'spends never fall'); END"""
"""As it was before anything could be given back."""
SPENDS_NEVER_FALL = f"""CREATE TRIGGER spends_never_fall BEFORE UPDATE ON account
    WHEN NEW.refunds <> (SELECT count(*) FROM refund JOIN plan ON plan.id = refund.plan_id
        JOIN dataset ON dataset.id = plan.dataset_id WHERE dataset.fingerprint = NEW.fingerprint)
        OR (NEW.refunds <> OLD.refunds + 1 AND ({FALLS}))
    BEGIN SELECT RAISE(ABORT, 'spends never fall'); END"""
"""The part that is spent may shrink with a larger budget, which leaves an override on record; sums fall once for each
refund on record, and never otherwise."""

REFUND = """CREATE TABLE refund (
    plan_id TEXT PRIMARY KEY REFERENCES plan (id),
    used    TEXT NOT NULL,
    at      TEXT NOT NULL
) STRICT"""
REFUND_IS_KEPT = """CREATE TRIGGER refund_is_kept BEFORE DELETE ON refund
    BEGIN SELECT RAISE(ABORT, 'refunds are kept'); END"""
REFUND_IS_FIXED = """CREATE TRIGGER refund_is_fixed BEFORE UPDATE ON refund
    BEGIN SELECT RAISE(ABORT, 'a refund never changes'); END"""
REFUND_OF_A_SPEND = """CREATE TRIGGER refund_of_a_spend BEFORE INSERT ON refund
    WHEN NOT EXISTS (SELECT 1 FROM plan WHERE id = NEW.plan_id AND status = 'stored') OR EXISTS (
        SELECT 1 FROM plan, json_each(plan.amounts) AS paid
        LEFT JOIN json_each(NEW.used) AS used ON used.key = paid.key
        WHERE plan.id = NEW.plan_id AND (used.key IS NULL OR (paid.value IS NULL) <> (used.value IS NULL)
            OR used.value > paid.value OR used.value < 0))
    BEGIN SELECT RAISE(ABORT, 'what was used of a spend is no more than the spend'); END"""
FROM_KEPT_WHOLE = (
    "DROP TRIGGER spends_never_fall",
    "ALTER TABLE account ADD COLUMN refunds INTEGER NOT NULL DEFAULT 0",
    REFUND,
    REFUND_IS_KEPT,
    REFUND_IS_FIXED,
    REFUND_OF_A_SPEND,
    SPENDS_NEVER_FALL,
)

PLAN_IS_FIXED = """CREATE TRIGGER plan_is_fixed BEFORE UPDATE ON plan
    WHEN OLD.status = 'stored' OR NEW.id <> OLD.id OR NEW.units <> OLD.units OR NEW.amounts <> OLD.amounts
        OR NEW.dataset_id <> OLD.dataset_id OR NEW.plan_json <> OLD.plan_json
    BEGIN SELECT RAISE(ABORT, 'a paid plan and its result never change'); END"""

ONE_WAY = "CASE WHEN order_text IS NULL THEN 'pure' ELSE 'order ' || order_text END"
FROM_ONE_WAY = (
    "DROP TRIGGER plan_is_fixed",
    "DROP TRIGGER spent_never_falls",
    "ALTER TABLE account ADD COLUMN ways TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE account ADD COLUMN sums TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE plan ADD COLUMN amounts TEXT NOT NULL DEFAULT '{}'",
    f"""UPDATE account SET sums = CASE spent WHEN 0 THEN '{{}}' ELSE json_object({ONE_WAY}, spent) END,
        ways = json_object({ONE_WAY}, json_object('delta', iif(order_text IS NULL, '0', '1'), 'holds', total))""",
    f"""UPDATE plan SET amounts = (SELECT json_object({ONE_WAY}, plan.units) FROM account JOIN dataset
        USING (fingerprint) WHERE dataset.id = plan.dataset_id)""",
    "ALTER TABLE account DROP COLUMN order_text",
    ALWAYS_KEPT,
    PLAN_IS_FIXED,
)
"""An account of the first version counted in one way, with all of its delta, and goes on so."""

SEPARATION = """CREATE TABLE separation (
    number      INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL REFERENCES account (fingerprint),
    other       TEXT NOT NULL REFERENCES account (fingerprint),
    who         TEXT NOT NULL CHECK (who <> ''),
    at          TEXT NOT NULL,
    reason      TEXT NOT NULL CHECK (reason <> '')
) STRICT"""
SEPARATION_IS_KEPT = """CREATE TRIGGER separation_is_kept BEFORE DELETE ON separation
    BEGIN SELECT RAISE(ABORT, 'separations are kept'); END"""
WORKSPACE = "CREATE TABLE workspace (id TEXT PRIMARY KEY) STRICT"
NAME_IT = "INSERT INTO workspace VALUES (lower(hex(randomblob(16))))"
"""What the workspace is called outside of it (`journal.py`), wherever its folder lies."""
FROM_NAMELESS = (SEPARATION, SEPARATION_IS_KEPT, WORKSPACE, NAME_IT)

TABLES = f"""
CREATE TABLE account (
    fingerprint TEXT PRIMARY KEY,
    unit_json   TEXT NOT NULL,
    budget_json TEXT NOT NULL,
    ways        TEXT NOT NULL,
    sums        TEXT NOT NULL DEFAULT '{{}}',
    total       INTEGER NOT NULL CHECK (total BETWEEN 0 AND {LARGEST_AMOUNT}),
    spent       INTEGER NOT NULL DEFAULT 0 CHECK (spent BETWEEN 0 AND total),
    opened_at   TEXT NOT NULL,
    refunds     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE override (
    number      INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL REFERENCES account (fingerprint),
    who         TEXT NOT NULL CHECK (who <> ''),
    at          TEXT NOT NULL,
    from_budget TEXT NOT NULL,
    to_budget   TEXT NOT NULL,
    from_total  INTEGER NOT NULL,
    to_total    INTEGER NOT NULL,
    reason      TEXT NOT NULL CHECK (reason <> '')
) STRICT;
CREATE TABLE dataset (
    id           TEXT PRIMARY KEY,
    fingerprint  TEXT NOT NULL REFERENCES account (fingerprint),
    name         TEXT NOT NULL,
    schema_json  TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    details_json TEXT NOT NULL
) STRICT;
CREATE TABLE plan (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    dataset_id  TEXT NOT NULL REFERENCES dataset (id),
    plan_json   TEXT NOT NULL,
    amounts     TEXT NOT NULL,
    units       INTEGER NOT NULL CHECK (units BETWEEN 0 AND {LARGEST_AMOUNT}),
    status      TEXT NOT NULL CHECK (status IN ('reserved', 'stored')),
    note        TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    reserved_at TEXT NOT NULL,
    stored_at   TEXT,
    digest      TEXT,
    result      BLOB,
    CHECK ((status = 'stored') = (result IS NOT NULL AND digest IS NOT NULL AND stored_at IS NOT NULL))
) STRICT;
CREATE INDEX plan_of_dataset ON plan (dataset_id);
CREATE TRIGGER account_is_kept BEFORE DELETE ON account
    BEGIN SELECT RAISE(ABORT, 'accounts are kept'); END;
CREATE TRIGGER override_is_kept BEFORE DELETE ON override
    BEGIN SELECT RAISE(ABORT, 'overrides are kept'); END;
CREATE TRIGGER plan_is_kept BEFORE DELETE ON plan
    BEGIN SELECT RAISE(ABORT, 'plans are kept'); END;
{REFUND};
{REFUND_IS_KEPT};
{REFUND_IS_FIXED};
{REFUND_OF_A_SPEND};
{SPENDS_NEVER_FALL};
{PLAN_IS_FIXED};
{SEPARATION};
{SEPARATION_IS_KEPT};
{WORKSPACE};
{NAME_IT};
"""

STEPS = {1: FROM_ONE_WAY, 2: FROM_NAMELESS, 3: FROM_KEPT_WHOLE}
LAYOUT = Layout(noun="ledger", mark=0x52_44_4C_47, version=4, tables=TABLES, steps=STEPS)  # "RDLG"


class LedgerFile(KeptFile):
    """The file behind a ledger."""

    def __init__(self, path: Path | str, *, patience: float = 30.0) -> None:
        super().__init__(path, LAYOUT, patience=patience)
