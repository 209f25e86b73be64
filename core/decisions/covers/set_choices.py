"""Set cover by the thesis' greedy algorithm in which every set is chosen privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.decisions.covers.greedy_cover import GreedyCover, SetSystem, private_order
from core.decisions.decision import Decided
from core.kernel.decisions.covering import Covering
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class SetChoices(GreedyCover):
    """Choose one set after the other by how many uncovered elements it covers, less a price for its cost.

    **Privacy** every choice is an exponential mechanism, to whose scores an element adds at most 1 until it is covered,
    and nothing after that. Without a delta the choices add up, epsilon' = epsilon/m. With one, all of them together
    cost little more than one (`greedy.py`): epsilon' is about epsilon/(1.6 ln(1/delta)), where theorems 55 and 58 have
    epsilon/(2 ln(e/delta)), or what so many choices get one by one if that is more, as it is below some 80 sets.

    **Accuracy** O(ln n + ln m/epsilon') OPT where all costs are alike, O(ln n (ln m + ln ln(n W))/epsilon') OPT
    otherwise, epsilon' the rate of one choice, W the ratio of costs.

    **Runtime** O(sets x elements) for each choice.

    Theorem: T theorems 54, 55, 57 and 58, algorithms 5 and 6.
    """

    name: ClassVar[str] = "set-cover-choices"
    title: ClassVar[str] = "Private greedy order"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "private greedy set cover")
    prefer: ClassVar[str] = "Choose it to see the thesis' algorithm; noisy elements ordered better at every size tried."
    for_study: ClassVar[bool] = True

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        choosing, estimating = self.events(kernel.domain)
        system = self._system(kernel.domain)
        rounds = private_order(kernel, system, 0, float(choosing.epsilon) / kernel.unit.l1, progress)
        order = kernel.choose_in_turn(Covering((self.column,), system.inside), rounds, choosing)
        return self._ordered(kernel, order, estimating)

    def most(self, domain: Domain) -> int:
        return self._system(domain).most

    def _system(self, domain: Domain) -> SetSystem:
        return SetSystem(self.inside(domain), self.cost_of())
