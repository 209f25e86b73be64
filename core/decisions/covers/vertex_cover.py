"""Vertices in an order that covers every edge by the end that comes first: what both ways to order share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base import limits
from core.base.arrays import IntArray
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.decisions.decision import ESTIMATE, Decided, measured
from core.decisions.graph import Graph, ends_first
from core.kernel.decisions.covers import MOST_COST, CoverCost
from core.kernel.kernel import Kernel
from core.privacy.budget import Budget
from core.privacy.events import Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

ORDERED = "An order, not a cover: every possible edge finds in it the end that covers it; nobody learns which exist."


@dataclass(frozen=True, kw_only=True)
class VertexCover(Graph):
    """Vertices, perhaps with costs."""

    problem: ClassVar[str] = "vertex-cover"

    budget: Budget
    costs: tuple[tuple[str, int], ...] = option(
        "lines",
        "Costs of vertices",
        default=(),
        choices=("vertex", "cost"),
        help="Public; a vertex that is not listed costs 1.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        object.__setattr__(self, "costs", read_costs(self.costs, "costs"))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        self.cost_of(domain)

    def cost_of(self, domain: Domain) -> IntArray:
        """What every vertex costs."""
        names, known = self.vertices(domain), dict(self.costs)
        for name in known:
            if name not in names:
                raise BadParameter("costs", f"'{printable(name)}' is no vertex.")
        return np.array([known.get(name, 1) for name in names], dtype=np.int64)

    def value(self, decided: Decided, counts: Counts) -> float:
        order = self._order(decided, counts.domain)
        return cover_cost(self.edges(counts.domain).present(counts), order, self.cost_of(counts.domain))

    def best(self, counts: Counts) -> float:
        """Greedy by uncovered neighbours for their cost: no cover without privacy is found so well so fast."""
        present, costs = self.edges(counts.domain).present(counts), self.cost_of(counts.domain)
        return cover_cost(present, greedy_order(present, costs), costs)

    def _order(self, decided: Decided, domain: Domain) -> tuple[int, ...]:
        places = {name: place for place, name in enumerate(self.vertices(domain))}
        return tuple(places[line["vertex"]] for line in decided.lines)

    def _events(self) -> tuple[Fraction, Laplace]:
        whole = pure_for(self.budget)
        return whole * (1 - ESTIMATE), Laplace(whole * ESTIMATE)

    def _ordered(self, kernel: Kernel, order: tuple[int, ...], event: Laplace) -> Decided:
        names, costs = self.vertices(kernel.domain), self.cost_of(kernel.domain)
        covered = ends_first(order, kernel.domain.shape(self.columns), len(names))
        estimate = measured(kernel, CoverCost(self.columns, covered, costs), event, "Cost of the vertices in use")
        return Decided(
            sentence=ORDERED,
            lines=tuple(
                {"place": place + 1, "vertex": names[vertex], "cost": int(costs[vertex])}
                for place, vertex in enumerate(order)
            ),
            facts={"columns": list(self.columns)},
            estimate=estimate,
        )


def read_costs(lines: Any, parameter: str) -> tuple[tuple[str, int], ...]:
    """Names with whole costs."""
    found = []
    for line in lines if isinstance(lines, list | tuple) else ():
        if not isinstance(line, list | tuple) or len(line) != 2:
            raise BadParameter(parameter, "each line needs a name and a cost.")
        name, cost = line
        if isinstance(cost, bool) or not isinstance(cost, int | float) or cost != int(cost):
            raise BadParameter(parameter, f"'{printable(name)}' needs a whole cost.")
        found.append((str(name), limits.whole(int(cost), parameter, 1, MOST_COST)))
    if len({name for name, _ in found}) != len(found):
        raise BadParameter(parameter, "each name may be listed only once.")
    return tuple(found)


def cover_cost(present: np.ndarray, order: tuple[int, ...], costs: IntArray) -> float:
    """What the vertices cost that some edge is covered by."""
    first = ends_first(order, present.shape, len(present))
    return float(costs[np.unique(first[present & (first >= 0)])].sum())


def greedy_order(present: np.ndarray, costs: IntArray) -> tuple[int, ...]:
    """Each time the vertex with the most uncovered edges for its cost."""
    left, degrees, order = np.ones(len(present), dtype=bool), present.sum(axis=1).astype(np.int64), list[int]()
    for _ in range(len(present)):
        vertex = int(np.argmax(np.where(left, degrees / costs, -1.0)))
        order.append(vertex)
        left[vertex] = False
        degrees = degrees - present[vertex]
    return tuple(order)
