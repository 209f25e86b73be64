"""k-median from noisy counts of people per place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.wording import figure
from core.decisions.decision import ESTIMATE, FAILURE, Decided
from core.decisions.sites.k_median import KMedian, local_search
from core.kernel.kernel import Kernel
from core.kernel.tables import Marginal
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import sum_of_noises


@dataclass(frozen=True, kw_only=True)
class KMedianCounts(KMedian):
    """Count people per place with noise, then choose sites by local search on the noisy counts.

    **Privacy** one table of disjoint counts and one number: epsilon-differentially private together.

    **Accuracy** noise of scale b = unit.l1/epsilon on c places moves what any choice seems to cost by at most
    diameter x nu sqrt(8 ln(2 N/beta)), nu = b max(sqrt(c), sqrt(2 ln(2 N/beta))), for all N choices of k sites at once,
    with probability 1 - beta (Chan, Shi and Song 2011); the search itself is within 5 times of the best it could find
    where distances obey the triangle inequality and no count seems negative.

    **Runtime** O(places x sites x k) for each of some ten rounds.

    Theorem: parallel composition; local search is within 5 times of the best (Arya et al. 2004).
    """

    name: ClassVar[str] = "k-median-counts"
    title: ClassVar[str] = "Noisy counts per place, then local search"
    known_as: ClassVar[tuple[str, ...]] = ("noisy histogram", "local search", "k-median", "facility planning")
    prefer: ClassVar[str] = "Choose it nearly always: its decisions cost people about as much as those without privacy."
    for_study: ClassVar[bool] = False

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(self._events())

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        place = self._places(domain)
        scale = unit.l1 / float(self._events()[0].epsilon)
        off = place.diameter * sum_of_noises(scale, place.known, math.comb(len(self.sites), self.k), FAILURE)
        return (
            f"What every choice of {self.k} sites seems to cost is within ±{figure(off)} of what it costs, "
            f"{100 * (1 - FAILURE):.0f} % of the time; where no count seems negative the search is within 5 times of "
            f"the best by what seems{', if distances obey the triangle inequality' if self.distances else ''}."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        place, (counting, estimating) = self._places(kernel.domain), self._events()
        progress("Counting people per place", 0.1)
        noisy = kernel.measure(Marginal(self.columns), counting).values.ravel().astype(np.float64)
        progress("Choosing sites", 0.3)
        chosen = local_search(place.steps, noisy, self.k)
        return self._decided(kernel, place, chosen, estimating)

    def _events(self) -> tuple[Laplace, Laplace]:
        whole = pure_for(self.budget)
        return Laplace(whole * (1 - ESTIMATE)), Laplace(whole * ESTIMATE)
