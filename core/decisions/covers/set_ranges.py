"""Set cover with very different costs: elements are divided by what their cheapest set costs, each part for itself."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.decisions.covers.greedy_cover import GreedyCover, SetSystem, private_order
from core.decisions.covers.set_cover import covered_by
from core.decisions.decision import Decided, measured
from core.kernel.decisions.covering import Covering, Round
from core.kernel.decisions.covers import CoverCost
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.schema.domain import Domain
from core.table.counts import Counts

ORDERED = (
    "An order for each range of costs, not a cover: every element finds in that of its own range the first set that "
    "holds it, and nobody learns which elements must be covered."
)


@dataclass(frozen=True, kw_only=True)
class SetRanges(GreedyCover):
    """Divide elements by the cost of their cheapest set, and order the sets of each part greedily and privately.

    A set of range t costs from n^(t - 1) to n^t times the cheapest, n the number of elements. An element whose cheapest
    set is of range t is covered by sets of range t or t + 1 alone.

    **Privacy** as for 'set-cover-choices', all parts in one sequence of choices; how elements and sets are divided is
    public, and an element counts in one part only.

    **Accuracy** 4 times what algorithm 6 promises for costs within n^2 of one another: leaving out far dearer sets
    doubles the smallest cover at most, and so does dividing it into even and odd ranges.

    **Runtime** O(sets x elements) for each choice.

    Theorem: T 7.7.3 and theorem 59.
    """

    name: ClassVar[str] = "set-cover-ranges"
    title: ClassVar[str] = "Private greedy orders by ranges of cost"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "private greedy set cover")
    prefer: ClassVar[str] = (
        "Choose it to see the thesis' way with costs that differ by more than the number of elements."
    )
    for_study: ClassVar[bool] = True

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        choosing, estimating = self.events(kernel.domain)
        inside = np.vstack([system.inside for _, system in self._parts(kernel.domain).values()])
        rounds = self._orders(kernel, float(choosing.epsilon) / kernel.unit.l1, progress)
        orders = kernel.choose_in_turn(Covering((self.column,), inside), rounds, choosing)
        costs = self.cost_of()
        asked = CoverCost((self.column,), self._rule(orders, kernel.domain), costs)
        estimate = measured(kernel, asked, estimating, "Cost of the sets in use")
        lines = tuple(
            {"range": part, "place": place + 1, "set": self.sets[chosen], "cost": int(costs[chosen])}
            for part, order in orders.items()
            for place, chosen in enumerate(order)
        )
        return Decided(sentence=ORDERED, lines=lines, facts={"column": self.column}, estimate=estimate)

    def _orders(
        self, kernel: Kernel, rate: float, progress: Progress
    ) -> Generator[Round, int, dict[int, tuple[int, ...]]]:
        """The sets of every range in their order, one range after the other."""
        orders, first = {}, 0
        for part, (sets, system) in self._parts(kernel.domain).items():
            order = yield from private_order(kernel, system, first, rate, progress)
            orders[part] = tuple(sets[place] for place in order)
            first += len(sets)
        return orders

    def value(self, decided: Decided, counts: Counts) -> float:
        """What the sets in use cost."""
        orders: dict[int, list[int]] = {}
        for line in decided.lines:
            orders.setdefault(line["range"], []).append(self.sets.index(line["set"]))
        rule = self._rule({part: tuple(order) for part, order in orders.items()}, counts.domain)
        there = (counts.marginal((self.column,)) > 0) & (rule >= 0)
        return float(self.cost_of()[np.unique(rule[there])].sum())

    def ranges(self) -> IntArray:
        """The range of every set: the smallest t for which it costs at most n^t times the cheapest."""
        costs, elements = self.cost_of(), max(2, len({element for _, element in self.members}))
        found = np.zeros(len(costs), dtype=np.int64)
        while (dear := costs > costs.min() * float(elements) ** found).any():
            found += dear
        return found

    def _parts(self, domain: Domain) -> dict[int, tuple[list[int], SetSystem]]:
        """For every range of elements the sets that serve it, and what they hold of it."""
        inside, costs, ranges = self.inside(domain), self.cost_of(), self.ranges()
        found = {}
        for part, own in self._elements(domain).items():
            sets = [
                place
                for place in np.flatnonzero((ranges == part) | (ranges == part + 1))
                if (inside[place] & own).any()
            ]
            found[part] = ([int(place) for place in sets], SetSystem(inside[sets] & own, costs[sets]))
        return found

    def _elements(self, domain: Domain) -> dict[int, np.ndarray]:
        """Which elements have their cheapest set in each range."""
        inside, ranges = self.inside(domain), self.ranges()
        cheapest = np.where(inside, ranges[:, None], np.iinfo(np.int64).max).min(axis=0)
        return {int(part): cheapest == part for part in np.unique(cheapest[inside.any(axis=0)])}

    def _rule(self, orders: dict[int, tuple[int, ...]], domain: Domain) -> IntArray:
        """For every element the first set of its range's order that holds it; -1 where there is none."""
        inside, rule = self.inside(domain), np.full(domain[self.column].size, -1, dtype=np.int64)
        for part, own in self._elements(domain).items():
            limited = np.zeros_like(inside)
            limited[list(orders[part])] = inside[list(orders[part])] & own
            rule = np.where(own, covered_by(limited, _completed(orders[part], len(inside))), rule)
        return rule

    def most(self, domain: Domain) -> int:
        return sum(system.most for _, system in self._parts(domain).values())


def _completed(order: tuple[int, ...], sets: int) -> tuple[int, ...]:
    """An order of some sets with all others after them."""
    return (*order, *(place for place in range(sets) if place not in order))
