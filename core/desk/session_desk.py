"""The part of the desk that prices, opens and finds sessions; the desk adds tables and releases to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from core.base.errors import BadParameter
from core.desk.parts import Parts
from core.planning.session_trials import SessionTrial
from core.plans.plan import Plan
from core.plans.session_plan import SessionPlan
from core.plans.session_terms import leave_out
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from core.registry import offline
from core.release.release import Release
from core.sessions.from_release import classes_of
from core.sessions.session import Session


class SessionDesk(ABC):
    """Sessions of a workspace, from the price to the answers."""

    _parts: Parts

    @abstractmethod
    def table(self, table: DeskTable | str) -> DeskTable: ...

    @abstractmethod
    def plan(
        self,
        table: DeskTable | str,
        queries: Sequence[QueryClass],
        *,
        mechanism: str,
        budget: Budget,
        edition: int = 1,
        **options: Any,
    ) -> Plan: ...

    @abstractmethod
    def release(self, plan: Plan) -> Release: ...

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
        return self._parts.sessions.plan(
            self.table(table),
            mechanism=mechanism,
            budget=budget,
            columns=columns,
            earlier=earlier,
            edition=edition,
            options=options,
        )

    def open_session(self, plan: SessionPlan) -> Session:
        """Pay for the whole session once and open it; the same plan is the same session again at no cost."""
        plan_id = self._parts.payments.reserve(plan, (SessionPlan,))
        self._parts.payments.finish(plan_id)
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

        Without a mechanism it is the one that does best on public tables like this one (`try_session`). With an
        interactive mechanism its whole budget is reserved now. With any other mechanism a release is made (of
        `queries`, or of the pairs of `columns`) and answers from then on without limit. With `release`, the id of a
        stored one, nothing is spent.
        """
        own = self.table(table)
        wanted = {"mechanism": mechanism, "budget": budget, "columns": columns, "earlier": earlier, "queries": queries}
        if release is not None:
            leave_out({**wanted, **options}, "a stored release is asked as it is")
            return self._parts.sessions.from_release(release, own, edition)
        if budget is None:
            raise BadParameter("budget", "say how much the session may spend, or name a stored release.")
        asked = {"columns": columns, "earlier": earlier, "edition": edition, **options}
        if mechanism is None:
            leave_out({"queries": queries}, "a session answers any question")
            mechanism = self._parts.session_choice.usual(
                own, budget, asked, paid=lambda name: self._paid_session(own, mechanism=name, budget=budget, **asked)
            )
        if mechanism in offline:
            leave_out({"earlier": earlier}, f"'{mechanism}' starts from nothing")
            classes = classes_of(queries, columns, own.domain)
            plan = self.plan(own, classes, mechanism=mechanism, budget=budget, edition=edition, **options)
            self.release(plan)
            return self._parts.sessions.from_release(plan.id, own, edition=1)
        leave_out({"queries": queries}, f"'{mechanism}' answers any question")
        return self.open_session(self.plan_session(own, mechanism=mechanism, budget=budget, **asked))

    def try_session(
        self,
        table: DeskTable | str,
        budget: Budget,
        *,
        columns: Sequence[str] | None = None,
        mechanism: str | None = None,
        **options: Any,
    ) -> SessionTrial:
        """How a session does on public tables like this one: one that is named, or the best. The table stays closed."""
        if mechanism is None:
            leave_out(options, "name the mechanism that they belong to")
        return self._parts.session_choice.trial(self.table(table), budget, columns, mechanism, options)

    def session(self, session_id: str) -> Session:
        """A session by its id, as it was left."""
        return self._parts.sessions.session(session_id)

    def sessions(self, table: DeskTable | str | None = None) -> list[Session]:
        """Newest first: of one table, or all."""
        return self._parts.sessions.sessions(table.id if isinstance(table, DeskTable) else table)

    def _paid_session(self, table: DeskTable, **asked: Any) -> bool:
        return self._parts.ledger.entry(self.plan_session(table, **asked).id) is not None
