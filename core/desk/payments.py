"""The way of every plan at the desk: its words are priced and paid for, run once, and the result is stored."""

from __future__ import annotations

from collections.abc import Callable

from core.base.errors import BadParameter, Refused, Unknown
from core.desk.decisions import Decisions
from core.desk.planner import Planner
from core.desk.releases import Releases
from core.desk.running.background import Background
from core.desk.running.worker import Worker
from core.ledger.attempts import Attempt
from core.ledger.ledger import Ledger
from core.mechanisms.kit.protocol import Progress, silent
from core.plans.canonical import identity
from core.plans.decision_plan import DecisionPlan
from core.plans.decision_terms import DecisionTerms
from core.plans.plan import Plan
from core.plans.pricing import PricedDecision, PricedRelease, PricedSession
from core.plans.release_terms import ReleaseTerms
from core.plans.run_once import ENDED, is_void, run_once
from core.plans.session_plan import SessionPlan
from core.plans.session_terms import SessionTerms
from core.plans.statements import DeskTable, RunProgress
from core.plans.terms import is_decision, is_discovery, is_session, read_terms
from core.privacy.noise import NoiseSource
from core.sessions.workspace_sessions import Sessions
from core.table.counts import Counts

AnyPlan = Plan | SessionPlan | DecisionPlan


class Payments:
    """What was paid for, and how far each run is."""

    def __init__(
        self,
        ledger: Ledger,
        noise: NoiseSource,
        background: Background,
        *,
        planner: Planner,
        releases: Releases,
        sessions: Sessions,
        decisions: Decisions,
        table: Callable[[str], DeskTable],
        counts: Callable[[str], Counts],
        worker: Worker | None,
    ) -> None:
        self._ledger = ledger
        self._noise = noise
        self._background = background
        self._planner = planner
        self._releases = releases
        self._sessions = sessions
        self._decisions = decisions
        self._table = table
        self._counts = counts
        self._worker = worker

    def affordable(self, plan: AnyPlan) -> bool:
        priced = self._priced(_written(plan))
        return priced is None or priced.units <= priced.account.left

    def reserve(self, plan: AnyPlan, kinds: tuple[type, ...] = (Plan, SessionPlan, DecisionPlan)) -> str:
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
        self._counts(priced.table.id)
        return self._ledger.reserve(
            plan_id=priced.id,
            dataset_id=priced.table.id,
            plan_json=priced.content,
            amounts=priced.amounts,
            account=priced.account,
        ).plan_id

    def submit(self, plan: AnyPlan) -> str:
        plan_id = self.reserve(plan)
        self._background.start(plan_id, self._work)
        return plan_id

    def resume(self) -> list[str]:
        """Start every paid plan that has no result, unless another process is at it."""
        pending = [entry.plan_id for entry in self._ledger.pending() if not is_discovery(entry)]
        waiting = [plan_id for plan_id in pending if not self._ledger.attempts.under_way(plan_id)]
        for plan_id in waiting:
            self._background.start(plan_id, self._work)
        return waiting

    def get_ready(self) -> None:
        """Whoever looks at a plan may submit it next: its process takes seconds to start."""
        if self._worker is not None:
            self._worker.start()

    def _work(self, plan_id: str) -> None:
        """In the background: in a process of its own where there is one."""

        def report(stage: str, share: float) -> None:
            self._background.report(plan_id, stage, share)

        if self._worker is None:
            self.finish(plan_id, report)
        else:
            self._worker.finish(plan_id, report)

    def finish(self, plan_id: str, progress: Progress = silent) -> bytes:
        """Run a paid plan, or open a paid session, unless its result is stored already."""
        entry = self._ledger.entry(plan_id)
        if entry is None:
            raise Unknown("This plan was never paid for.")

        def work(noise: NoiseSource, attempt: Attempt) -> bytes:
            if is_session(entry):
                return self._sessions.begin(entry, noise, attempt)
            run = self._decisions.run if is_decision(entry) else self._releases.run
            return run(entry, noise, progress)

        return run_once(self._ledger, plan_id, self._noise, work)

    def progress(self, plan_id: str) -> RunProgress:
        entry = self._ledger.entry(plan_id)
        if entry is None:
            return RunProgress(state="unpaid")
        if is_void(entry):
            return RunProgress(state="ended", note=ENDED)
        if entry.status == "stored":
            return RunProgress(state="done", share=1.0)
        here = self._background.progress(plan_id)
        if here is None and self._ledger.attempts.under_way(plan_id):
            return RunProgress(state="running", stage="Another process is at it")
        return here or RunProgress(state="stopped", note=entry.note)

    def _priced(self, content: str) -> PricedRelease | PricedSession | PricedDecision | None:
        """What the words of a plan cost now; None where they are paid for already."""
        if self._ledger.entry(identity(content)) is not None:
            return None
        terms = read_terms(content)
        table = self._table(str(terms.table))
        if isinstance(terms, SessionTerms):
            return self._sessions.price(content, table)
        if isinstance(terms, DecisionTerms):
            return self._decisions.price(content, table)
        return self._planner.price(content, table)


def _written(plan: AnyPlan) -> str:
    """A plan from its fields, whatever else its object carries."""
    if isinstance(plan, DecisionPlan):
        return DecisionTerms.write(plan)
    return ReleaseTerms.write(plan) if isinstance(plan, Plan) else SessionTerms.write(plan)
