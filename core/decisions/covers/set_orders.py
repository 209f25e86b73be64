"""Set cover by one private choice among all orders of a few sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.wording import figure
from core.decisions.covers.set_cover import SetCover, covered_by
from core.decisions.decision import FAILURE, Decided, choices
from core.kernel.decisions.covers import RuleCosts
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import selection_loss

MOST_ORDERED = 6
"""Sets of which all 720 orders are compared."""


@dataclass(frozen=True, kw_only=True)
class SetOrders(SetCover):
    """Compare what all orders of the sets cost and choose one by the exponential mechanism.

    **Privacy** one choice; an element adds at most the largest cost of a set to what an order costs:
    epsilon-differentially private.

    **Accuracy** within (unit.l1 largest cost/epsilon) ln(m!/beta) of the smallest cover with probability 1 - beta.

    **Runtime** O(m! elements): up to 6 sets.

    Theorem: T theorem 53.
    """

    name: ClassVar[str] = "set-cover-orders"
    title: ClassVar[str] = "One choice among all orders"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "permutations")
    prefer: ClassVar[str] = "Choose it for up to 6 sets: it promises the least loss."
    for_study: ClassVar[bool] = False

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        if len(self.sets) > MOST_ORDERED:
            raise Refused(f"'set-cover-orders' compares orders of at most {MOST_ORDERED} sets.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(choices(self.budget, 1))

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        span, each = unit.l1 * int(self.cost_of().max()), float(choices(self.budget, 1)[0].epsilon)
        loss = selection_loss(span, each, math.factorial(len(self.sets)), FAILURE)
        return f"At most {figure(loss)} above the smallest cover, {100 * (1 - FAILURE):.0f} % of the time."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        inside, (choosing, estimating) = self.inside(kernel.domain), choices(self.budget, 1)
        progress("Comparing all orders", 0.1)
        orders = list(permutations(range(len(self.sets))))
        rules = np.stack([covered_by(inside, order) for order in orders])
        chosen = kernel.choose(RuleCosts((self.column,), rules, self.cost_of()), choosing)
        return self._ordered(kernel, orders[chosen], estimating)
