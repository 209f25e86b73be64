"""Questions about what must be covered: edges or elements that are there or not, however many rows say so.

A row makes at most one edge or element present. So adding or removing L rows adds or removes at most L of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, AskedScores, Change, one_number, own
from core.kernel.decisions.cuts import Edges
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit

MOST_COST = 2**20
"""Costs of vertices and sets are whole numbers up to this."""


@dataclass(frozen=True)
class Presence(Asked):
    """For every cell of some columns, 1 if any row is in it and 0 otherwise.

    **Change** L cells by 1 each, or 2 L where a unit is replaced: `unit.l1` in L1 and as much in squared L2.
    """

    columns: Columns

    def counts(self, counts: Remembered) -> IntArray:
        return np.minimum(counts.marginal(self.columns), 1)

    def change(self, unit: Unit) -> Change:
        return Change(unit.l1, unit.l1)


@dataclass(frozen=True)
class Degrees(Asked):
    """How many different neighbours every vertex has.

    **Change** an edge adds 1 to two vertices: 2 L in L1. The sum of squares of what L edges add is the sum over these
    edges of what they add to both ends together, at most L + 1 each: at most L^2 + L. What a replacement removes and
    what it adds both count from 0 up, so their squares add up at most.
    """

    edges: Edges

    def counts(self, counts: Remembered) -> IntArray:
        return np.asarray(self.edges.present(counts).sum(axis=1), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        parts = unit.l1 // unit.limit
        return Change(2 * unit.l1, parts * (unit.limit**2 + unit.limit))


@dataclass(frozen=True)
class Matching(Asked):
    """The size of a largest matching: no two of its edges share a vertex.

    **Change** an edge more raises it by at most 1: `one_number`.
    """

    edges: Edges

    def counts(self, counts: Remembered) -> IntArray:
        # Here and not above: it takes long to load, and few pages need it.
        import networkx as nx

        graph = nx.from_numpy_array(self.edges.present(counts))
        return np.array([len(nx.max_weight_matching(graph))], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit)


@dataclass(frozen=True, eq=False)
class CoverCost(Asked):
    """What a public rule costs that says by which vertex or set each cell is covered: the sum over those in use.

    **Change** a row is in one cell, which brings at most one vertex or set into use: `one_number` of the largest cost.
    """

    columns: Columns
    covered_by: IntArray
    """For every cell the place of what covers it; -1 where nothing need be covered."""
    costs: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "covered_by", own(self.covered_by, "covered_by"))
        object.__setattr__(self, "costs", own(self.costs, "costs"))
        if not len(self.costs) or self.costs.min() < 0 or self.costs.max() > MOST_COST:
            raise BadParameter("costs", f"must be whole numbers from 0 to {MOST_COST:,}.")
        if self.covered_by.max(initial=-1) >= len(self.costs):
            raise BadParameter("covered_by", "must name what has a cost.")

    def counts(self, counts: Remembered) -> IntArray:
        table = counts.marginal(self.columns)
        if table.shape != self.covered_by.shape:
            raise BadParameter("covered_by", "must name one for every combination of values of the columns.")
        used = np.unique(self.covered_by[(table > 0) & (self.covered_by >= 0)])
        return np.array([int(self.costs[used].sum())], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit, max(1, int(self.costs.max())))


@dataclass(frozen=True, eq=False)
class RuleCosts(AskedScores):
    """Minus what each of several public rules costs that say by what each cell is covered, as `CoverCost` counts it.

    **Sensitivity** as for `CoverCost`; a row that is added brings costs into use and takes none out.
    """

    one_sided: ClassVar[bool] = True

    columns: Columns
    rules: IntArray
    """One line per rule, one number per cell of the columns, in their order."""
    costs: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", own(self.rules, "rules"))
        object.__setattr__(self, "costs", own(self.costs, "costs"))
        if self.rules.ndim != 2 or not len(self.rules):
            raise BadParameter("rules", "must be one line per rule.")

    def scores(self, counts: Remembered) -> IntArray:
        shape = counts.domain.shape(self.columns)
        asked = (CoverCost(self.columns, rule.reshape(shape), self.costs) for rule in self.rules)
        return np.array([-int(each.counts(counts)[0]) for each in asked], dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * max(1, int(self.costs.max()))
