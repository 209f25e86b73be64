"""The desk: the only door for the dashboard and for notebooks.

It joins what the other files keep apart: private tables, mechanisms, noise and the ledger. The order is always the
same: plan (free) -> reserve in the ledger (paid, committed) -> run -> store (committed) -> return. A crash in between
may cost budget; it never gives a free or a second answer, and a paid plan can be finished later at no cost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from core.base.errors import BadParameter, Refused, Unknown, printable
from core.desk.background import Background
from core.desk.shared import SharedItem, SharedItems
from core.desk.surveys import Found, Surveys
from core.desk.workspace import workspace
from core.kernel.kernel import Kernel
from core.ledger.ledger import Entry, Ledger
from core.mechanisms.discovery.discovery import SurveyKind
from core.models.widened import widened
from core.plans.canonical import canonical, identity
from core.plans.noise_choice import with_better_noise
from core.plans.plan import Plan
from core.plans.pricing import PricedRelease, PricedSession, check_paid, most_records, price_release
from core.plans.release_terms import ReleaseTerms
from core.plans.run_once import ENDED, is_void, run_once
from core.plans.session_plan import SessionPlan
from core.plans.session_terms import SessionTerms, leave_out
from core.plans.statements import DeskTable, RunProgress, Statement, current
from core.plans.terms import is_discovery, is_session, read_terms
from core.privacy.budget import Budget
from core.privacy.filters import PURE, Filters
from core.privacy.noise import Noise, NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.registry import offline
from core.release.certificate import certify
from core.release.release import Release
from core.schema.domain import Domain
from core.sessions.from_release import classes_of
from core.sessions.pace import Pace
from core.sessions.session import Session
from core.sessions.workspace_sessions import Sessions
from core.table.counts import Counts
from core.table.table import Table

OPEN_TABLES = 4


class Desk:
    """One curator's workspace."""

    def __init__(self, folder: str | Path | None = None, *, pace: Pace | None = None) -> None:
        """`pace` is the clock that answers of sessions are timed by; tests bring their own."""
        self.folder = workspace(folder)
        self.ledger = Ledger(self.folder / "ledger.sqlite")
        self._noise = Noise()
        self._intake = Lock()
        self._turns: defaultdict[str, Lock] = defaultdict(Lock)
        self._background = Background()
        self._open = lru_cache(maxsize=OPEN_TABLES)(self._load)
        self.shared_items = SharedItems(self.folder / "shared")
        self._surveys = Surveys(self.ledger, self._noise)
        self._sessions = Sessions(
            self.folder, self.ledger, self._noise, table=self.table, counts=self._open, pace=pace or Pace()
        )

    def add_table(
        self, source: Any, domain: Domain, *, unit: Unit, budget: Budget, name: str | None = None
    ) -> DeskTable:
        """Take in a table: encode it by the public schema, open its budget, forget the raw rows.

        The budget belongs to the data, not to the schema: adding the same data again gives the same table if schema and
        unit are the same, and otherwise another table that spends from the same budget.
        """
        if Filters.of(budget).total == 0:
            raise BadParameter("epsilon", "is too small to pay for anything; try 1.")
        table = Table.load(source, domain, unit, self._noise)
        with self._intake:
            return self._take_in(table, unit, budget, name if name is not None else _name_of(source))

    def _take_in(self, table: Table, unit: Unit, budget: Budget, name: str) -> DeskTable:
        account = self.ledger.open_account(
            fingerprint=table.fingerprint,
            unit_json=canonical(unit.to_json()),
            budget_json=canonical(budget.to_json()),
            filters=Filters.of(budget),
        )
        for known in self.tables():
            if self.ledger.dataset(known.id).fingerprint == account.fingerprint and known.domain == table.domain:
                if not self._place(known.id).exists():
                    table.save(self._place(known.id))
                return known
        identity = f"{int(self._noise.keys(1)[0]):016x}"
        table.save(self._place(identity))
        dataset = self.ledger.add_dataset(
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
                }
            ),
        )
        return DeskTable.of(dataset, account)

    def discover(
        self, source: Any, columns: Mapping[str, SurveyKind], *, unit: Unit, total: Budget, part: Budget
    ) -> Found:
        """Buy bounds and categories of columns that no code book has, with a part of the total budget of the data."""
        return self._surveys.discover(source, columns, unit=unit, total=total, part=part)

    def tables(self) -> list[DeskTable]:
        """Tables that can be used, newest first."""
        pairs = [(dataset, self.ledger.account(dataset.fingerprint)) for dataset in self.ledger.datasets()]
        return [DeskTable.of(dataset, account) for dataset, account in reversed(pairs) if current(dataset, account)]

    def table(self, identity: str) -> DeskTable:
        dataset = self.ledger.dataset(identity)
        account = self.ledger.account(dataset.fingerprint)
        if not current(dataset, account):
            raise Refused("The unit of privacy of this data was changed since; add the table again with the new one.")
        return DeskTable.of(dataset, account)

    def plan(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        *,
        mechanism: str,
        budget: Budget,
        records: int | None = None,
        edition: int = 1,
        **options: Any,
    ) -> Plan:
        """Price a release without spending anything; every refusal happens here.

        A budget with a delta gives a plan without one where pure noise has the smaller error.
        """
        terms = ReleaseTerms(
            queries=tuple(queries), mechanism=mechanism, budget=budget, options=options, records=records
        )
        return self.plan_from(table, terms, edition=edition)

    def plan_from(self, table: DeskTable | str, terms: ReleaseTerms, *, edition: int = 1) -> Plan:
        """The same for a choice that was made before: on a page, in a plan file or in another workspace."""
        own = self.table(table if isinstance(table, str) else table.id)
        priced = with_better_noise(
            lambda chosen: self._price(chosen.write(), own),
            replace(terms.without_table(), table=own.id, edition=edition),
            paid=lambda plan_id: self.ledger.entry(plan_id) is not None,
            error=lambda each: each.mechanism.expected(each.domain, own.unit).mean,
        )
        return Plan(
            table=own.id,
            queries=terms.queries,
            mechanism=terms.mechanism,
            budget=priced.terms.budget,
            options=terms.options,
            records=terms.records,
            edition=edition,
            cost=priced.cost,
            amounts=priced.amounts,
            units=priced.units,
            expected_error=priced.mechanism.expected(priced.domain, own.unit),
        )

    def plan_session(
        self,
        table: DeskTable | str,
        *,
        mechanism: str,
        budget: Budget,
        columns: Sequence[str] | None = None,
        earlier: str | None = None,
        edition: int = 1,
        **options: Any,
    ) -> SessionPlan:
        """Price a session of an interactive mechanism without spending anything; every refusal happens here.

        Options that are left out are the usual ones, or where those cannot be kept the ones the mechanism proposes.
        """
        return self._sessions.plan(
            self.table(table if isinstance(table, str) else table.id),
            mechanism=mechanism,
            budget=budget,
            columns=columns,
            earlier=earlier,
            edition=edition,
            options=options,
        )

    def open_session(self, plan: SessionPlan) -> Session:
        """Pay for the whole session once and open it; the same plan is the same session again at no cost."""
        plan_id = self._reserve(plan, (SessionPlan,))
        self._finish(plan_id)
        return self.session(plan_id)

    def ask(
        self,
        table: DeskTable | str,
        *,
        mechanism: str | None = None,
        budget: Budget | None = None,
        release: str | None = None,
        queries: Sequence[QueryClass] | None = None,
        columns: Sequence[str] | None = None,
        earlier: str | None = None,
        edition: int = 1,
        **options: Any,
    ) -> Session:
        """A session to ask questions in; the same call gives the same session, in any tab, process or year.

        With an interactive mechanism its whole budget is reserved now. With any other mechanism a release is made (of
        `queries`, or of the pairs of `columns`) and answers from then on without limit. With `release`, the id of a
        stored one, nothing is spent.
        """
        own = self.table(table if isinstance(table, str) else table.id)
        wanted = {"mechanism": mechanism, "budget": budget, "columns": columns, "earlier": earlier, "queries": queries}
        if release is not None:
            leave_out({**wanted, **options}, "a stored release is asked as it is")
            return self._sessions.from_release(release, own, edition)
        if mechanism is None or budget is None:
            raise BadParameter("mechanism", "name a mechanism and a budget, or a stored release.")
        if mechanism in offline:
            leave_out({"earlier": earlier}, f"'{mechanism}' starts from nothing")
            classes = classes_of(queries, columns, own.domain)
            plan = self.plan(own, classes, mechanism=mechanism, budget=budget, edition=edition, **options)
            self.release(plan)
            return self._sessions.from_release(plan.id, own, edition=1)
        leave_out({"queries": queries}, f"'{mechanism}' answers any question")
        asked = {"columns": columns, "earlier": earlier, "edition": edition, **options}
        return self.open_session(self.plan_session(own, mechanism=mechanism, budget=budget, **asked))

    def session(self, session_id: str) -> Session:
        """A session by its id, as it was left."""
        return self._sessions.session(session_id)

    def sessions(self, table: DeskTable | str | None = None) -> list[Session]:
        """Newest first: of one table, or all."""
        return self._sessions.sessions(table.id if isinstance(table, DeskTable) else table)

    def affordable(self, plan: Plan | SessionPlan) -> bool:
        """Whether the plan is already paid for or still fits the budget."""
        priced = self._priced(_written(plan))
        return priced is None or priced.units <= priced.account.left

    def release(self, plan: Plan) -> Release:
        """Pay once, run, store, return; the same plan gives the same bytes again at no cost."""
        return Release(self._finish(self._reserve(plan, (Plan,))))

    def submit(self, plan: Plan | SessionPlan) -> str:
        """Pay now and run in the background; `progress` and `result` follow it by the id that this gives."""
        plan_id = self._reserve(plan)
        self._background.start(plan_id, self._finish)
        return plan_id

    def resume(self) -> list[str]:
        """Start again every paid plan that has no result yet, for instance after the server was killed.

        A session that was paid for but never opened is opened; one that was opened has its result and needs nothing.
        """
        waiting = [entry.plan_id for entry in self.ledger.pending() if not is_discovery(entry)]
        for plan_id in waiting:
            self._background.start(plan_id, self._finish)
        return waiting

    def progress(self, plan_id: str) -> RunProgress:
        entry = self.ledger.entry(plan_id)
        if entry is None:
            return RunProgress(state="unpaid")
        if is_void(entry):
            return RunProgress(state="ended", note=ENDED)
        if entry.status == "stored":
            return RunProgress(state="done", share=1.0)
        return self._background.progress(plan_id) or RunProgress(state="stopped", note=entry.note)

    def result(self, plan_id: str) -> Release | None:
        """The stored release; None while there is none, and for a session, which `session` gives."""
        entry = self.ledger.entry(plan_id)
        other = entry is None or is_session(entry) or is_discovery(entry)
        stored = None if other else self.ledger.result(plan_id)
        return Release(stored) if stored else None

    def share(self, identity: str, *, title: str, note: str = "") -> SharedItem:
        """Show a stored release or an open session to every visitor; it is public by its promise anyway."""
        if self.result(identity) is not None:
            return self.shared_items.put(identity, kind="release", title=title, note=note)
        return self.shared_items.put(self.session(identity).id, kind="session", title=title, note=note)

    def truth(self, table: DeskTable | str) -> Counts:
        """The exact counts of a table, for the curator's own eyes: nothing computed from them may leave the desk."""
        return self._open(self.table(table if isinstance(table, str) else table.id).id)

    def statement(self, table: DeskTable | str) -> Statement:
        """The account of a table: what is left, and every spend."""
        dataset = self.ledger.dataset(table if isinstance(table, str) else table.id)
        account = self.ledger.account(dataset.fingerprint)
        return Statement.of(
            account,
            self.ledger.entries(fingerprint=account.fingerprint),
            self.ledger.overrides(account.fingerprint),
        )

    def change_budget(self, table: DeskTable | str, budget: Budget, *, reason: str) -> DeskTable:
        """Change a total budget after the first spend: possible only with a reason, which stays on record."""
        dataset = self.ledger.dataset(table if isinstance(table, str) else table.id)
        account = self.ledger.account(dataset.fingerprint)
        if budget.pure != (account.filters.ways.keys() == {PURE}):
            raise BadParameter("delta", "cannot change between 0 and above 0 once an account is open.")
        changed = self.ledger.change_budget(
            account.fingerprint,
            budget_json=canonical(budget.to_json()),
            filters=account.filters.changed(budget),
            reason=reason,
        )
        return DeskTable.of(dataset, changed)

    def close(self) -> None:
        """Let the running release finish and accept no more."""
        self._background.close()
        self._sessions.file.let_go()

    def _reserve(self, plan: Plan | SessionPlan, kinds: tuple[type, ...] = (Plan, SessionPlan)) -> str:
        """Pay for what a plan says, at the price that follows from it now; gives the id under which it is kept."""
        if not isinstance(plan, kinds):
            raise BadParameter("plan", "is not of the kind that this needs; make it with the desk.")
        # Read once: whatever else the object says later, this text is what is priced, kept and run.
        content = _written(plan)
        priced = self._priced(content)
        if priced is None:
            return identity(content)
        if priced.amounts != plan.amounts:
            raise Refused("This plan has another price than it says; make the plan again.")
        # A table that cannot be opened must be found out before it is paid for; a stored release needs no table.
        self._open(priced.table.id)
        return self.ledger.reserve(
            plan_id=priced.id,
            dataset_id=priced.table.id,
            plan_json=priced.content,
            amounts=priced.amounts,
            account=priced.account,
        ).plan_id

    def _priced(self, content: str) -> PricedRelease | PricedSession | None:
        """What the words of a plan cost now; None where they are paid for already."""
        if self.ledger.entry(identity(content)) is not None:
            return None
        terms = read_terms(content)
        table = self.table(str(terms.table))
        return self._sessions.price(content, table) if isinstance(terms, SessionTerms) else self._price(content, table)

    def _price(self, content: str, table: DeskTable) -> PricedRelease:
        return price_release(content, table, self.ledger.account(self.ledger.dataset(table.id).fingerprint))

    def _finish(self, plan_id: str) -> bytes:
        """Run a paid plan, or open a paid session, unless its result is stored already."""
        entry = self.ledger.entry(plan_id)
        if entry is None:
            raise Unknown("This plan was never paid for.")
        begin = self._sessions.begin if is_session(entry) else self._run
        # One run at a time: which of two draws is stored must not depend on how long each took.
        with self._turns[plan_id]:
            return run_once(self.ledger, plan_id, self._noise, lambda noise: begin(entry, noise))

    def _run(self, entry: Entry, noise: NoiseSource) -> bytes:
        priced = self._price(entry.plan_json, self.table(entry.dataset_id))
        check_paid(priced, entry)
        table, mechanism = priced.table, priced.mechanism
        self._background.report(entry.plan_id, "Opening the table", 0.0)
        counts = self._open(table.id).project(priced.domain.names)
        model = mechanism.run(
            Kernel(counts, noise, priced.cost),
            lambda stage, share: self._background.report(entry.plan_id, stage, 0.8 * share),
        )
        self._background.report(entry.plan_id, "Drawing records", 0.8)
        records = priced.terms.records or min(max(round(model.total), 1), most_records(table.domain))
        certificate = certify(entry.plan_id, table.domain, table.unit, mechanism, model, records)
        layout = self._open(table.id).layout
        return Release.pack(widened(table.domain, model), certificate, noise.generator(), layout).zip()

    def _load(self, identity: str) -> Table:
        return Table.open(self._place(identity))

    def _place(self, identity: str) -> Path:
        return self.folder / "tables" / identity


def _written(plan: Plan | SessionPlan) -> str:
    """A plan from its fields, whatever else its object carries."""
    return ReleaseTerms.write(plan) if isinstance(plan, Plan) else SessionTerms.write(plan)


def _name_of(source: Any) -> str:
    return Path(source).stem if isinstance(source, str | Path) else "table"


def _tidy(name: str) -> str:
    """A display name: no folders, no control characters."""
    return printable(name.replace("\\", "/").rsplit("/", 1)[-1].strip()) or "table"
