"""Public projects by one private choice among all sets of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from core.base.errors import Refused
from core.base.wording import amount, figure
from core.decisions.decision import FAILURE, Decided, choices
from core.decisions.projects import PublicProjects
from core.kernel.decisions.values import SetWelfare
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import selection_loss

MOST_SETS = 20_000


@dataclass(frozen=True, kw_only=True)
class ProjectsExact(PublicProjects):
    """Compare what all sets of k projects are worth to the agents and choose one by the exponential mechanism.

    **Privacy** one choice, to whose scores an agent adds at most 1: epsilon-differentially private.

    **Accuracy** OPT - (unit.l1/epsilon) ln(C(m, k)/beta) with probability 1 - beta.

    **Runtime** O(C(m, k) k different agents): for few projects.

    Theorem: T theorem 62; truthful as any private choice is (7.8.3).
    """

    name: ClassVar[str] = "projects-exact"
    title: ClassVar[str] = "One choice among all sets of projects"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "combinatorial public projects")
    prefer: ClassVar[str] = "Choose it for few projects, up to 20,000 sets of them: it promises the least loss."

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        sets = math.comb(len(self.columns), self.k)
        if sets > MOST_SETS:
            raise Refused(f"'projects-exact' compares {amount(MOST_SETS)} sets, not {amount(sets)}; use 'projects'.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(choices(self.budget, 1))

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        each = float(choices(self.budget, 1)[0].epsilon)
        loss = selection_loss(unit.l1, each, math.comb(len(self.columns), self.k), FAILURE)
        return f"At least the best total minus {figure(loss)} whole values, {100 * (1 - FAILURE):.0f} % of the time."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        choosing, estimating = choices(self.budget, 1)
        progress("Comparing all sets of projects", 0.1)
        sets = tuple(combinations(range(len(self.columns)), self.k))
        chosen = kernel.choose(SetWelfare(self._valued(kernel.domain), sets), choosing)
        return self._carried_out(kernel, sets[chosen], estimating)
