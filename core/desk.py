"""The desk: the only door for the dashboard and for notebooks.

It joins what the other files keep apart: private tables, mechanisms, noise and the ledger. The order is always the
same: plan (free) -> reserve in the ledger (paid, committed) -> run -> store (committed) -> return. A crash in between
may cost budget; it never gives a free or a second answer, and a paid plan can be finished later at no cost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from core import accounting
from core.certificate import certify
from core.domain import Domain
from core.errors import BadParameter, DeskError, Failed, Refused, Unknown, printable
from core.focus import Focused, asked, widened
from core.held import HeldTable, Progress, Statement
from core.ledger import Account, Dataset, Entry, Ledger
from core.noise import Noise
from core.plan import Plan
from core.privacy import Budget, Unit
from core.queries.protocol import QueryClass
from core.registry import mechanism_from, query_from_json
from core.release import Release
from core.table import Table
from core.workspace import workspace

MOST_VALUES = 40_000_000
"""Rows times columns of a release: about 18 bytes each as CSV and Parquet; the ledger keeps less than a gigabyte."""
OPEN_TABLES = 4


class Desk:
    """One curator's workspace."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = workspace(folder)
        self.ledger = Ledger(self.folder / "ledger.sqlite")
        self._noise = Noise()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="release")
        self._lock = Lock()
        self._intake = Lock()
        self._running: dict[str, Progress] = {}
        self._open = lru_cache(maxsize=OPEN_TABLES)(self._load)

    def add_table(
        self, source: Any, domain: Domain, *, unit: Unit, budget: Budget, name: str | None = None
    ) -> HeldTable:
        """Take in a table: encode it by the public schema, open its budget, forget the raw rows.

        The budget belongs to the data, not to the schema: adding the same data again gives the same table if schema and
        unit are the same, and otherwise another table that spends from the same budget.
        """
        if accounting.capacity(budget) == 0:
            raise BadParameter("epsilon", "is too small to pay for anything; try 1.")
        table = Table.load(source, domain, unit, self._noise)
        with self._intake:
            return self._take_in(table, unit, budget, name if name is not None else _name_of(source))

    def _take_in(self, table: Table, unit: Unit, budget: Budget, name: str) -> HeldTable:
        account = self.ledger.open_account(
            fingerprint=table.fingerprint,
            unit_json=_canonical(unit.to_json()),
            budget_json=_canonical(budget.to_json()),
            order=_text(accounting.order_for(budget)),
            total=accounting.capacity(budget),
        )
        for held in self.tables():
            if self.ledger.dataset(held.id).fingerprint == account.fingerprint and held.domain == table.domain:
                if not self._place(held.id).exists():
                    table.save(self._place(held.id))
                return held
        identity = f"{int(self._noise.keys(1)[0]):016x}"
        table.save(self._place(identity))
        dataset = self.ledger.add_dataset(
            id=identity,
            fingerprint=account.fingerprint,
            name=_tidy(name),
            schema_json=table.domain.to_json(),
            details_json=_canonical({
                "unit": unit.to_json(),
                "rows": int(table.marginal(())),
                "misfits": table.misfits,
                "dropped_rows": table.dropped_rows,
                "layout": table.layout,
            }),
        )
        return self._held(dataset, account)

    def tables(self) -> list[HeldTable]:
        """Tables that can be used, newest first."""
        pairs = [(dataset, self.ledger.account(dataset.fingerprint)) for dataset in self.ledger.datasets()]
        return [self._held(dataset, account) for dataset, account in reversed(pairs) if _current(dataset, account)]

    def table(self, identity: str) -> HeldTable:
        dataset = self.ledger.dataset(identity)
        account = self.ledger.account(dataset.fingerprint)
        if not _current(dataset, account):
            raise Refused("The unit of privacy of this data was changed since; add the table again with the new one.")
        return self._held(dataset, account)

    def plan(
        self,
        table: HeldTable | str,
        queries: Sequence[QueryClass],
        *,
        mechanism: str,
        budget: Budget,
        records: int | None = None,
        edition: int = 1,
        **options: Any,
    ) -> Plan:
        """Price a release without spending anything; every refusal happens here."""
        held = self.table(table if isinstance(table, str) else table.id)
        for value, parameter, most in ((records, "records", _most_records(held.domain)), (edition, "edition", 10**6)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most):
                raise BadParameter(parameter, f"must be a whole number from 1 to {most:,}.")
        chosen = mechanism_from(mechanism, queries, budget, options)
        domain = asked(chosen.queries, held.domain)
        chosen.check(domain, held.unit)
        account = self.ledger.account(self.ledger.dataset(held.id).fingerprint)
        cost = chosen.cost(domain, held.unit)
        return Plan(
            table=held.id,
            queries=tuple(chosen.queries),
            mechanism=mechanism,
            budget=budget,
            options=options,
            records=records,
            edition=edition,
            cost=cost,
            units=accounting.units(cost, _order(account)),
            expected_error=chosen.expected(domain, held.unit),
            priced_for=account,
        )

    def affordable(self, plan: Plan) -> bool:
        """Whether the plan is already paid for or still fits the budget."""
        account = self.ledger.account(plan.priced_for.fingerprint)
        return self.ledger.entry(plan.id) is not None or plan.units <= account.left

    def release(self, plan: Plan) -> Release:
        """Pay once, run, store, return; the same plan gives the same bytes again at no cost."""
        self._reserve(plan)
        return self._finish(plan.id)

    def submit(self, plan: Plan) -> str:
        """Pay now and run in the background; `progress` and `result` follow it by the plan's id."""
        self._reserve(plan)
        self._start(plan.id)
        return plan.id

    def resume(self) -> list[str]:
        """Start again every paid plan that has no result yet, for instance after the server was killed."""
        waiting = [entry.plan_id for entry in self.ledger.pending()]
        for plan_id in waiting:
            self._start(plan_id)
        return waiting

    def progress(self, plan_id: str) -> Progress:
        entry = self.ledger.entry(plan_id)
        if entry is None:
            return Progress(state="unpaid")
        if entry.status == "stored":
            return Progress(state="done", share=1.0)
        with self._lock:
            return self._running.get(plan_id, Progress(state="stopped", note=entry.note))

    def result(self, plan_id: str) -> Release | None:
        stored = self.ledger.result(plan_id)
        return Release(stored) if stored is not None else None

    def statement(self, table: HeldTable | str) -> Statement:
        """The account of a table: what is left, and every spend."""
        dataset = self.ledger.dataset(table if isinstance(table, str) else table.id)
        account = self.ledger.account(dataset.fingerprint)
        budget = Budget.from_json(json.loads(account.budget_json))
        return Statement(
            budget=budget,
            spent_share=account.spent / account.total if account.total else 1.0,
            left_epsilon=accounting.remaining_epsilon(account.left, _order(account), budget.delta),
            entries=tuple(self.ledger.entries(fingerprint=account.fingerprint)),
            total=account.total,
            changes=tuple(self.ledger.overrides(account.fingerprint)),
        )

    def change_budget(self, table: HeldTable | str, budget: Budget, *, reason: str) -> HeldTable:
        """Change a total budget after the first spend: possible only with a reason, which stays on record."""
        dataset = self.ledger.dataset(table if isinstance(table, str) else table.id)
        account = self.ledger.account(dataset.fingerprint)
        if budget.pure != (account.order is None):
            raise BadParameter("delta", "cannot change between 0 and above 0 once an account is open.")
        changed = self.ledger.raise_total(
            account.fingerprint,
            budget_json=_canonical(budget.to_json()),
            order=account.order,
            total=accounting.capacity(budget, _order(account)),
            reason=reason,
        )
        return self._held(dataset, changed)

    def close(self) -> None:
        """Let the running release finish and accept no more."""
        self._executor.shutdown(wait=True)

    def _reserve(self, plan: Plan) -> None:
        if self.ledger.entry(plan.id) is None:
            # A table that cannot be opened must be found out before it is paid for; a stored release needs no table.
            self._open(plan.table)
        self.ledger.reserve(
            plan_id=plan.id,
            dataset_id=plan.table,
            plan_json=plan.content,
            units=plan.units,
            account=plan.priced_for,
        )

    def _start(self, plan_id: str) -> None:
        with self._lock:
            if plan_id in self._running:
                return
            self._running[plan_id] = Progress(state="running", stage="Waiting")
        self._executor.submit(self._work, plan_id)

    def _work(self, plan_id: str) -> None:
        """Background twin of `release`: a failure is on the plan's record, so nothing is raised into the void."""
        try:
            self._finish(plan_id)
        except DeskError:
            pass
        finally:
            with self._lock:
                self._running.pop(plan_id, None)

    def _finish(self, plan_id: str) -> Release:
        """Run a paid plan unless its result is stored already."""
        entry = self.ledger.entry(plan_id)
        if entry is None:
            raise Unknown("This plan was never paid for.")
        stored = self.ledger.result(plan_id)
        if stored is None:
            try:
                stored = self.ledger.store(plan_id, self._run(entry).zip())
            except Exception as problem:
                # The note must not depend on the data or the noise: a fixed sentence and the kind of error only.
                own = isinstance(problem, DeskError)
                note = str(problem) if own else f"The run stopped ({type(problem).__name__})."
                self.ledger.failed(plan_id, note)
                raise Failed(f"{note} It is paid for: run the same plan again at no cost.") from None
        return Release(stored)

    def _run(self, entry: Entry) -> Release:
        held = self.table(entry.dataset_id)
        plan = json.loads(entry.plan_json)
        queries = [query_from_json(query) for query in plan["queries"]]
        budget = Budget.from_json(plan["budget"])
        mechanism = mechanism_from(plan["mechanism"], queries, budget, plan["options"])
        self._report(entry.plan_id, "Opening the table", 0.0)
        focused = Focused(self._open(held.id), asked(queries, held.domain))
        model = mechanism.run(
            focused, self._noise, lambda stage, share: self._report(entry.plan_id, stage, 0.8 * share)
        )
        self._report(entry.plan_id, "Drawing records", 0.8)
        records = plan["records"] or min(max(round(model.total), 1), _most_records(held.domain))
        certificate = certify(entry.plan_id, held.domain, held.unit, mechanism, model, records)
        layout = self._open(held.id).layout
        return Release.pack(widened(held.domain, model), certificate, self._noise.generator(), layout)

    def _report(self, plan_id: str, stage: str, share: float) -> None:
        with self._lock:
            if plan_id in self._running:
                self._running[plan_id] = Progress(state="running", stage=stage, share=share)

    def _load(self, identity: str) -> Table:
        return Table.open(self._place(identity))

    def _place(self, identity: str) -> Path:
        return self.folder / "tables" / identity

    @staticmethod
    def _held(dataset: Dataset, account: Account) -> HeldTable:
        details = json.loads(dataset.details_json)
        return HeldTable(
            id=dataset.id,
            name=dataset.name,
            domain=Domain.from_json(dataset.schema_json),
            unit=Unit.from_json(details.pop("unit")),
            budget=Budget.from_json(json.loads(account.budget_json)),
            added=dataset.created_at,
            notes=details,
        )


def _most_records(domain: Domain) -> int:
    return MOST_VALUES // len(domain)


def _current(dataset: Dataset, account: Account) -> bool:
    return _canonical(json.loads(dataset.details_json)["unit"]) == account.unit_json


def _order(account: Account) -> Fraction | None:
    return None if account.order is None else Fraction(account.order)


def _text(order: Fraction | None) -> str | None:
    return None if order is None else str(order)


def _canonical(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _name_of(source: Any) -> str:
    return Path(source).stem if isinstance(source, str | Path) else "table"


def _tidy(name: str) -> str:
    """A display name: no folders, no control characters."""
    return printable(name.replace("\\", "/").rsplit("/", 1)[-1].strip()) or "table"
