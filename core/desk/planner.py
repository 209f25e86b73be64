"""Planning at the desk: what a choice costs, what to expect of it, and which choice to take; nothing is spent.

**Privacy** Prices follow from the words of a plan and the account, figures from public stand-ins: the table is never
opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from core.base.errors import DeskError
from core.desk.recommended import Recommendation, Recommended
from core.desk.tables.known_row_numbers import KnownRows
from core.desk.told_figures import ToldFigures
from core.ledger.ledger import Ledger
from core.mechanisms.measured.usual_measure import USUAL, usual_measure
from core.planning.budget_for import ErrorKind, budget_for
from core.planning.recommendation import Ranked, rank
from core.planning.simulation.error_map import ErrorMap, map_errors
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.stand_ins import StandIns
from core.plans.noise_choice import with_better_noise
from core.plans.plan import Plan
from core.plans.pricing import PricedRelease, price_release
from core.plans.release_terms import ReleaseTerms, read_measure
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from core.registry import offline


class Planner:
    """Plans of one workspace."""

    def __init__(self, ledger: Ledger, table: Callable[[str], DeskTable], told: ToldFigures, rows: KnownRows) -> None:
        self._ledger = ledger
        self._table = table
        self._told = told
        self._rows = rows

    def price(self, content: str, table: DeskTable) -> PricedRelease:
        """What the words of a plan cost now."""
        return price_release(content, table, self._ledger.account_of(table.id))

    def plan(self, own: DeskTable, terms: ReleaseTerms, stand_ins: StandIns | None) -> Plan:
        priced = self._with_better_noise(own, terms)
        return _plan_of(priced, self._told.tell(priced, stand_ins or self._told.stand_ins(own, terms.queries)))

    def measuring(self, own: DeskTable, terms: ReleaseTerms, measure: object) -> ReleaseTerms:
        """The same choice with the part of its budget that measures it: the given one, else the usual one."""
        return replace(terms, measure=self._usual(own, terms) if measure is None else read_measure(measure))

    def recommend(
        self, own: DeskTable, queries: Sequence[QueryClass], budget: Budget, measure: object, stand_ins: StandIns
    ) -> Recommendation:
        """Price every mechanism and rank those that can serve by their figures on the same stand-ins."""
        priced: dict[str, PricedRelease] = {}
        refused: dict[str, DeskError] = {}
        for name in offline:
            terms = ReleaseTerms(queries=tuple(queries), mechanism=name, budget=budget)
            try:
                priced[name] = self._with_better_noise(own, self.measuring(own, terms, measure))
            except DeskError as problem:
                refused[name] = problem
        ranking = rank({name: each.mechanism for name, each in priced.items()}, stand_ins, self._told.figures)

        def plans(found: Sequence[Ranked]) -> tuple[Recommended, ...]:
            for each in found:
                self._told.keep(priced[each.name].id, each.figure)
            return tuple(
                Recommended(plan=_plan_of(priced[each.name], each.figure), reason=each.reason) for each in found
            )

        return Recommendation(offered=plans(ranking.offered), studied=plans(ranking.studied), refused=refused)

    def refine(self, plan: Plan, stand_ins: StandIns | None) -> Iterator[Figure]:
        own = self._table(plan.table)
        public = stand_ins or self._told.stand_ins(own, plan.queries)
        yield from self._told.refine(self.price(ReleaseTerms.write(plan), own), public)

    def error_map(self, plan: Plan, stand_ins: StandIns) -> ErrorMap:
        return map_errors(self.price(ReleaseTerms.write(plan), self._table(plan.table)).mechanism, stand_ins)

    def budget_for(
        self,
        queries: Sequence[QueryClass],
        mechanism: str,
        options: Mapping[str, Any],
        stand_ins: StandIns,
        *,
        within: float,
        delta: float,
        error: ErrorKind,
    ) -> Budget:
        figures = self._told.figures
        return budget_for(mechanism, queries, options, stand_ins, figures, within=within, delta=delta, error=error)

    def _usual(self, own: DeskTable, terms: ReleaseTerms) -> Fraction:
        """What is measured where nothing is said."""
        rows = self._rows.of(own)
        # What is paid for already stays the same plan, whatever became public since.
        if rows is None or self._paid(self._with_better_noise(own, terms).id):
            return Fraction(0)
        try:
            measured = self._with_better_noise(own, replace(terms, measure=USUAL))
        except DeskError:
            return Fraction(0)
        usual = usual_measure(terms.queries, terms.budget, own.domain, own.unit, rows)
        return USUAL if usual or self._paid(measured.id) else Fraction(0)

    def _with_better_noise(self, own: DeskTable, terms: ReleaseTerms) -> PricedRelease:
        return with_better_noise(
            lambda chosen: self.price(chosen.write(), own),
            replace(terms.without_table(), table=own.id, edition=terms.edition),
            paid=self._paid,
            error=lambda each: each.mechanism.expected(each.domain, own.unit).mean,
        )

    def _paid(self, plan_id: str) -> bool:
        return self._ledger.entry(plan_id) is not None


def _plan_of(priced: PricedRelease, figure: Figure) -> Plan:
    terms = priced.terms
    return Plan(
        table=priced.table.id,
        queries=terms.queries,
        mechanism=terms.mechanism,
        budget=terms.budget,
        options=terms.options,
        records=terms.records,
        edition=terms.edition,
        measure=terms.measure,
        copies=terms.copies,
        cost=priced.cost,
        amounts=priced.amounts,
        units=priced.units,
        expected_error=figure,
    )
