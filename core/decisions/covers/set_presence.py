"""Set cover from noisy presence of elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats
from core.decisions.covers.set_cover import SetCover, greedy_sets
from core.decisions.decision import ESTIMATE, FAILURE, Decided
from core.kernel.decisions.covers import Presence
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import sum_of_noises


@dataclass(frozen=True, kw_only=True)
class SetPresence(SetCover):
    """Say of every element with noise whether it must be covered, then order the sets greedily by what seems left.

    **Privacy** all elements are one question, which a row changes in one place: epsilon-differentially private.

    **Accuracy** how much of what is left a set of s elements covers is off by at most about unit.l1 sqrt(2 s)/epsilon,
    and by less where noise is told from presence by its sign alone (`likely`); the first sets of the order, which
    cover most elements, are then nearly those of the greedy order.

    **Runtime** O(sets x elements) for each set.

    Theorem: parallel composition; greedy is within ln n + 1 of the smallest cover where nothing is noisy.
    """

    name: ClassVar[str] = "set-cover-presence"
    title: ClassVar[str] = "Noisy elements, then a greedy order"
    known_as: ClassVar[tuple[str, ...]] = ("greedy set cover", "Laplace mechanism", "partial cover")
    prefer: ClassVar[str] = "Choose it nearly always: its first sets cover most elements, as those of greedy do."
    for_study: ClassVar[bool] = False

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(self._events())

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        largest = int(self.inside(domain).sum(axis=1).max())
        scale = unit.l1 / float(self._events()[0].epsilon)
        off = sum_of_noises(scale, largest, len(self.sets), FAILURE)
        return (
            f"How many elements of a set must be covered is known to ±{math.ceil(off):,} for all sets at first, "
            f"{100 * (1 - FAILURE):.0f} % of the time; every element is covered in any case."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        looking, estimating = self._events()
        progress("Looking at the elements", 0.1)
        noisy = kernel.measure(Presence((self.column,)), looking).values.astype(np.float64)
        progress("Ordering the sets", 0.4)
        worth = likely(noisy, float(looking.epsilon) / kernel.unit.l1)
        order = greedy_sets(self.inside(kernel.domain), worth, self.cost_of())
        return self._ordered(kernel, order, estimating)

    def _events(self) -> tuple[Laplace, Laplace]:
        whole = pure_for(self.budget)
        return Laplace(whole * (1 - ESTIMATE)), Laplace(whole * ESTIMATE)


def likely(noisy: Floats, rate: float) -> Floats:
    """How likely each element must be covered, given its noisy presence.

    Discrete Laplace noise on 0 or 1 tells no more than whether the sum is above 0: every sum above is exp(rate) times
    as likely from a 1, every other as much likelier from a 0. Read so it has half the variance; the share of all
    elements that must be covered, which the same figures tell well, makes it a probability.
    """
    wrong = math.exp(-rate) / (1 + math.exp(-rate))
    above = noisy > 0
    share = float(np.clip((above.mean() - wrong) / (1 - 2 * wrong), 0.01, 0.99))
    held = share * np.where(above, 1 - wrong, wrong)
    return np.asarray(held / (held + (1 - share) * np.where(above, wrong, 1 - wrong)))
