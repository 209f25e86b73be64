"""The tables of the ledger, which are a second wall behind the rules of `ledger.py`.

Nothing here knows what a spend is; `ledger.py` does, and `database.py` says what opens and writes such tables.
"""

from __future__ import annotations

from core.ledger.database import Guard, Layout

LARGEST_AMOUNT = 2**62  # spent + units and total - units then both fit 64-bit integers

FALLS = """(NEW.spent < OLD.spent AND NEW.budget_json = OLD.budget_json) OR EXISTS (
        SELECT 1 FROM json_each(OLD.sums) AS was LEFT JOIN json_each(NEW.sums) AS now ON now.key = was.key
        WHERE now.key IS NULL OR (was.value IS NULL AND now.value IS NOT NULL) OR now.value < was.value)"""
ALWAYS_KEPT = Guard(name="spends_never_fall", before="UPDATE", table="account", refusal="spends never fall", when=FALLS)
"""As it was before anything could be given back."""
SPENDS_NEVER_FALL = Guard(
    name="spends_never_fall",
    before="UPDATE",
    table="account",
    refusal="spends never fall",
    when=f"""NEW.refunds <> (SELECT count(*) FROM refund JOIN plan ON plan.id = refund.plan_id
        JOIN dataset ON dataset.id = plan.dataset_id WHERE dataset.fingerprint = NEW.fingerprint)
        OR (NEW.refunds <> OLD.refunds + 1 AND ({FALLS}))""",
)
"""The part that is spent may shrink with a larger budget, which leaves an override on record; sums fall once for each
refund on record, and never otherwise."""

REFUND = """CREATE TABLE refund (
    plan_id TEXT PRIMARY KEY REFERENCES plan (id),
    used    TEXT NOT NULL,
    at      TEXT NOT NULL
) STRICT"""
REFUND_IS_KEPT = Guard(name="refund_is_kept", before="DELETE", table="refund", refusal="refunds are kept")
REFUND_IS_FIXED = Guard(name="refund_is_fixed", before="UPDATE", table="refund", refusal="a refund never changes")
REFUND_OF_A_SPEND = Guard(
    name="refund_of_a_spend",
    before="INSERT",
    table="refund",
    refusal="what was used of a spend is no more than the spend",
    when="""NOT EXISTS (SELECT 1 FROM plan WHERE id = NEW.plan_id AND status = 'stored') OR EXISTS (
        SELECT 1 FROM plan, json_each(plan.amounts) AS paid
        LEFT JOIN json_each(NEW.used) AS used ON used.key = paid.key
        WHERE plan.id = NEW.plan_id AND (used.key IS NULL OR (paid.value IS NULL) <> (used.value IS NULL)
            OR used.value > paid.value OR used.value < 0))""",
)
FROM_KEPT_WHOLE = (
    "DROP TRIGGER spends_never_fall",
    "ALTER TABLE account ADD COLUMN refunds INTEGER NOT NULL DEFAULT 0",
    REFUND,
    REFUND_IS_KEPT,
    REFUND_IS_FIXED,
    REFUND_OF_A_SPEND,
    SPENDS_NEVER_FALL,
)

PLAN_IS_FIXED = Guard(
    name="plan_is_fixed",
    before="UPDATE",
    table="plan",
    refusal="a paid plan and its result never change",
    when="""OLD.status = 'stored' OR NEW.id <> OLD.id OR NEW.units <> OLD.units OR NEW.amounts <> OLD.amounts
        OR NEW.dataset_id <> OLD.dataset_id OR NEW.plan_json <> OLD.plan_json""",
)

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
SEPARATION_IS_KEPT = Guard(
    name="separation_is_kept", before="DELETE", table="separation", refusal="separations are kept"
)
WORKSPACE = "CREATE TABLE workspace (id TEXT PRIMARY KEY) STRICT"
NAME_IT = "INSERT INTO workspace VALUES (lower(hex(randomblob(16))))"
"""What the workspace is called outside of it (`journal.py`), wherever its folder lies."""
FROM_NAMELESS = (SEPARATION, SEPARATION_IS_KEPT, WORKSPACE, NAME_IT)

TABLES = (
    f"""CREATE TABLE account (
    fingerprint TEXT PRIMARY KEY,
    unit_json   TEXT NOT NULL,
    budget_json TEXT NOT NULL,
    ways        TEXT NOT NULL,
    sums        TEXT NOT NULL DEFAULT '{{}}',
    total       INTEGER NOT NULL CHECK (total BETWEEN 0 AND {LARGEST_AMOUNT}),
    spent       INTEGER NOT NULL DEFAULT 0 CHECK (spent BETWEEN 0 AND total),
    opened_at   TEXT NOT NULL,
    refunds     INTEGER NOT NULL DEFAULT 0
) STRICT""",
    """CREATE TABLE override (
    number      INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL REFERENCES account (fingerprint),
    who         TEXT NOT NULL CHECK (who <> ''),
    at          TEXT NOT NULL,
    from_budget TEXT NOT NULL,
    to_budget   TEXT NOT NULL,
    from_total  INTEGER NOT NULL,
    to_total    INTEGER NOT NULL,
    reason      TEXT NOT NULL CHECK (reason <> '')
) STRICT""",
    """CREATE TABLE dataset (
    id           TEXT PRIMARY KEY,
    fingerprint  TEXT NOT NULL REFERENCES account (fingerprint),
    name         TEXT NOT NULL,
    schema_json  TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    details_json TEXT NOT NULL
) STRICT""",
    f"""CREATE TABLE plan (
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
) STRICT""",
    "CREATE INDEX plan_of_dataset ON plan (dataset_id)",
    Guard(name="account_is_kept", before="DELETE", table="account", refusal="accounts are kept"),
    Guard(name="override_is_kept", before="DELETE", table="override", refusal="overrides are kept"),
    Guard(name="plan_is_kept", before="DELETE", table="plan", refusal="plans are kept"),
    REFUND,
    REFUND_IS_KEPT,
    REFUND_IS_FIXED,
    REFUND_OF_A_SPEND,
    SPENDS_NEVER_FALL,
    PLAN_IS_FIXED,
    SEPARATION,
    SEPARATION_IS_KEPT,
    WORKSPACE,
    NAME_IT,
)


# The first three versions are SQLite's own: no server ever held one of them.
STEPS = {1: FROM_ONE_WAY, 2: FROM_NAMELESS, 3: FROM_KEPT_WHOLE}
LAYOUT = Layout(noun="ledger", mark=0x52_44_4C_47, version=4, tables=TABLES, steps=STEPS)  # "RDLG"
