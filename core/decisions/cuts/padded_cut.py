"""The thesis' algorithm for the smallest cut: pad the graph with public edges first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import Refused
from core.base.wording import figure
from core.decisions.cuts.min_cut import ENUMERATED, CutGraph, sides_of
from core.decisions.decision import Decided
from core.kernel.decisions.cuts import PaddedCuts, PaddedSides
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import padded_cut_target, padding_helps


@dataclass(frozen=True, kw_only=True)
class PaddedCut(CutGraph):
    """Choose how many public edges to add so that the smallest cut is about 8 ln n/epsilon, then choose a cut.

    **Privacy** two choices by the exponential mechanism: how many edges to add, by how far the smallest cut is from its
    target, and a cut by what it costs in the padded graph. An edge moves both scores by at most its weight.

    **Accuracy** OPT + O(ln n/epsilon) where the extra edges can raise the smallest cut that far: n - 1 >= 8 ln
    n/epsilon'. Below that padding only hurts.

    **Runtime** O(n^2 2^n); up to 20 vertices.

    Theorem: T theorems 40 and 41, algorithm 1. The proof of 41 gives 3 epsilon', not 2: the distance from the target
    may move either way.
    """

    name: ClassVar[str] = "min-cut-padded"
    title: ClassVar[str] = "Cut of a padded graph"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "Karger's bound on small cuts")
    prefer: ClassVar[str] = "Choose it to see the thesis' algorithm; one private choice cuts better up to 20 vertices."
    for_study: ClassVar[bool] = True

    def check(self, domain: Domain, unit: Unit) -> None:
        if self.cut_edges(domain).vertices > ENUMERATED:
            raise Refused(f"'min-cut-padded' compares all cuts of at most {ENUMERATED} vertices; use 'min-cut'.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        choosing, estimating = self._choices(2)
        return Cost.of([choosing, choosing, *([] if estimating is None else [estimating])])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        edges = self.cut_edges(domain)
        rate = float(self._choices(2)[0].epsilon) / (2 * edges.most(unit))
        if not padding_helps(edges.vertices, rate):
            return (
                f"With {edges.vertices} vertices and this budget the graph cannot be padded as the theorem needs it: "
                "nothing is promised, and 'min-cut' promises more."
            )
        most = 20 * math.log(edges.vertices) / rate
        return f"About {figure(most)} above the smallest cut at most, with high probability."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        edges, (choosing, estimating) = self.cut_edges(kernel.domain), self._choices(2)
        target = padded_cut_target(edges.vertices, float(choosing.epsilon) / (2 * edges.most(kernel.unit)))
        progress("Padding the graph", 0.1)
        added = kernel.choose(PaddedCuts(edges, round(target)), choosing)
        progress("Choosing a cut", 0.6)
        chosen = kernel.choose(PaddedSides(edges, added), choosing)
        return self._divided(kernel, sides_of(chosen, edges.vertices), estimating)
