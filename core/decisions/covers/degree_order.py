"""Vertex cover by noisy degrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.wording import figure
from core.decisions.covers.vertex_cover import VertexCover
from core.decisions.decision import FAILURE, Decided
from core.kernel.decisions.covers import Degrees
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class DegreeOrder(VertexCover):
    """Count the neighbours of every vertex with noise and put those with the most, for their cost, first.

    **Privacy** all degrees are one question, which an edge changes by 2 in L1: epsilon-differentially private.

    **Accuracy** hubs whose degrees stand out from the noise come first: of two vertices whose degrees differ by more
    than twice the told figure the larger one does. Nothing is promised about degrees that are alike.

    **Runtime** O(n^2).

    Theorem: parallel composition; the order is computed from what is released.
    """

    name: ClassVar[str] = "vertex-cover-degrees"
    title: ClassVar[str] = "Order by noisy degrees"
    known_as: ClassVar[tuple[str, ...]] = ("degree sequence", "Laplace mechanism")
    prefer: ClassVar[str] = "Choose it nearly always: it finds hubs, such as the middles of stars, all at once."
    for_study: ClassVar[bool] = False

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        ordering, estimating = self._events()
        return Cost.of([Laplace(ordering), estimating])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        vertices, event = len(self.vertices(domain)), Laplace(self._events()[0])
        off = NoiseLevel.of(Degrees(self.edges(domain)), event, unit).tail(FAILURE / vertices)
        return f"All degrees are known to ±{figure(off)}, {100 * (1 - FAILURE):.0f} % of the time; hubs come first."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        ordering, estimating = self._events()
        progress("Counting neighbours", 0.1)
        noisy = kernel.measure(Degrees(self.edges(kernel.domain)), Laplace(ordering)).values
        # Equal figures are told apart by chance: the order in which vertices are listed must not favour any.
        chance = kernel.generator().random(len(noisy))
        order = np.lexsort((chance, -noisy / self.cost_of(kernel.domain)))
        return self._ordered(kernel, tuple(int(each) for each in order), estimating)
