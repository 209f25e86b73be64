"""k-median by one private choice among all sets of sites."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.wording import amount, figure
from core.decisions.decision import FAILURE, Decided, choices
from core.decisions.sites.k_median import KMedian
from core.decisions.sites.k_median_search import MOST_WEIGHTS
from core.kernel.decisions.weighed import Weighed
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import selection_loss


@dataclass(frozen=True, kw_only=True)
class KMedianExact(KMedian):
    """Compare what all sets of k sites cost and choose one by the exponential mechanism.

    **Privacy** one choice; a person adds at most the diameter to a cost: epsilon-differentially private.

    **Accuracy** within (unit.l1 diameter/epsilon) ln(C(n, k)/beta) of the smallest cost with probability 1 - beta.

    **Runtime** O(C(n, k) places): for few sites.

    Theorem: T theorem 43.
    """

    name: ClassVar[str] = "k-median-exact"
    title: ClassVar[str] = "One choice among all sets of sites"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "k-median")
    prefer: ClassVar[str] = "Choose it for few sites and few people: it promises the least loss."
    for_study: ClassVar[bool] = False

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        weights = math.comb(len(self.sites), self.k) * domain.cells(self.columns)
        if weights > MOST_WEIGHTS:
            raise Refused(
                f"All sets of sites have {amount(weights)} weights; 'k-median-exact' holds {amount(MOST_WEIGHTS)}: use "
                "'k-median-counts'."
            )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(choices(self.budget, 1))

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        span, each = unit.l1 * self._places(domain).diameter, float(choices(self.budget, 1)[0].epsilon)
        loss = selection_loss(span, each, math.comb(len(self.sites), self.k), FAILURE)
        return f"At most {figure(loss)} above the smallest sum of distances, {100 * (1 - FAILURE):.0f} % of the time."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        place, (choosing, estimating) = self._places(kernel.domain), choices(self.budget, 1)
        progress("Comparing all sets of sites", 0.1)
        sets = list(combinations(range(len(self.sites)), self.k))
        costs = np.stack([place.costs(chosen) for chosen in sets])
        asked = Weighed(self.columns, -costs, np.zeros(len(sets), dtype=np.int64))
        return self._decided(kernel, place, sets[kernel.choose(asked, choosing)], estimating)
