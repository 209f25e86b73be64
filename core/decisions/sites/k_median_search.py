"""k-median by local search in which every swap is chosen privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.errors import Refused
from core.base.options import option
from core.base.wording import amount, figure
from core.decisions.decision import Decided, choices
from core.decisions.sites.k_median import KMedian
from core.decisions.sites.places import Places
from core.kernel.decisions.weighed import Weighed
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import k_median_steps, k_median_surplus

MOST_WEIGHTS = 2**23
"""Swaps times places that are weighed at once: 64 MB."""


@dataclass(frozen=True, kw_only=True)
class KMedianSearch(KMedian):
    """Start anywhere, swap an open site for another by the exponential mechanism, then choose the best set seen.

    **Privacy** T + 1 choices between sets of sites by what they cost; a person adds at most the diameter to a cost.
    Without a delta each gets epsilon/(T + 1); with one, what an account would pay.

    **Accuracy** 6 OPT + (24 k + 4) ln n/epsilon', epsilon' = epsilon/(unit.l1 diameter (T + 1)), except with
    probability (T + 1)/n^2, where n places have at most one person each.

    **Runtime** O(T k sites x places).

    Theorem: T theorem 46, algorithm 2, with T = 6 k ln n unless another number of swaps is given.
    """

    name: ClassVar[str] = "k-median-search"
    title: ClassVar[str] = "Local search by private swaps"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "private local search", "k-median")
    prefer: ClassVar[str] = "Choose it to see the thesis' algorithm; noisy counts per place decided better everywhere."
    for_study: ClassVar[bool] = True

    swaps: int | None = option("whole", "Swaps", default=None, low=1, high=2_000, help="Left empty: 6 k ln n.")

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        weights = self.k * (len(self.sites) - self.k) * domain.cells(self.columns)
        if weights > MOST_WEIGHTS:
            raise Refused(
                f"There are {amount(weights)} weights of swaps; 'k-median-search' holds {amount(MOST_WEIGHTS)}: use "
                "coarser bins, or 'k-median-counts'."
            )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        choosing, estimating = choices(self.budget, self._steps(self._places(domain)) + 1)
        return Cost.of([choosing] * (self._steps(self._places(domain)) + 1) + [estimating])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        place = self._places(domain)
        steps = self._steps(place)
        rate = float(choices(self.budget, steps + 1)[0].epsilon) / (unit.l1 * place.diameter)
        surplus = k_median_surplus(self.k, place.known, rate)
        chance = min(1.0, (steps + 1) / place.known**2)
        return (
            f"At most 6 times the smallest sum of distances plus {figure(surplus)}, except with probability "
            f"{chance:.2g}, where each of the {amount(place.known)} places has at most one person"
            f"{' and distances obey the triangle inequality' if self.distances else ''}."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        place = self._places(kernel.domain)
        steps, current = self._steps(place), tuple(range(self.k))
        choosing, estimating = choices(self.budget, steps + 1)
        seen = list[tuple[int, ...]]()
        for step in range(steps):
            swaps = self._swaps(current)
            current = swaps[kernel.choose(self._weighed(place, swaps), choosing)]
            seen.append(current)
            progress("Swapping sites", step / steps)
        found = seen[kernel.choose(self._weighed(place, seen), choosing)]
        return self._decided(kernel, place, found, estimating)

    def _swaps(self, current: tuple[int, ...]) -> list[tuple[int, ...]]:
        others = [site for site in range(len(self.sites)) if site not in current]
        return [(*current[:out], new, *current[out + 1 :]) for out in range(self.k) for new in others]

    def _weighed(self, place: Places, sets: list[tuple[int, ...]]) -> Weighed:
        costs = np.stack([place.costs(chosen) for chosen in sets])
        return Weighed(self.columns, -costs, np.zeros(len(sets), dtype=np.int64))

    def _steps(self, place: Places) -> int:
        return self.swaps or k_median_steps(self.k, place.known)
