"""Set cover from noisy presence of elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.decisions.covers.set_cover import SetCover, greedy_sets
from core.decisions.decision import ESTIMATE, FAILURE, Decided
from core.kernel.decisions.covers import Presence
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions import sum_of_noises


@dataclass(frozen=True, kw_only=True)
class SetPresence(SetCover):
    """Say of every element with noise whether it must be covered, then order the sets greedily by what seems left.

    **Privacy** all elements are one question, which a row changes in one place: epsilon-differentially private.

    **Accuracy** how much of what is left a set of s elements covers is off by about unit.l1 sqrt(2 s)/epsilon; the
    first sets of the order, which cover most elements, are then nearly those of the greedy order.

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
        order = greedy_sets(self.inside(kernel.domain), noisy, self.cost_of())
        return self._ordered(kernel, order, estimating)

    def _events(self) -> tuple[Laplace, Laplace]:
        whole = pure_for(self.budget)
        return Laplace(whole * (1 - ESTIMATE)), Laplace(whole * ESTIMATE)
