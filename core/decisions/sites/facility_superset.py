"""Facility location whose answer is a list of sites that may open: who comes where decides which of them do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats
from core.base.options import option
from core.base.wording import figure
from core.decisions.decision import ESTIMATE, FAILURE, Decided, measured
from core.decisions.sites.places import Places
from core.decisions.sites.site_problem import SiteProblem
from core.kernel.kernel import Kernel
from core.kernel.tables import Marginal
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts
from core.theory.decisions.decision_bounds import sum_of_noises

PASSES = 6
"""Times that every site of a list is tried at most; it ends where no change helps."""
LEAST_GAIN = 1e-9
MAY_OPEN = "These may open: {}. Everybody goes to the nearest of them; one opens if somebody comes, which is not told."


@dataclass(frozen=True, kw_only=True)
class FacilitySuperset(SiteProblem):
    """Count people per place with noise, then list the sites whose cost is worth the way they save.

    **Privacy** one table of disjoint counts and one number, what people's ways cost: epsilon-differentially private
    together. Which listed sites are in use is never told; naming those privately would
    cost a factor of about sqrt(n) (T corollary 48).

    **Accuracy** noise of scale b = unit.l1/epsilon on c places moves what people's ways to any list seem to cost by at
    most diameter x nu sqrt(8 ln(2 N/beta)), nu = b max(sqrt(c), sqrt(2 ln(2 N/beta))), for all N = 2^sites lists at
    once, with probability 1 - beta (Chan, Shi and Song 2011). A site that is listed and not used costs nothing.

    **Runtime** O(places x sites^2) for each change of a list.

    Theorem: parallel composition; where adding, dropping and swapping sites helps no more, a list is within 3 times of
    the best by what seems, if distances obey the triangle inequality and no count seems negative (Arya et al. 2004).
    """

    name: ClassVar[str] = "facility-superset"
    problem: ClassVar[str] = "facility-superset"
    title: ClassVar[str] = "Noisy counts per place, then a list of sites"
    known_as: ClassVar[tuple[str, ...]] = ("uncapacitated facility location", "superset output", "local search")
    prefer: ClassVar[str] = "Choose it where opening a site has a price and nobody need learn which of the listed open."
    for_study: ClassVar[bool] = False

    opening: float = option(
        "real", "Cost of opening a site", default=1.0, above=0, help="In the units of the distances. Public."
    )

    def check(self, domain: Domain, unit: Unit) -> None:
        self._places(domain)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(self._events())

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        place = self._places(domain)
        scale = unit.l1 / float(self._events()[0].epsilon)
        off = place.diameter * sum_of_noises(scale, place.known, 2 ** len(self.sites), FAILURE)
        return (
            f"What people's ways to every list of sites seem to cost is within ±{figure(off)} of what they cost, "
            f"{100 * (1 - FAILURE):.0f} % of the time; a site that is listed and not used costs nothing."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        place, (counting, estimating) = self._places(kernel.domain), self._events()
        progress("Counting people per place", 0.1)
        noisy = kernel.measure(Marginal(self.columns), counting).values.ravel().astype(np.float64)
        progress("Listing sites", 0.3)
        chosen = listed(place.apart, noisy, self.opening)
        ways = measured(
            kernel, self._asked(place, chosen, kernel.domain), estimating, "Sum of all distances", place.step
        )
        # What the sites in use cost is bounded in public: one of them measured would drown in the noise of its price.
        most = figure(self.opening * len(chosen))
        return self._opened(place, chosen, ways, f"{MAY_OPEN} Opening all of them costs {most}.")

    def value(self, decided: Decided, counts: Counts) -> float:
        """The price of the sites in use, and people's ways."""
        place = self._places(counts.domain)
        return self._total(place, self._named(place, decided), counts)

    def best(self, counts: Counts) -> float:
        place, table = self._places(counts.domain), counts.marginal(self.columns).ravel().astype(np.float64)
        return self._total(place, listed(place.apart, table, self.opening), counts)

    def _total(self, place: Places, chosen: tuple[int, ...], counts: Counts) -> float:
        there = counts.marginal(self.columns).ravel() > 0
        used = len(np.unique(place.steps[there][:, list(chosen)].argmin(axis=1)))
        return self.opening * used + self._distances(place, chosen, counts)

    def _events(self) -> tuple[Laplace, Laplace]:
        whole = pure_for(self.budget)
        return Laplace(whole * (1 - ESTIMATE)), Laplace(whole * ESTIMATE)


def listed(apart: Floats, demand: Floats, opening: float) -> tuple[int, ...]:
    """Sites added as long as that lowers their price plus people's ways, then each dropped or swapped where it does.

    Demands may be negative where they are estimates.
    """
    first = int(np.argmin(demand @ apart))
    cost, chosen = opening + float(demand @ apart[:, first]), [first]
    for _ in range(PASSES):
        before = cost
        while (better := _better(apart, demand, opening, cost, chosen, None)) is not None:
            cost, chosen = better
        for out in tuple(chosen):
            better = _better(apart, demand, opening, cost, chosen, out) if out in chosen else None
            cost, chosen = better or (cost, chosen)
        if cost == before:
            break
    return tuple(sorted(chosen))


def _better(
    apart: Floats, demand: Floats, opening: float, cost: float, chosen: list[int], out: int | None
) -> tuple[float, list[int]] | None:
    """The best list that lacks one of the chosen sites and may have another one, if it costs less."""
    kept = [site for site in chosen if site != out]
    nearest = apart[:, kept].min(axis=1) if kept else np.full(len(apart), np.inf)
    totals = opening * (len(kept) + 1) + demand @ np.minimum(apart, nearest[:, None])
    totals[chosen] = np.inf
    found = [(float(totals.min()), [*kept, int(np.argmin(totals))])]
    if kept:
        found.append((opening * len(kept) + float(demand @ nearest), kept))
    best = min(found)
    return best if best[0] < cost - LEAST_GAIN * max(1.0, abs(cost)) else None
