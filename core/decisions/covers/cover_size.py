"""How large a smallest vertex cover is, without the cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base import limits
from core.base.errors import Refused
from core.base.options import check_options
from core.base.wording import amount, figure
from core.decisions.decision import FAILURE, Decided, measured
from core.decisions.graph import Graph
from core.kernel.decisions.covers import Matching
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

MOST_MATCHED = 500
"""Vertices of which a largest matching is found in seconds."""


@dataclass(frozen=True, kw_only=True)
class CoverSize(Graph):
    """Measure the size of a largest matching: a smallest cover has at least as many vertices and at most twice as many.

    **Privacy** an edge changes the size of a largest matching by at most 1: Laplace noise, epsilon-differentially
    private.

    **Accuracy** the size is off by about unit.limit/epsilon; the cover lies between it and twice it.

    **Runtime** O(n^3).

    Theorem: T 7.5, approximating the size of the cover.
    """

    name: ClassVar[str] = "vertex-cover-size"
    problem: ClassVar[str] = "vertex-cover-size"
    title: ClassVar[str] = "Size of a smallest cover by matching"
    known_as: ClassVar[tuple[str, ...]] = ("maximum matching", "Laplace mechanism")
    prefer: ClassVar[str] = "Choose it to know how many vertices a cover needs before ordering any."
    for_study: ClassVar[bool] = False

    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        if len(self.vertices(domain)) > MOST_MATCHED:
            raise Refused(f"'vertex-cover-size' matches at most {amount(MOST_MATCHED)} vertices.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of([self._event])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        off = NoiseLevel.of(Matching(self.edges(domain)), self._event, unit).tail(FAILURE)
        return (
            f"A smallest cover has from M to 2 M vertices, and M is known to ±{figure(off)}, "
            f"{100 * (1 - FAILURE):.0f} % of the time."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        progress("Matching", 0.1)
        found = measured(kernel, Matching(self.edges(kernel.domain)), self._event, "Size of a largest matching")
        size = max(0, round(found.value))
        return Decided(
            sentence=f"A smallest cover has about {amount(size)} to {amount(2 * size)} vertices.",
            lines=({"at least": size, "at most": 2 * size},),
            facts={"matching": size},
            estimate=found,
        )

    def value(self, decided: Decided, counts: Counts) -> float:
        """The size that was told."""
        return float(decided.facts["matching"])

    def best(self, counts: Counts) -> float:
        # Here and not above: it takes long to load, and few pages need it.
        import networkx as nx

        graph = nx.from_numpy_array(self.edges(counts.domain).present(counts))
        return float(len(nx.max_weight_matching(graph, maxcardinality=True)))

    @property
    def _event(self) -> Laplace:
        return Laplace(pure_for(self.budget))
