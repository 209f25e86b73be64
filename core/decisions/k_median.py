"""Open k sites so that people are near one: what both ways to decide it share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base import limits
from core.base.arrays import Floats, IntArray
from core.base.errors import BadParameter
from core.base.options import check_options, option
from core.base.wording import amount
from core.decisions.decision import Decided, measured
from core.decisions.places import METRICS, STEPS, Places, places, read_sites
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.privacy.budget import Budget
from core.privacy.events import Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

ROUNDS = 200
"""Swaps of a local search at most; it ends where no swap helps, after about ten."""
LEAST_GAIN = 1e-9


@dataclass(frozen=True, kw_only=True)
class KMedian:
    """Sites, people's places and how many sites to open."""

    problem: ClassVar[str] = "k-median"

    budget: Budget
    sites: tuple[tuple[str, float, float], ...] = option(
        "lines", "Sites that may be opened", choices=("site", "x", "y"), help="Public: a name and two coordinates each."
    )
    columns: tuple[str, ...] = option(
        "columns",
        "Where people are",
        low=1,
        high=2,
        start=2,
        help="Two columns of numbers (x and y, or latitude and longitude), or one column whose values name the sites.",
    )
    k: int = option("whole", "Sites to open", default=5, low=1)
    metric: str = option("choice", "Distance", default=METRICS[0], choices=METRICS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", read_sites(self.sites))
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._places(domain)
        if self.k >= len(self.sites):
            raise BadParameter("k", f"must be below the number of sites, which is {amount(len(self.sites))}.")

    def value(self, decided: Decided, counts: Counts) -> float:
        """The sum of people's distances."""
        place = self._places(counts.domain)
        named = [place.names.index(name) for name in decided.facts["open"]]
        return float(counts.marginal(self.columns).ravel() @ place.costs(tuple(named))) * place.step

    def best(self, counts: Counts) -> float:
        place, table = self._places(counts.domain), counts.marginal(self.columns).ravel().astype(np.float64)
        return float(table @ place.costs(local_search(place.steps, table, self.k))) * place.step

    def _places(self, domain: Domain) -> Places:
        return places(self.sites, self.columns, self.metric, domain)

    def _decided(self, kernel: Kernel, place: Places, chosen: tuple[int, ...], event: Laplace) -> Decided:
        """The open sites, which of them is nearest to each place, and what that costs people, measured."""
        # The weights of a question are parts of a power of two, which STEPS is.
        weights = place.costs(chosen).reshape(kernel.domain.shape(self.columns))
        asked = Query(columns=self.columns, weights=weights, denominator=STEPS)
        estimate = measured(kernel, asked, event, "Sum of all distances", place.step)
        names = tuple(place.names[site] for site in sorted(chosen))
        lines = tuple(
            {"site": name, "x": x, "y": y, "open": "yes" if name in names else "no"} for name, x, y in self.sites
        )
        return Decided(
            sentence=f"Open {', '.join(names)}.",
            lines=lines,
            facts={"open": list(names), "metric": self.metric},
            estimate=estimate,
        )


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
