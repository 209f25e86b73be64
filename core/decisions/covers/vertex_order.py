"""Vertex cover by a random order in which padding hides every edge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.options import option
from core.base.wording import figure
from core.decisions.covers.padded_order import PaddedOrder, smallest_padding
from core.kernel.decisions.vertex_order import MOST_EASE, MOST_PADDING, STEPS, VertexOrder, edge_loss
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import hallucinated_ratio, vertex_cover_ratio

PADDINGS = ("growing", "hallucinated")


@dataclass(frozen=True, kw_only=True)
class RandomVertexOrder(PaddedOrder):
    """Draw vertices by their uncovered edges plus a padding, for their cost; the first end of an edge covers it.

    **Privacy** epsilon-differentially private by `VertexOrder`: the padding is the smallest of its kind whose loss, as
    proven there from the public costs, is at most epsilon for all edges of one unit.

    **Accuracy** expected cost at most (2 + 2 mean padding) OPT where all costs are 1 and the padding grows as
    sqrt(n/(n - i + 1)); (2 + 16/epsilon) OPT at the thesis' padding, of which this one is no larger. Hallucinated
    edges: 2 (1 + w)(1 + 1/ln 2) OPT for padding w in the first half and chance in the second. With other costs
    nothing is promised of this order; 'vertex-cover-classes' is the thesis' own for them.

    **Runtime** O(n^2).

    Theorem: T theorems 49 and 50, algorithm 3; 7.6 for hallucinated edges.
    """

    name: ClassVar[str] = "vertex-cover-order"
    title: ClassVar[str] = "Random order by padded degrees"
    known_as: ClassVar[tuple[str, ...]] = ("hallucinated edges", "private vertex cover", "edge orientation")
    prefer: ClassVar[str] = "Choose it for its promise; noisy degrees gave smaller covers on every network tried."
    for_study: ClassVar[bool] = True

    padding: str = option("choice", "Padding", default=PADDINGS[0], choices=PADDINGS)

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        asked = self._asked(domain, unit)
        if len(set(self.cost_of(domain))) > 1:
            return "With different costs nothing is promised of the expected cost; the privacy is proven all the same."
        paddings = asked.padding / STEPS
        if self.padding == PADDINGS[0]:
            ratio = vertex_cover_ratio(float(paddings.mean()))
        else:
            ratio = hallucinated_ratio(float(paddings.max()), 0.5)
        return f"The vertices in use cost at most {figure(ratio)} times the smallest cover, in expectation."

    def _asked(self, domain: Domain, unit: Unit) -> VertexOrder:
        costs = self.cost_of(domain)
        ease = np.maximum(1, MOST_EASE * int(costs.min()) // costs) if len(set(costs)) > 1 else np.ones_like(costs)
        return VertexOrder(self.edges(domain), ease, self._padded(ease, self._events()[0] / unit.l1))

    def _padded(self, ease: IntArray, epsilon: Fraction) -> IntArray:
        """The smallest padding of this kind that keeps the loss of an edge within epsilon."""
        vertices = len(ease)
        shape = np.sqrt(vertices / np.arange(vertices, 0, -1)) if self.padding == PADDINGS[0] else np.ones(vertices)
        if self.padding == PADDINGS[1]:
            shape[max(1, vertices // 2) :] = 0

        def scaled(factor: float) -> IntArray:
            return np.minimum(np.ceil(shape * STEPS * factor), MOST_PADDING).astype(np.int64)

        return scaled(smallest_padding(lambda factor: edge_loss(ease, scaled(factor)) <= epsilon, MOST_PADDING))
