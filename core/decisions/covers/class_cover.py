"""Vertex cover with costs by a random order in which classes of cost are put out one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.wording import figure
from core.decisions.covers.padded_order import PaddedOrder, smallest_padding
from core.kernel.decisions.class_order import ClassOrder, class_loss
from core.kernel.decisions.vertex_order import STEPS
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import weighted_vertex_cover_ratio

MOST_PADDING = 2**26


@dataclass(frozen=True, kw_only=True)
class ClassCover(PaddedOrder):
    """Draw vertices by padded degrees for their cost; once enough was drawn, put out the rest of the cheapest class.

    **Privacy** epsilon-differentially private by `ClassOrder`: the padding is the smallest whose loss, as proven there
    from the public costs, is at most epsilon for all edges of one unit.

    **Accuracy** expected cost at most 52 (1 + w) OPT at padding w; costs are rounded up to powers of 2 for it.

    **Runtime** O(n^2) and O(n classes) for the padding.

    Theorem: T 7.5.3, algorithm 4, lemmas 17 and 18. The thesis sets w = 1/epsilon for a loss of O(epsilon), which its
    proof puts at about 14 epsilon; here w follows from the exact sum.
    """

    name: ClassVar[str] = "vertex-cover-classes"
    title: ClassVar[str] = "Random order by classes of cost"
    known_as: ClassVar[tuple[str, ...]] = ("weighted vertex cover", "hallucinated edges")
    prefer: ClassVar[str] = "Choose it for its promise where vertices have costs; noisy degrees gave cheaper covers."
    for_study: ClassVar[bool] = True

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        ratio = weighted_vertex_cover_ratio(self._asked(domain, unit).padding / STEPS)
        return f"The vertices in use cost at most {figure(ratio)} times the smallest cover, in expectation."

    def _asked(self, domain: Domain, unit: Unit) -> ClassOrder:
        classes = classes_of(self.cost_of(domain))
        epsilon = self._events()[0] / unit.l1
        return ClassOrder(self.edges(domain), classes, _padded(classes, epsilon))


def classes_of(costs: IntArray) -> IntArray:
    """Costs in units of the smallest, rounded up to powers of 2: their exponents."""
    return np.array([max(0, math.ceil(math.log2(int(cost) / int(costs.min())))) for cost in costs], dtype=np.int64)


def _padded(classes: IntArray, epsilon: Fraction) -> int:
    """The smallest padding that keeps the loss of an edge within epsilon."""
    size, top = int(np.bincount(classes).max()), int(classes.max())

    def enough(factor: float) -> bool:
        return class_loss(size, top, math.ceil(STEPS * factor)) <= epsilon

    return math.ceil(STEPS * smallest_padding(enough, MOST_PADDING))
