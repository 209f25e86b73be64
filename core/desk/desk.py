"""The desk: the only door for the dashboard and for notebooks.

It joins what the other files keep apart: private tables, mechanisms, noise and the ledger. The order is always the
same: plan (free) -> reserve in the ledger (paid, committed) -> run -> store (committed) -> return. A crash in between
may cost budget; it never gives a free or a second answer, and a paid plan can be finished later at no cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from core.base.errors import Refused
from core.desk.kept.shared import SharedItem
from core.desk.parts import Parts
from core.desk.payments import AnyPlan
from core.desk.recommended import Recommendation
from core.desk.release_attacks import RUNS, AttackedRelease
from core.desk.running.take_over import TakeOver
from core.desk.session_desk import SessionDesk
from core.desk.tables.surveys import Found
from core.desk.workspace import outside, workspace
from core.ledger.lost_spends import Lost
from core.mechanisms.discovery.discovery import SurveyKind
from core.mechanisms.kit.protocol import Progress, silent
from core.planning.budget_for import ErrorKind
from core.planning.simulation.error_map import ErrorMap
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.look_alike import ColumnSketch
from core.planning.simulation.stand_ins import StandIns
from core.plans.decision_plan import DecisionPlan
from core.plans.plan import Plan
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable, RunProgress, Statement
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.release.decision_release import DecisionRelease
from core.release.release import Release
from core.schema.domain import Domain
from core.sessions.pace import Pace
from core.table.counts import Counts


class Desk(SessionDesk):
    """One curator's workspace."""

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        pace: Pace | None = None,
        journal: Path | None = None,
        worker: bool = False,
        ledger: str | Path | None = None,
    ) -> None:
        """`pace` is the clock that answers of sessions are timed by; tests bring their own.

        `journal` is the folder beyond the workspace in which spends are noted too, so that an older copy is noticed.
        With a `worker` what is submitted runs in a process of its own and does not hold up this one. `ledger` is the
        address of a PostgreSQL database in which several servers keep spends, sessions and shared items; left out, the
        environment may name one, and otherwise they are files of the workspace (`books.py`).
        """
        self.folder = workspace(folder)
        self._parts = parts = Parts(
            self.folder, journal or outside(), pace=pace or Pace(), worker=worker, ledger=ledger
        )
        self._take_over: TakeOver | None = None
        self.ledger = parts.ledger
        self.labels = parts.labels
        self.shared_items = parts.shared_items
        self.drafts = parts.drafts
        self.publisher = parts.publisher
        self.machine_keys = parts.machine_keys
        self.known_rows = parts.known_rows
        self.told_figures = parts.told_figures
        self.session_choice = parts.session_choice

    def add_table(
        self,
        source: Any,
        domain: Domain,
        *,
        unit: Unit,
        budget: Budget,
        name: str | None = None,
        apart: str | None = None,
    ) -> DeskTable:
        """Take in a table: encode it by the public schema, open its budget, forget the raw rows.

        The budget belongs to the people, not to the file or the schema: adding the same data again gives the same table
        if schema and unit are the same, and otherwise another table that spends from the same budget. So do the same
        rows in another order, format or choice of columns, unless `apart` gives a reason, which stays on record.
        """
        return self._parts.tables.add(source, domain, unit=unit, budget=budget, name=name, apart=apart)

    def discover(
        self,
        source: Any,
        columns: Mapping[str, SurveyKind],
        *,
        unit: Unit,
        total: Budget,
        part: Budget,
        apart: str | None = None,
    ) -> Found:
        """Buy bounds and categories of columns that no code book has, with a part of the total budget of the data.

        Which account pays, and what `apart` is, is as in `add_table`.
        """
        return self._parts.surveys.discover(source, columns, unit=unit, total=total, part=part, apart=apart)

    def tables(self, *, archived: bool = False) -> list[DeskTable]:
        """Tables that can be used, newest first; or those that were put away, which can be brought back."""
        return self._parts.tables.all(archived=archived)

    def rename(self, identity: str, name: str) -> None:
        """Call a table or release so at this desk from now on; certificates and the ledger stay as they are."""
        self._check_held(identity)
        self.labels.rename(identity, name)

    def archive(self, identity: str) -> None:
        """Put a table or release away; it is kept, and so is what was spent on it."""
        self._check_held(identity)
        self.labels.archive(identity)

    def restore(self, identity: str) -> None:
        """Bring back what was put away."""
        self._check_held(identity)
        self.labels.archive(identity, away=False)

    def _check_held(self, identity: str) -> None:
        if self.ledger.entry(identity) is None:
            self.ledger.dataset(identity)

    def table(self, table: DeskTable | str) -> DeskTable:
        """A table by its id, or as it is now."""
        return self._parts.tables.find(_id_of(table))

    def plan(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        *,
        mechanism: str,
        budget: Budget,
        records: int | None = None,
        edition: int = 1,
        measure: object = None,
        copies: int = 0,
        stand_ins: StandIns | None = None,
        **options: Any,
    ) -> Plan:
        """Price a release without spending anything; every refusal happens here.

        A budget with a delta gives a plan without one where pure noise has the smaller error. `measure` is the part of
        the budget, from 0.01 to 0.05, that measures the finished release against the table, or 0; left out, it is the
        usual one where what is public of the number of rows says that the figures tell something. The error to expect
        is simulated on public stand-ins: those given (`stand_ins`), else what the desk knows without opening the table.
        `copies` more sets of records show what the noise does to an estimate (`Release.estimate`) and cost nothing.
        """
        own = self.table(table)
        terms = ReleaseTerms(
            queries=tuple(queries),
            mechanism=mechanism,
            budget=budget,
            options=options,
            records=records,
            edition=edition,
            copies=copies,
        )
        return self._parts.planner.plan(own, self._parts.planner.measuring(own, terms, measure), stand_ins)

    def plan_from(
        self, table: DeskTable | str, terms: ReleaseTerms, *, edition: int = 1, stand_ins: StandIns | None = None
    ) -> Plan:
        """The same for a choice that was made before: on a page, in a plan file or in another workspace."""
        return self._parts.planner.plan(self.table(table), replace(terms, edition=edition), stand_ins)

    def refine(self, plan: Plan, *, stand_ins: StandIns | None = None) -> Iterator[Figure]:
        """Better and better figures of a plan, one after each further trial; for work in the background."""
        return self._parts.planner.refine(plan, stand_ins)

    def stand_ins(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        *,
        rows: int | None = None,
        sample: pd.DataFrame | None = None,
        sketch: ColumnSketch | None = None,
    ) -> StandIns:
        """Public tables that figures are simulated on: `rows` is declared, never read off the table."""
        own = self.table(table)
        return self.told_figures.stand_ins(own, queries, rows=rows, sample=sample, sketch=sketch)

    def recommend(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        budget: Budget,
        *,
        measure: object = None,
        rows: int | None = None,
        sample: pd.DataFrame | None = None,
        sketch: ColumnSketch | None = None,
    ) -> Recommendation:
        """Every mechanism: plans with their figures, the best first, each with a reason; and why others are refused."""
        own = self.table(table)
        public = self.told_figures.stand_ins(own, queries, rows=rows, sample=sample, sketch=sketch)
        return self._parts.planner.recommend(own, queries, budget, measure, public)

    def error_map(self, plan: Plan, stand_ins: StandIns) -> ErrorMap:
        """Where a plan's release would be off, by column, pair and class, in one run on a stand-in."""
        return self._parts.planner.error_map(plan, stand_ins)

    def budget_for(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        *,
        mechanism: str,
        within: float,
        delta: float = 0.0,
        error: ErrorKind = "worst",
        stand_ins: StandIns | None = None,
        **options: Any,
    ) -> Budget:
        """The smallest budget with which nine releases of ten err by at most `within` rows, as simulated."""
        public = stand_ins or self.stand_ins(table, queries)
        return self._parts.planner.budget_for(
            queries, mechanism, options, public, within=within, delta=delta, error=error
        )

    def plan_decision(
        self,
        table: DeskTable | str,
        problem: str,
        *,
        public: Mapping[str, Any],
        budget: Budget,
        edition: int = 1,
    ) -> DecisionPlan:
        """Price a private decision without spending anything; every refusal happens here.

        `problem` is one of the problems of the registry, or a decision by its own name; `public` is its public part:
        sites, sets, columns and settings by their names.
        """
        return self._parts.decisions.plan(self.table(table), problem, public, budget, edition)

    def decide(
        self,
        table: DeskTable | str,
        problem: str,
        *,
        public: Mapping[str, Any],
        budget: Budget,
        edition: int = 1,
    ) -> DecisionRelease:
        """Decide privately: pay once, run, store, return; the same call gives the same decision again at no cost."""
        plan = self.plan_decision(table, problem, public=public, budget=budget, edition=edition)
        return DecisionRelease(self._parts.payments.finish(self._parts.payments.reserve(plan, (DecisionPlan,))))

    def decision(self, plan_id: str) -> DecisionRelease | None:
        """A stored decision; None while there is none."""
        return self._parts.decisions.stored(plan_id)

    def affordable(self, plan: AnyPlan) -> bool:
        """Whether the plan is already paid for or still fits the budget."""
        return self._parts.payments.affordable(plan)

    def release(self, plan: Plan) -> Release:
        """Pay once, run, store, return; the same plan gives the same bytes again at no cost."""
        return Release(self._parts.payments.finish(self._parts.payments.reserve(plan, (Plan,))))

    def get_ready(self) -> None:
        """Start the process that runs what is submitted, where there is one, before the first plan needs it."""
        self._parts.payments.get_ready()

    def submit(self, plan: AnyPlan) -> str:
        """Pay now and run in the background; `progress` and `result` follow it by the id that this gives."""
        return self._parts.payments.submit(plan)

    def finish(self, plan_id: str, progress: Progress = silent) -> None:
        """Run what is paid for, here and now, unless it has its result."""
        self._parts.payments.finish(plan_id, progress)

    def resume(self) -> list[str]:
        """Start again every paid plan that has no result yet, for instance after the server was killed.

        A session that was paid for but never opened is opened; one that was opened has its result and needs nothing.
        What another server on the same workspace is at is left to it. Sessions that have ended give back what they
        never used, where a crash kept them from that.
        """
        if self.ledger.lost():
            return []
        self._parts.sessions.settle()
        return self._parts.payments.resume()

    def keep_resuming(self) -> None:
        """Resume now, and, where other servers share the ledger, whatever one of them leaves when it dies."""
        self.resume()
        seconds = self.ledger.attempts.runs_out
        if seconds is not None and self._take_over is None:
            self._take_over = TakeOver(self.resume, seconds / 2)

    def progress(self, plan_id: str) -> RunProgress:
        return self._parts.payments.progress(plan_id)

    def result(self, plan_id: str) -> Release | None:
        """The stored release; None while there is none, and for what `session` and `decision` give."""
        return self._parts.releases.stored(plan_id)

    def share(self, identity: str, *, title: str, note: str = "", hard: int = 0, kept: int = 0) -> SharedItem:
        """Show a stored release, decision or open session to every visitor; it is public by its promise anyway.

        A visit takes at most `hard` of a session's hard answers, and all visits leave `kept` of them.
        """
        if self.result(identity) is not None:
            return self.shared_items.put(identity, kind="release", title=title, note=note)
        if self.decision(identity) is not None:
            return self.shared_items.put(identity, kind="decision", title=title, note=note)
        session = self.session(identity).id
        return self.shared_items.put(session, kind="session", title=title, note=note, hard=hard, kept=kept)

    def admit_machines(self, session_id: str, *, per_minute: int) -> str:
        """The token with which programs may ask a shared session by HTTP; it is told once and replaces an older one."""
        item = self.shared_items.find(session_id)
        if item is None or item.kind != "session":
            raise Refused("Share the session first: programs ask what everybody may ask.")
        return self.machine_keys.make(session_id, per_minute=per_minute)

    def misfits(self, plan: DecisionPlan) -> dict[str, int]:
        """Rows that a decision leaves out or counts otherwise, for the curator's own eyes, as `truth`."""
        return self._parts.decisions.misfits(plan)

    def truth(self, table: DeskTable | str) -> Counts:
        """The exact counts of a table, for the curator's own eyes: nothing computed from them may leave the desk."""
        return self._parts.counts(self.table(table).id)

    def attack(self, plan_id: str, secret: str, *, runs: int = RUNS, progress: Progress = silent) -> AttackedRelease:
        """Attack a stored release and what people do instead, for the curator's own eyes, as `truth`; nothing is spent.

        `secret` is the column that the attacker wants to know. The same terms run again on random halves of the rows.
        """
        return self._parts.attacks.attack(plan_id, secret, runs=runs, progress=progress)

    def statement(self, table: DeskTable | str) -> Statement:
        """The account of a table: what is left, and every spend."""
        return self._parts.accounts.statement(self._fingerprint(table))

    def account_name(self, table: DeskTable | str) -> str:
        """What the account that pays for a table is called: as the first table that it was opened for."""
        return self.ledger.account_name(self._fingerprint(table))

    def same_account(self, one: DeskTable, other: DeskTable) -> bool:
        """Whether two tables spend from one budget, because their rows are the same."""
        return self._fingerprint(one) == self._fingerprint(other)

    def lost(self) -> Lost:
        """What this workspace has spent and forgotten, because it was put back from an older copy."""
        return self.ledger.lost()

    def enter_lost(self) -> Lost:
        """Enter every lost spend; until then nothing is spent. Results that were lost cannot be drawn again."""
        return self.ledger.enter_lost()

    def change_budget(self, table: DeskTable | str, budget: Budget, *, reason: str) -> DeskTable:
        """Change a total budget after the first spend: possible only with a reason, which stays on record."""
        changed = self._parts.accounts.change_budget(self._fingerprint(table), budget, reason=reason)
        return DeskTable.of(self.ledger.dataset(_id_of(table)), changed)

    def _fingerprint(self, table: DeskTable | str) -> str:
        """Which account pays for a table."""
        return self.ledger.dataset(_id_of(table)).fingerprint

    def close(self) -> None:
        """Let the running release finish and accept no more."""
        if self._take_over is not None:
            self._take_over.close()
        self._parts.close()


def _id_of(table: DeskTable | str) -> str:
    return table if isinstance(table, str) else table.id
