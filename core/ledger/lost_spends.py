"""What an older copy of a ledger has lost (a rollback), and how it is entered again from the journal.

**Privacy** A lost spend is entered with the amounts that were paid, so that the account's sums are again those of all
that was ever drawn for it. Its result is gone: it is entered as void, so the same plan gives no second answer for the
same payment. Where two copies of a workspace have spent beside each other, their spends may together be more than the
total; the account is then spent, whatever its sums are. Unit and budget of an account are free until its first plan,
so the copy may have declared others than the spend was priced for: a way in which it was not priced can never cover
again, and none can where the unit is another one. Where both are the same, but an account that was opened by an older
version counts as a new one in the copy, it is again what the spend was priced for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from core.ledger import rows
from core.ledger.database import Connection, Database
from core.ledger.journal import Journal, JournalSpend
from core.privacy.privacy_filter import amounts_text, joined

VOID = b""
"""The stored outcome of a plan that has none to give, and never will."""
VOID_DIGEST = hashlib.sha256(VOID).hexdigest()
LOST_DETAILS = "lost"


@dataclass(frozen=True)
class Lost:
    """What is missing; false where nothing is."""

    spends: tuple[JournalSpend, ...]
    results: tuple[str, ...]
    """Plans that are paid for here and had a result, which may have been seen."""

    def __bool__(self) -> bool:
        return bool(self.spends or self.results)


def find_lost(database: Database, journal: Journal) -> Lost:
    """What is missing. Where nothing is, the journal is given what a crash kept from it."""
    # The journal first: a spend that another process makes meanwhile is then in the ledger at least.
    spends, stored = journal.read()
    with database.read() as connection:
        known = {row["plan_id"]: rows.Entry(**dict(row)) for row in connection.execute(rows.ENTRY)}
        forgotten = tuple(spend for spend in spends.values() if spend.plan_id not in known)
        again = tuple(each.plan_id for each in known.values() if each.status == "reserved" and each.plan_id in stored)
        if not forgotten and not again:
            journal.note(
                [journal_line(connection, entry) for entry in known.values() if entry.plan_id not in spends],
                [entry.plan_id for entry in known.values() if entry.status == "stored" and entry.plan_id not in stored],
            )
    return Lost(forgotten, again)


def journal_line(connection: Connection, entry: rows.Entry) -> JournalSpend:
    """A spend as the journal keeps it."""
    account = rows.account_of(connection, entry.dataset_id)
    return JournalSpend(
        plan_id=entry.plan_id,
        dataset_id=entry.dataset_id,
        plan_json=entry.plan_json,
        amounts=entry.amounts,
        reserved_at=entry.reserved_at,
        fingerprint=account.fingerprint,
        unit_json=account.unit_json,
        budget_json=account.budget_json,
        ways=account.ways,
        total=account.total,
    )


def enter(connection: Connection, lost: Lost, now: str) -> None:
    """Enter all that is missing; plans that had a result have none any more."""
    for spend in lost.spends:
        recover(connection, spend)
    for plan_id in lost.results:
        connection.execute(
            "UPDATE plan SET status = 'stored', result = ?, digest = ?, stored_at = ? "
            "WHERE id = ? AND status = 'reserved'",
            (VOID, VOID_DIGEST, now, plan_id),
        )


def recover(connection: Connection, spend: JournalSpend) -> None:
    """Enter one lost spend, with its account and its table's place where these were lost too."""
    connection.execute(
        """INSERT INTO account (fingerprint, unit_json, budget_json, ways, total, opened_at)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING""",
        (spend.fingerprint, spend.unit_json, spend.budget_json, spend.ways, spend.total, spend.reserved_at),
    )
    if not rows.in_use(connection, spend.fingerprint):
        connection.execute(
            "UPDATE account SET ways = ?, total = ? WHERE fingerprint = ? AND unit_json = ? AND budget_json = ?",
            (spend.ways, spend.total, spend.fingerprint, spend.unit_json, spend.budget_json),
        )
    details = json.dumps({"kind": LOST_DETAILS, "unit": json.loads(spend.unit_json)})
    connection.execute(
        """INSERT INTO dataset (id, fingerprint, name, schema_json, created_at, details_json)
        VALUES (?, ?, 'lost table', '{}', ?, ?) ON CONFLICT (id) DO NOTHING""",
        (spend.dataset_id, spend.fingerprint, spend.reserved_at, details),
    )
    account = rows.account(connection, spend.fingerprint)
    paid = json.loads(spend.amounts) if spend.unit_json == account.unit_json else {}
    sums = joined(json.loads(account.sums), {way: paid.get(way) for way in account.filters.ways})
    parts = account.filters.parts(sums)
    spent = account.total if parts is None else min(max(parts, account.spent), account.total)
    connection.execute(
        "UPDATE account SET sums = ?, spent = ? WHERE fingerprint = ?",
        (amounts_text(sums), spent, spend.fingerprint),
    )
    connection.execute(
        """INSERT INTO plan (id, dataset_id, plan_json, amounts, units, status, reserved_at, stored_at, digest, result)
        VALUES (?, ?, ?, ?, ?, 'stored', ?, ?, ?, ?)""",
        (
            *(spend.plan_id, spend.dataset_id, spend.plan_json, spend.amounts, spent - account.spent),
            *(spend.reserved_at, spend.reserved_at, VOID_DIGEST, VOID),
        ),
    )
