"""Open k sites so that people are near one: what all ways to decide it share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats, IntArray
from core.base.errors import BadParameter
from core.base.options import option
from core.base.wording import amount
from core.decisions.decision import Decided, measured
from core.decisions.sites.places import Places
from core.decisions.sites.site_problem import SiteProblem
from core.kernel.kernel import Kernel
from core.privacy.events import Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

ROUNDS = 200
"""Swaps of a local search at most; it ends where no swap helps, after about ten."""
LEAST_GAIN = 1e-9


@dataclass(frozen=True, kw_only=True)
class KMedian(SiteProblem):
    """Sites, people's places and how many sites to open."""

    problem: ClassVar[str] = "k-median"

    k: int = option("whole", "Sites to open", default=5, low=1)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._places(domain)
        if self.k >= len(self.sites):
            raise BadParameter("k", f"must be below the number of sites, which is {amount(len(self.sites))}.")

    def value(self, decided: Decided, counts: Counts) -> float:
        """The sum of people's distances."""
        place = self._places(counts.domain)
        return self._distances(place, self._named(place, decided), counts)

    def best(self, counts: Counts) -> float:
        place, table = self._places(counts.domain), counts.marginal(self.columns).ravel().astype(np.float64)
        return self._distances(place, local_search(place.steps, table, self.k), counts)

    def _decided(self, kernel: Kernel, place: Places, chosen: tuple[int, ...], event: Laplace) -> Decided:
        """The open sites, and how far people are from the nearest one, measured."""
        asked = self._asked(place, chosen, kernel.domain)
        estimate = measured(kernel, asked, event, "Sum of all distances", place.step)
        return self._opened(place, chosen, estimate)


def local_search(steps: IntArray, demand: Floats, k: int) -> tuple[int, ...]:
    """Sites chosen one by one, then swapped for others as long as that lowers the cost (Arya et al. 2004).

    Demands may be negative where they are estimates.
    """
    apart = steps.astype(np.float64)
    chosen = list[int]()
    nearest = np.full(len(apart), np.inf)
    for _ in range(k):
        totals = demand @ np.minimum(apart, nearest[:, None])
        totals[chosen] = np.inf
        chosen.append(int(np.argmin(totals)))
        nearest = np.minimum(nearest, apart[:, chosen[-1]])
    cost = float(demand @ nearest)
    for _ in range(ROUNDS):
        swap, lowest = None, cost - LEAST_GAIN * max(1.0, abs(cost))
        for place in range(k):
            others = [site for other, site in enumerate(chosen) if other != place]
            without = apart[:, others].min(axis=1) if others else np.full(len(apart), np.inf)
            totals = demand @ np.minimum(apart, without[:, None])
            totals[chosen] = np.inf
            if totals.min() < lowest:
                swap, lowest = (place, int(np.argmin(totals))), float(totals.min())
        if swap is None:
            break
        chosen[swap[0]], cost = swap[1], lowest
    return tuple(chosen)
