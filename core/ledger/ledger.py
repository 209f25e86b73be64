"""The ledger: the only thing that spends, and the only place where a paid answer is kept.

One SQLite file on a local disk of the workspace, or one PostgreSQL database for several servers; safe from many threads
and many processes: every change is one transaction that no other writer overlaps and that is synced to the disk before
the call returns (`database.py`). It adds whole units up in several ways (`privacy_filter.py` says what they are worth)
and knows nothing about mechanisms.

**Privacy.** A caller goes reserve (commit) -> run -> store (commit) -> return, in this order.

- *Never free*: an answer is returned only out of `store` or `result`, both need the plan's row, and the row exists only
  in a committed transaction that also added its amounts to the account's sums; they are added only if one way still
  covers the new sums. So at all times the sums of an account are those of its rows, one way covers them, and what an
  adversary has seen is the adaptive composition of the rows: exactly what the theorem in `privacy_filter.py` is about.
- *Never twice*: the first `store` of a plan id wins and every caller gets those bytes, so at most one output per plan
  id ever leaves the desk. That is why a plan that was reserved but never stored may be run again without paying: the
  output of the run that died stayed inside its process, and the visible output is one draw with fresh randomness.
  This needs a run to die for reasons that do not depend on its output (a kill, a full disk), and it needs
  `failed` to be given a fixed sentence, never a value: otherwise the retry would be a selection among draws.
- A crash may cost budget (a reserved plan that nobody runs again); it never gives budget back. No row is ever deleted.
- *Given back* is only what a finished plan can never use any more, once, as `refunds.py` proves.
- An older copy of the file that is put back is noticed, because spends are also written down outside (`journal.py`);
  it pays for nothing until what it lost is entered.
- A plan is priced for one unit of privacy and certain ways of adding up. `reserve` therefore takes the account as it
  was when the plan was priced, and refuses when either has changed since; after the first plan neither can change.

`spent` says in whole parts of `total` how much of an account is used by the way that covers best, rounded up.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.base.errors import BadParameter, OutOfBudget, Refused, Unknown
from core.ledger import rows as rows
from core.ledger.attempts import Attempt
from core.ledger.database import Connection
from core.ledger.journal import Journal
from core.ledger.layout import LARGEST_AMOUNT, LAYOUT
from core.ledger.lost_spends import Lost, enter, find_lost, journal_line
from core.ledger.places import open_attempts, open_database
from core.ledger.refunds import give_back
from core.ledger.rows import Account, Dataset, Entry, Override, Separation
from core.privacy.budget import Budget
from core.privacy.privacy_filter import Amounts, Filters, amounts_text, joined

__all__ = ["Account", "Dataset", "Entry", "Ledger", "Override", "Separation"]

# A row holds a plan (at most four bytes per character) and its result, and SQLite takes 1e9 bytes per row.
LARGEST_TEXT = 10_000_000
LARGEST_RESULT = 950_000_000
DISCOVERED = "discovery"
"""The name of a dataset that stands for bought suggestions and holds no table."""


class Ledger:
    """The accounts, datasets and paid plans of one workspace.

    JSON texts are compared as they are: callers give one canonical spelling (sorted keys).
    """

    def __init__(self, place: Path | str, *, patience: float = 30.0, outside: Path | None = None) -> None:
        """Opens the ledger, or creates it readable by its owner only; waits `patience` seconds for other processes.

        `place` is a file, or the address of a PostgreSQL database (`places.py`). `outside` is a folder beyond the
        workspace where its journal is; without one, older copies are not noticed.
        """
        self.database = open_database(place, LAYOUT, patience=patience)
        self.workspace = self._workspace()
        self.journal = None if outside is None else Journal(outside / self.workspace)
        self.attempts = open_attempts(self.database)
        self._renew_unused_accounts()

    def _workspace(self) -> str:
        with self.database.read() as connection:
            return str(connection.execute("SELECT id FROM workspace").fetchone()["id"])

    def _renew_unused_accounts(self) -> None:
        """An account of an older version that nothing was spent from counts as a new one does."""
        with self.database.read() as connection:
            if not rows.unused_and_older(connection):
                return
        with self.database.write() as connection:
            for account in rows.unused_and_older(connection):
                filters = Filters.of(Budget.from_json(json.loads(account.budget_json)))
                connection.execute(
                    "UPDATE account SET ways = ?, total = ? WHERE fingerprint = ?",
                    (filters.to_text(), filters.total, account.fingerprint),
                )

    def open_account(
        self,
        *,
        fingerprint: str,
        unit_json: str,
        budget_json: str,
        filters: Filters,
        apart_from: Sequence[str] = (),
        reason: str = "",
        who: str = "curator",
    ) -> Account:
        """The account of this data; opened again with the same unit and budget it is the same account.

        Until the first plan another unit or budget replaces the old; afterwards it is refused. `apart_from` are
        accounts that seem to be about the same people, and `reason` is why they do not pay; it stays on record.
        """
        if apart_from:
            _check_text(reason, "reason")
            _check_text(who, "who")
        _check_fingerprint(fingerprint)
        _check_text(unit_json, "unit")
        _check_text(budget_json, "budget")
        _check_amount(filters.total, "total")
        with self.database.write() as connection:
            old = rows.find_account(connection, fingerprint)
            if old and rows.in_use(connection, fingerprint):
                if old.unit_json != unit_json:
                    raise BadParameter("unit", "is fixed since the first release of this data; use the one on record.")
                if old.budget_json != budget_json:
                    raise BadParameter("budget", "is fixed since the first release; change it with a reason on record.")
                return old
            connection.execute(
                """INSERT INTO account (fingerprint, unit_json, budget_json, ways, total, opened_at)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO UPDATE SET unit_json = excluded.unit_json,
                budget_json = excluded.budget_json, ways = excluded.ways, total = excluded.total""",
                (fingerprint, unit_json, budget_json, filters.to_text(), filters.total, _now()),
            )
            for other in apart_from:
                connection.execute(
                    "INSERT INTO separation (fingerprint, other, who, at, reason) VALUES (?, ?, ?, ?, ?)",
                    (fingerprint, other, who, _now(), reason.strip()),
                )
            return rows.account(connection, fingerprint)

    def has_account(self, fingerprint: str) -> bool:
        with self.database.read() as connection:
            return rows.find_account(connection, fingerprint) is not None

    def account_name(self, fingerprint: str) -> str:
        """What an account is called: as the first table that it paid for, or that it was opened for."""
        named = [dataset.name for dataset in self.datasets() if dataset.fingerprint == fingerprint]
        return next((name for name in named if name != DISCOVERED), DISCOVERED)

    def separations(self, fingerprint: str) -> list[Separation]:
        """Newest first, from either side."""
        with self.database.read() as connection:
            query = f"{rows.SEPARATION} WHERE ? IN (fingerprint, other) ORDER BY number DESC"
            return [Separation(**dict(row)) for row in connection.execute(query, (fingerprint,))]

    def account(self, fingerprint: str) -> Account:
        with self.database.read() as connection:
            return rows.account(connection, fingerprint)

    def account_of(self, dataset_id: str) -> Account:
        """The account that pays for a table."""
        with self.database.read() as connection:
            return rows.account_of(connection, dataset_id)

    def change_budget(
        self, fingerprint: str, *, budget_json: str, filters: Filters, reason: str, who: str = "curator"
    ) -> Account:
        """Changes a budget on purpose and on record; it may also be lowered, not below what is spent.

        After the first plan the ways of adding up stay what they were, because what was spent is known in these.
        """
        _check_text(budget_json, "budget")
        _check_amount(filters.total, "total")
        _check_text(who, "who")
        _check_text(reason, "reason")
        if not reason.strip():
            raise BadParameter("reason", "say in a sentence why the budget changes; it is kept on record.")
        with self.database.write() as connection:
            old = rows.account(connection, fingerprint)
            if filters.ways.keys() != old.filters.ways.keys() and rows.in_use(connection, fingerprint):
                raise BadParameter("ways", "are fixed since the first release; price the budget at those on record.")
            spent = filters.parts(json.loads(old.sums))
            if spent is None or filters.used(json.loads(old.sums)) is None:
                raise BadParameter("budget", "cannot be below what is already spent.")
            if (budget_json, filters) == (old.budget_json, old.filters):
                return old
            connection.execute(
                """INSERT INTO override (fingerprint, who, at, from_budget, to_budget, from_total, to_total, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                (fingerprint, who, _now(), old.budget_json, budget_json, old.total, filters.total, reason.strip()),
            )
            connection.execute(
                "UPDATE account SET budget_json = ?, ways = ?, total = ?, spent = ? WHERE fingerprint = ?",
                (budget_json, filters.to_text(), filters.total, spent, fingerprint),
            )
            return rows.account(connection, fingerprint)

    def overrides(self, fingerprint: str) -> list[Override]:
        """Newest first."""
        with self.database.read() as connection:
            found = connection.execute(f"{rows.OVERRIDE} WHERE fingerprint = ? ORDER BY number DESC", (fingerprint,))
            return [Override(**dict(row)) for row in found]

    def add_dataset(self, *, id: str, fingerprint: str, name: str, schema_json: str, details_json: str) -> Dataset:
        """Idempotent by id: the first name and details stay."""
        for value, parameter in ((id, "id"), (name, "name"), (schema_json, "schema"), (details_json, "details")):
            _check_text(value, parameter)
        with self.database.write() as connection:
            rows.account(connection, fingerprint)
            connection.execute(
                """INSERT INTO dataset (id, fingerprint, name, schema_json, created_at, details_json)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING""",
                (id, fingerprint, name, schema_json, _now(), details_json),
            )
            dataset = rows.dataset(connection, id)
            if (dataset.fingerprint, dataset.schema_json) != (fingerprint, schema_json):
                raise BadParameter("id", "belongs to other data or another schema; each needs an id of its own.")
            return dataset

    def dataset(self, id: str) -> Dataset:
        with self.database.read() as connection:
            return rows.dataset(connection, id)

    def datasets(self) -> list[Dataset]:
        """Oldest first."""
        with self.database.read() as connection:
            return [Dataset(**dict(row)) for row in connection.execute(f"{rows.DATASET} ORDER BY rowid")]

    def reserve(self, *, plan_id: str, dataset_id: str, plan_json: str, amounts: Amounts, account: Account) -> Entry:
        """Pays for a plan: the first caller pays, every later call with the same plan gets the same entry for nothing.

        `account` is the account the plan was priced for. When anything is refused, nothing is written.
        """
        _check_text(plan_id, "plan id")
        _check_text(plan_json, "plan")
        _check_amounts(amounts)
        self.check_whole()
        with self.database.write() as connection:
            entry = rows.find_entry(connection, plan_id)
            if entry is None:
                parts = self._spend(connection, rows.dataset(connection, dataset_id), amounts, account)
                connection.execute(
                    """INSERT INTO plan (id, dataset_id, plan_json, amounts, units, status, reserved_at)
                    VALUES (?, ?, ?, ?, ?, 'reserved', ?)""",
                    (plan_id, dataset_id, plan_json, amounts_text(amounts), parts, _now()),
                )
                entry = rows.entry(connection, plan_id)
            if (entry.dataset_id, entry.plan_json, entry.amounts) != (dataset_id, plan_json, amounts_text(amounts)):
                raise BadParameter("plan id", "was already used for another plan; each plan needs an id of its own.")
            line = journal_line(connection, entry)
        if self.journal is not None:
            self.journal.note([line], [])
        return entry

    @staticmethod
    def _spend(connection: Connection, dataset: Dataset, amounts: Amounts, priced: Account) -> int:
        """Adds the amounts to the sums of the account; gives the parts of its total that they took."""
        if priced.fingerprint != dataset.fingerprint:
            raise BadParameter("account", "does not own this table's budget; price the plan for the one that does.")
        now = rows.account(connection, dataset.fingerprint)
        ways = now.filters.ways.keys()
        if now.unit_json != priced.unit_json or ways != priced.filters.ways.keys() or ways != amounts.keys():
            raise Refused("The table's unit or budget changed after this plan was priced; make the plan again.")
        sums = joined(json.loads(now.sums), amounts)
        spent = now.filters.parts(sums)
        if spent is None or now.filters.used(sums) is None:
            needed = "more than all" if spent is None or spent > 100 * now.total else _share(spent - now.spent, now)
            raise OutOfBudget(
                f"The plan needs {needed} of the budget and {_share(now.left, now)} is left; nothing was spent."
            )
        connection.execute(
            "UPDATE account SET sums = ?, spent = ? WHERE fingerprint = ?",
            (amounts_text(sums), spent, dataset.fingerprint),
        )
        return spent - now.spent

    def store(self, plan_id: str, result: bytes, attempt: Attempt | None = None) -> bytes:
        """Keeps the result of a paid plan; the first one stored wins and is what every caller gets back.

        Where another has taken over the attempt that made it, it is refused (`attempts.py`).
        """
        if not isinstance(result, bytes):
            raise BadParameter("result", "must be bytes.")
        if len(result) > LARGEST_RESULT:
            raise BadParameter("result", f"is larger than {LARGEST_RESULT:,} bytes; ask for fewer records or columns.")
        digest = hashlib.sha256(result).hexdigest()
        with self.database.write() as connection:
            if attempt is not None:
                attempt.check(connection)
            won = connection.execute(
                """UPDATE plan SET status = 'stored', result = ?, digest = ?, stored_at = ?
                WHERE id = ? AND status = 'reserved'""",
                (result, digest, _now(), plan_id),
            )
            stored = result if won.rowcount == 1 else rows.result(connection, plan_id)
            if stored is None:
                raise Unknown("This plan was never paid for, so its result cannot be kept.")
        if self.journal is not None:
            self.journal.note([], [plan_id])
        return stored

    def give_back(self, plan_id: str, used: Amounts) -> Entry:
        """Count a finished plan, of which nothing can be used any more, as what it has used; the first call wins."""
        _check_amounts(used)
        self.check_whole()
        with self.database.write() as connection:
            give_back(connection, rows.entry(connection, plan_id), used, _now())
            return rows.entry(connection, plan_id)

    def lost(self) -> Lost:
        """What the journal knows and this ledger has forgotten: it was put back from an older copy."""
        return Lost((), ()) if self.journal is None else find_lost(self.database, self.journal)

    def check_whole(self) -> None:
        """Refuse to go on with an older copy."""
        if self.lost():
            raise Refused(
                "This workspace was put back from an older copy: spends that were made since are missing, so nothing "
                "is spent. Enter them on the Budget page first."
            )

    def enter_lost(self) -> Lost:
        """Enter every spend that was lost, at its old price and without its result, which nobody can draw again."""
        lost = self.lost()
        with self.database.write() as connection:
            enter(connection, lost, _now())
        return lost

    def result(self, plan_id: str) -> bytes | None:
        """The stored bytes, or None while there are none."""
        with self.database.read() as connection:
            return rows.result(connection, plan_id)

    def failed(self, plan_id: str, sentence: str) -> None:
        """Notes that a run stopped; the spend stays, and a result that is already stored stays too."""
        _check_text(sentence, "sentence")
        with self.database.write() as connection:
            rows.entry(connection, plan_id)
            connection.execute(
                "UPDATE plan SET note = ?, attempts = attempts + 1 WHERE id = ? AND status = 'reserved'",
                (sentence, plan_id),
            )

    def entry(self, plan_id: str) -> Entry | None:
        with self.database.read() as connection:
            return rows.find_entry(connection, plan_id)

    def spend_number(self, plan_id: str) -> int:
        """Which spend of its account a plan is, in the order in which they were entered; the first is 1."""
        with self.database.read() as connection:
            return rows.spend_number(connection, plan_id)

    def entries(self, *, fingerprint: str | None = None, dataset_id: str | None = None) -> list[Entry]:
        """Newest first: of one account, of one dataset, or all."""
        with self.database.read() as connection:
            found = connection.execute(
                f"{rows.ENTRY} WHERE fingerprint = coalesce(?, fingerprint) AND dataset.id = coalesce(?, dataset.id)"
                " ORDER BY plan.number DESC",
                (fingerprint, dataset_id),
            )
            return [Entry(**dict(row)) for row in found]

    def pending(self) -> list[Entry]:
        """Paid but not stored, oldest first: what a desk may run again without paying."""
        with self.database.read() as connection:
            found = connection.execute(f"{rows.ENTRY} WHERE status = 'reserved' ORDER BY plan.number")
            return [Entry(**dict(row)) for row in found]


def _share(parts: int, account: Account) -> str:
    return f"{parts / max(account.total, 1):.2%}"


def _check_amount(value: object, parameter: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_AMOUNT:
        raise BadParameter(parameter, "must be a whole number from 0 to 2^62.")


def _check_amounts(amounts: Amounts) -> None:
    for name, amount in amounts.items():
        if amount is not None and (isinstance(amount, bool) or not isinstance(amount, int) or amount < 0):
            raise BadParameter("amounts", f"the amount in '{name}' must be a whole number of at least 0.")


def _check_text(value: object, parameter: str) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= LARGEST_TEXT or "\0" in value:
        raise BadParameter(parameter, f"must be a text of 1 to {LARGEST_TEXT:,} characters without NUL.")


def _check_fingerprint(value: object) -> None:
    # One spelling only: 'AB' and 'ab' would be two budgets for the same data.
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{1,128}", value):
        raise BadParameter("fingerprint", "must be 1 to 128 lower-case hexadecimal digits.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
