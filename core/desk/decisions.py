"""Decisions at the desk: priced and run as releases are, from the words of their plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.decisions.decision import CountsMisfits
from core.kernel.kernel import Kernel
from core.ledger.ledger import Entry, Ledger
from core.mechanisms.kit.protocol import Progress
from core.plans.decision_plan import DecisionPlan
from core.plans.decision_terms import DecisionTerms
from core.plans.pricing import PricedDecision, check_paid, price_decision
from core.plans.run_once import is_void
from core.plans.statements import DeskTable
from core.plans.terms import is_decision
from core.privacy.budget import Budget
from core.privacy.noise import NoiseSource
from core.registry import decision_for, decision_from
from core.release.decision_release import DecisionRelease
from core.table.counts import Counts


class Decisions:
    """All decisions of one workspace."""

    def __init__(self, ledger: Ledger, *, table: Callable[[str], DeskTable], counts: Callable[[str], Counts]) -> None:
        self._ledger = ledger
        self._table = table
        self._counts = counts

    def plan(
        self, own: DeskTable, problem: str, public: Mapping[str, Any], budget: Budget, edition: int
    ) -> DecisionPlan:
        """Price a decision without spending anything; every refusal happens here."""
        name = decision_for(problem)
        terms = DecisionTerms(table=own.id, mechanism=name, public=public, budget=budget, edition=edition)
        priced = self.price(terms.write(), own)
        return DecisionPlan(
            table=own.id,
            mechanism=name,
            public=priced.terms.public,
            budget=budget,
            edition=edition,
            cost=priced.cost,
            amounts=priced.amounts,
            units=priced.units,
            guarantee=priced.mechanism.guarantee(own.domain, own.unit),
        )

    def price(self, content: str, table: DeskTable) -> PricedDecision:
        """What the words of a plan cost now."""
        return price_decision(content, table, self._ledger.account_of(table.id))

    def run(self, entry: Entry, noise: NoiseSource, progress: Progress) -> bytes:
        """Decide what was paid for."""
        table = self._table(entry.dataset_id)
        priced = self.price(entry.plan_json, table)
        check_paid(priced, entry)
        progress("Opening the table", 0.0)
        kernel = Kernel(self._counts(table.id), noise, priced.running)
        decided = priced.mechanism.run(kernel, progress)
        spend = self._ledger.spend_number(entry.plan_id)
        return DecisionRelease.pack(decided, priced.mechanism, priced.terms, table.domain, table.unit, spend).zip()

    def misfits(self, plan: DecisionPlan) -> dict[str, int]:
        """Rows that a decision leaves out or counts otherwise, by kind; exact, so for the curator's own eyes."""
        decision = decision_from(plan.mechanism, plan.budget, plan.public)
        if not isinstance(decision, CountsMisfits):
            return {}
        return {kind: count for kind, count in decision.misfits(self._counts(plan.table)).items() if count}

    def stored(self, plan_id: str) -> DecisionRelease | None:
        """A finished decision; None where there is none."""
        entry = self._ledger.entry(plan_id)
        if entry is None or not is_decision(entry) or is_void(entry):
            return None
        found = self._ledger.result(plan_id)
        return None if found is None else DecisionRelease(found)
