"""Where a network splits: the smallest cut between two parts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.errors import Refused
from core.base.options import check_options, option
from core.base.wording import amount, figure
from core.decisions.cuts.suggestions import most_suggested, suggested
from core.decisions.decision import ESTIMATE, FAILURE, Decided, choices, measured
from core.decisions.graph import Graph, weighted
from core.kernel.decisions.cuts import AllCuts, CutWeight, Edges, PairWeights, SomeCuts
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace, Selection
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts
from core.theory.decisions.decision_bounds import selection_loss

ENUMERATED = 20
"""Up to so many vertices all cuts are compared."""
MOST_CUT_VERTICES = 400
CHOOSING = Fraction(1, 3)
"""Part that chooses among suggested cuts; the rest makes the noisy graph they are suggested by."""


@dataclass(frozen=True, kw_only=True)
class CutGraph(Graph):
    """What every way to cut shares."""

    problem: ClassVar[str] = "min-cut"
    repeated: ClassVar[str] = "whose weights add up"

    budget: Budget
    weight: str | None = option(
        "column", "Column of whole weights", default=None, only="numeric", help="Left empty: every row weighs 1."
    )
    estimated: bool = option(
        "flag",
        "Measure the weight between the parts",
        default=True,
        help="Takes a tenth of epsilon; without it the choice of the cut gets all of it.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def cut_edges(self, domain: Domain) -> Edges:
        return weighted(self.edges(domain), self.weight, domain)

    def value(self, decided: Decided, counts: Counts) -> float:
        """The weight of the edges between the two parts."""
        side = np.array([line["part"] == 1 for line in decided.lines], dtype=np.int64)
        return float(side @ self.cut_edges(counts.domain).weights(counts) @ (1 - side))

    def best(self, counts: Counts) -> float:
        # Here and not above: it takes long to load, and few pages need it.
        import networkx as nx

        graph = nx.from_numpy_array(self.cut_edges(counts.domain).weights(counts))
        return float(nx.stoer_wagner(graph)[0]) if nx.is_connected(graph) else 0.0

    def _choices(self, count: int) -> tuple[Selection, Laplace | None]:
        """Equal choices that follow one another, and the measurement if there is one."""
        choosing, estimating = choices(self.budget, count)
        if self.estimated:
            return choosing, estimating
        # The choices take what the measurement would have cost; with a delta they stay as they are.
        return (Selection(pure_for(self.budget) / count), None) if self.budget.pure or count == 1 else (choosing, None)

    def _divided(self, kernel: Kernel, other: NDArray[np.bool_], event: Laplace | None) -> Decided:
        """The two parts, the first vertex in part 1, and the weight between them, measured if that was wanted."""
        edges, names = self.cut_edges(kernel.domain), self.vertices(kernel.domain)
        about = "Weight of the edges between the parts"
        estimate = None if event is None else measured(kernel, CutWeight(edges, other), event, about)
        parts = [2 if each else 1 for each in other]
        small = sorted((1, 2), key=parts.count)[0]
        listed = ", ".join(name for name, part in zip(names, parts, strict=True) if part == small)
        return Decided(
            sentence=f"One part is {listed}; the other has the rest.",
            lines=tuple({"vertex": name, "part": part} for name, part in zip(names, parts, strict=True)),
            facts={"columns": list(self.columns)},
            estimate=estimate,
        )


@dataclass(frozen=True, kw_only=True)
class MinCut(CutGraph):
    """Choose a cut by the exponential mechanism: among all, or among those that a noisy copy of the graph suggests.

    **Privacy** up to 20 vertices one choice by what a cut costs, to which an edge adds at most its weight. Beyond, two
    thirds of the budget make a noisy weight of every pair of vertices; cuts that are small there are public, among
    them those of Karger's contractions, and the rest chooses among them by what they really cost. The thesis contracts
    the private graph itself, which needs a delta; contracting the noisy one does not.

    **Accuracy** up to 20 vertices within (w unit.l1/epsilon) ln(2^(n-1)/beta) of the smallest cut, w the largest
    weight, with probability 1 - beta; beyond, within (w unit.l1/epsilon') ln(C/beta) of the best of C suggested ones.
    At epsilon 1 two cliques joined by an edge are told apart from about 60 vertices on (on average 0 to 12 above the
    smallest cut from 28 to 200 vertices); noise beyond 0 and w is cut off first, or it would take 200.

    **Runtime** O(2^n) up to 20 vertices, O(n^3) beyond.

    Theorem: T theorem 39 and the remark after 41; for small graphs padding as in algorithm 1 only hurts.
    """

    name: ClassVar[str] = "min-cut"
    title: ClassVar[str] = "Cut by one private choice"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "global minimum cut", "Karger's contraction")
    prefer: ClassVar[str] = "Choose it to divide a network: exact comparison up to 20 vertices, suggestions beyond."
    for_study: ClassVar[bool] = False

    def check(self, domain: Domain, unit: Unit) -> None:
        edges = self.cut_edges(domain)
        if edges.vertices > MOST_CUT_VERTICES:
            raise Refused(f"'min-cut' divides at most {amount(MOST_CUT_VERTICES)} vertices; merge some of them.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(event for event in self._events(domain) if event is not None)

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        edges, (noisy, choosing, _) = self.cut_edges(domain), self._events(domain)
        most = 2 ** (edges.vertices - 1) - 1 if noisy is None else most_suggested(edges.vertices)
        loss = selection_loss(edges.most(unit) * unit.l1 // unit.limit, float(choosing.epsilon), most, FAILURE)
        among = "the smallest cut" if noisy is None else "the best of the cuts that the noisy graph suggests"
        return f"At most {figure(loss)} above {among}, {100 * (1 - FAILURE):.0f} % of the time."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        edges, (noisy, choosing, estimating) = self.cut_edges(kernel.domain), self._events(kernel.domain)
        progress("Choosing a cut", 0.1)
        if noisy is None:
            other = sides_of(kernel.choose(AllCuts(edges), choosing), edges.vertices)
        else:
            seen = np.zeros((edges.vertices, edges.vertices))
            found = kernel.measure(PairWeights(edges), noisy)
            seen[np.triu_indices(edges.vertices, 1)] = found.values
            sides = suggested(seen + seen.T, found.level.mean_error, float(edges.high), kernel.generator())
            progress("Choosing among the suggested cuts", 0.5)
            other = sides[kernel.choose(SomeCuts(edges, sides), choosing)]
        return self._divided(kernel, other, estimating)

    def _events(self, domain: Domain) -> tuple[Laplace | None, Selection, Laplace | None]:
        if self.edges(domain).vertices <= ENUMERATED:
            return None, *self._choices(1)
        whole, part = pure_for(self.budget), ESTIMATE if self.estimated else Fraction(0)
        choosing = whole * (1 - part) * CHOOSING
        last = Laplace(whole * part) if self.estimated else None
        return Laplace(whole * (1 - part) - choosing), Selection(choosing), last


def sides_of(candidate: int, vertices: int) -> NDArray[np.bool_]:
    """Which vertices lie on the other side than the first one, of a candidate of `AllCuts`."""
    return np.array([False, *(bool((candidate + 1) >> place & 1) for place in range(vertices - 1))])
