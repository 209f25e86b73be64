"""What the ledger holds, row by row: accounts, overrides, datasets and paid plans, and how each is looked up."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from core.base.errors import DeskError, Unknown, printable
from core.ledger.database import Connection
from core.privacy.privacy_filter import Amounts, Filters, joined

ACCOUNT = "SELECT fingerprint, unit_json, budget_json, ways, sums, total, spent, opened_at FROM account"
OVERRIDE = "SELECT fingerprint, who, at, from_budget, to_budget, from_total, to_total, reason FROM override"
SEPARATION = "SELECT fingerprint, other, who, at, reason FROM separation"
DATASET = "SELECT id, fingerprint, name, schema_json, created_at, details_json FROM dataset"
ENTRY = """SELECT plan.id AS plan_id, dataset_id, plan_json, amounts, units, status, note, attempts, reserved_at,
    stored_at, digest, used FROM plan JOIN dataset ON dataset.id = plan.dataset_id
    LEFT JOIN refund ON refund.plan_id = plan.id"""


@dataclass(frozen=True, kw_only=True)
class Account:
    """What owns a budget: the data itself, by fingerprint, whatever schemas are declared for it."""

    fingerprint: str
    unit_json: str
    budget_json: str
    ways: str
    """The ways of adding up, as `Filters` writes them; which ones there are is fixed by the first plan."""
    sums: str
    """What was spent in each way, exactly."""
    total: int
    """Parts into which the budget is divided."""
    spent: int
    """Parts that are spent, by the way that covers best."""
    opened_at: str

    @property
    def left(self) -> int:
        return self.total - self.spent

    @property
    def filters(self) -> Filters:
        return Filters.from_text(self.ways)

    def price(self, amounts: Amounts) -> int | None:
        """Parts that these amounts would take now, more than are left where they do not fit; None if no way counts."""
        parts = self.filters.parts(joined(json.loads(self.sums), amounts))
        return None if parts is None else parts - self.spent


@dataclass(frozen=True, kw_only=True)
class Override:
    """A total that was changed on purpose, with the reason given."""

    fingerprint: str
    who: str
    at: str
    from_budget: str
    to_budget: str
    from_total: int
    to_total: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Separation:
    """Two accounts that seem to be about the same people, kept apart on purpose, with the reason given."""

    fingerprint: str
    """The account that was opened."""
    other: str
    who: str
    at: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One declared schema of some data; several may share an account."""

    id: str
    fingerprint: str
    name: str
    schema_json: str
    created_at: str
    details_json: str
    """Curator-only facts; never part of a release."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One paid plan, without its result."""

    plan_id: str
    dataset_id: str
    plan_json: str
    amounts: str
    """What it took in each way."""
    units: int
    """Parts of the total that it took when it was paid."""
    status: Literal["reserved", "stored"]
    note: str | None
    """The last failure, as a sentence."""
    attempts: int
    """How many runs have failed."""
    reserved_at: str
    stored_at: str | None
    digest: str | None
    """SHA-256 of the stored result."""
    used: str | None = None
    """What it used in each way, where the rest was given back."""

    @property
    def counted(self) -> str:
        """What the sums of its account hold of it."""
        return self.amounts if self.used is None else self.used


def find_account(connection: Connection, fingerprint: str) -> Account | None:
    row = connection.execute(f"{ACCOUNT} WHERE fingerprint = ?", (fingerprint,)).fetchone()
    return Account(**dict(row)) if row else None


def account(connection: Connection, fingerprint: str) -> Account:
    found = find_account(connection, fingerprint)
    if found is None:
        raise Unknown("This workspace holds no budget for this data; add the table first.")
    return found


def dataset(connection: Connection, id: str) -> Dataset:
    row = connection.execute(f"{DATASET} WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise Unknown(f"This workspace holds no table '{printable(id)}'; add the table first.")
    return Dataset(**dict(row))


def account_of(connection: Connection, dataset_id: str) -> Account:
    """The account that pays for a table."""
    return account(connection, dataset(connection, dataset_id).fingerprint)


def find_entry(connection: Connection, plan_id: str) -> Entry | None:
    row = connection.execute(f"{ENTRY} WHERE plan.id = ?", (plan_id,)).fetchone()
    return Entry(**dict(row)) if row else None


def entry(connection: Connection, plan_id: str) -> Entry:
    found = find_entry(connection, plan_id)
    if found is None:
        raise Unknown(f"This workspace holds no plan '{printable(plan_id)}'.")
    return found


def spend_number(connection: Connection, plan_id: str) -> int:
    own = dataset(connection, entry(connection, plan_id).dataset_id).fingerprint
    query = """SELECT count(*) AS number FROM plan JOIN dataset ON dataset.id = plan.dataset_id
        WHERE fingerprint = ? AND plan.number <= (SELECT number FROM plan WHERE id = ?)"""
    return int(connection.execute(query, (own, plan_id)).fetchone()["number"])


def result(connection: Connection, plan_id: str) -> bytes | None:
    query = "SELECT result, digest FROM plan WHERE id = ? AND status = 'stored'"
    row = connection.execute(query, (plan_id,)).fetchone()
    if row is None:
        return None
    if hashlib.sha256(row["result"]).hexdigest() != row["digest"]:
        raise DeskError("The stored result of this plan is damaged on disk; restore the workspace from a backup.")
    return bytes(row["result"])


def in_use(connection: Connection, fingerprint: str) -> bool:
    """Whether any plan was ever reserved, at whatever price."""
    query = "SELECT plan.id FROM plan JOIN dataset ON dataset.id = plan.dataset_id WHERE fingerprint = ? LIMIT 1"
    return connection.execute(query, (fingerprint,)).fetchone() is not None


def unused_and_older(connection: Connection) -> list[Account]:
    """Accounts of older versions, which add up in fewer ways or share delta otherwise, that have no plan yet."""
    found = [Account(**dict(row)) for row in connection.execute(ACCOUNT).fetchall()]
    return [each for each in found if each.filters.older and not in_use(connection, each.fingerprint)]
