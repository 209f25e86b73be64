"""The tables that a workspace holds: taken in once, encoded, each with the account that pays for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from core.base.errors import BadParameter, Refused, printable
from core.desk.kept.labels import Label, Labels
from core.desk.tables.accounts import Accounts
from core.ledger.ledger import Account, Ledger
from core.plans.canonical import canonical
from core.plans.statements import DeskTable, current, source_of
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.rules.broken_rows import rows_that_break
from core.rules.contradictions import check_rules
from core.schema.domain import Domain
from core.table import column_store
from core.table.formats.databases.database_source import DatabaseSource
from core.table.spark.spark_source import SparkSource
from core.table.spark.spark_table import SparkTable
from core.table.table import Table


class HeldTables:
    """Encoded columns in a folder, and what the ledger says of them."""

    def __init__(self, folder: Path, ledger: Ledger, noise: Noise, accounts: Accounts, labels: Labels) -> None:
        self._folder = folder / "tables"
        self._ledger = ledger
        self._noise = noise
        self._accounts = accounts
        self._labels = labels

    def add(
        self, source: Any, domain: Domain, *, unit: Unit, budget: Budget, name: str | None, apart: str | None
    ) -> DeskTable:
        if Filters.of(budget).total == 0:
            raise BadParameter("epsilon", "is too small to pay for anything; try 1.")
        check_rules(domain)
        with column_store.draft(self._folder) as draft:
            table: Table | SparkTable
            if isinstance(source, SparkSource):
                table = SparkTable.load(source, domain, unit, self._noise, key=self._accounts.key)
            else:
                table = Table.load(source, domain, unit, self._noise, key=self._accounts.key, store=draft)
            with self._accounts.intake():
                account = self._accounts.open(
                    fingerprint=table.fingerprint, sketch=table.sketch, unit=unit, budget=budget, apart=apart
                )
                added = self._take_in(table, draft, unit, account, name if name is not None else _name_of(source))
                label = self._labels.of(added.id)
                if label.archived:
                    self._labels.archive(added.id, away=False)
                return _called(added, label)

    def all(self, *, archived: bool = False) -> list[DeskTable]:
        """Tables that can be used, or those that are put away, newest first."""
        labelled = ((table, self._labels.of(table.id)) for table in self._every())
        return [_called(table, label) for table, label in labelled if label.archived == archived]

    def _every(self) -> list[DeskTable]:
        pairs = [(dataset, self._ledger.account(dataset.fingerprint)) for dataset in self._ledger.datasets()]
        return [DeskTable.of(dataset, account) for dataset, account in reversed(pairs) if current(dataset, account)]

    def find(self, identity: str) -> DeskTable:
        dataset = self._ledger.dataset(identity)
        account = self._ledger.account(dataset.fingerprint)
        if not current(dataset, account):
            raise Refused("The unit of privacy of this data was changed since; add the table again with the new one.")
        return _called(DeskTable.of(dataset, account), self._labels.of(identity))

    def open(self, identity: str) -> Table | SparkTable:
        """The private table itself."""
        return SparkTable.open(self._folder / identity) or Table.open(self._folder / identity)

    def _take_in(
        self, table: Table | SparkTable, draft: column_store.DraftColumns, unit: Unit, account: Account, name: str
    ) -> DeskTable:
        for known in self._every():
            dataset = self._ledger.dataset(known.id)
            if (dataset.fingerprint, source_of(dataset)) != (account.fingerprint, table.fingerprint):
                continue
            if known.domain == table.domain:
                if not (self._folder / known.id).exists():
                    table.save(self._folder / known.id, draft)
                return known
        identity = f"{int(self._noise.keys(1)[0]):016x}"
        table.save(self._folder / identity, draft)
        dataset = self._ledger.add_dataset(
            id=identity,
            fingerprint=account.fingerprint,
            name=_tidy(name),
            schema_json=table.domain.to_json(),
            details_json=canonical(
                {
                    "unit": unit.to_json(),
                    "rows": int(table.marginal(())),
                    "misfits": table.misfits,
                    "dropped_rows": table.dropped_rows,
                    "layout": table.layout,
                    **({"broken_rules": rows_that_break(table)} if table.domain.rules else {}),
                    **({} if table.fingerprint == account.fingerprint else {"source": table.fingerprint}),
                }
            ),
        )
        return DeskTable.of(dataset, account)


def _called(table: DeskTable, label: Label) -> DeskTable:
    """The table by the name that its curator gave it."""
    return replace(table, name=label.name) if label.name else table


def _name_of(source: Any) -> str:
    if isinstance(source, SparkSource):
        return source.name
    if isinstance(source, DatabaseSource):
        return source.table
    return Path(source).stem if isinstance(source, str | Path) else "table"


def _tidy(name: str) -> str:
    """A display name: no folders, no control characters."""
    return printable(name.replace("\\", "/").rsplit("/", 1)[-1].strip()) or "table"
