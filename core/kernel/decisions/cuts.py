"""Rows as edges of a graph, and what cuts of it cost.

A row adds its weight to a cut, or nothing, so everything here moves as `weighed.py` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, AskedScores, Change, one_number, own
from core.kernel.decisions.weighed import EXACT
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit

MOST_WEIGHT = 1_000
"""Of one row; sums of weights of 2^40 rows stay far from 2^63."""
MOST_ENUMERATED = 22
"""Vertices of which all cuts are scored: two million."""


@dataclass(frozen=True)
class Edges:
    """The rows of a table as edges of a graph: two columns of vertices, and perhaps a whole weight for each row.

    Vertices are the first `vertices` codes of both columns; rows with another code, and rows from a vertex to itself,
    are no edges.
    """

    columns: Columns
    vertices: int
    weight: str | None = None
    low: int = 0
    high: int = 1
    """The weights of the codes of the column of weights: from `low` up, one step each, `high` at most. Public."""

    def __post_init__(self) -> None:
        if any(type(number) is not int for number in (self.vertices, self.low, self.high)):
            raise BadParameter("edges", "must be told by whole numbers.")
        if len(self.columns) != 2 or self.vertices < 2 or not 0 <= self.low <= self.high or self.high < 1:
            raise BadParameter("edges", "need two columns, two vertices and weights of at least 0.")
        if self.high > MOST_WEIGHT:
            raise BadParameter("edges", f"need weights of at most {MOST_WEIGHT:,}.")

    def weights(self, counts: Any) -> IntArray:
        """Weights of all pairs of vertices, the same both ways; exact, for the kernel and for public tables."""
        if self.weight is None:
            table = counts.marginal(self.columns)
        else:
            table = counts.marginal((*self.columns, self.weight))
            values = np.minimum(self.low + np.arange(table.shape[-1]), self.high)
            # Codes after the whole numbers are 'missing': no weight.
            values[self.high - self.low + 1 :] = 0
            # Clipping brings neighbours no further apart, and keeps the sums in 64 bits.
            table = np.clip(table, 0, LARGEST // (MOST_WEIGHT * values.size)) @ values
        held = np.clip(np.asarray(table)[: self.vertices, : self.vertices], 0, LARGEST // self.vertices**2)
        both = held + held.T
        np.fill_diagonal(both, 0)
        return np.asarray(both, dtype=np.int64)

    def present(self, counts: Any) -> NDArray[np.bool_]:
        """Which pairs have an edge."""
        return np.asarray(self.weights(counts) > 0)

    def most(self, unit: Unit) -> int:
        """The largest weight that one unit adds to all edges together."""
        return unit.limit * (self.high if self.weight is not None else 1)


@dataclass(frozen=True)
class AllCuts(AskedScores):
    """Minus the weight of the edges between the two sides, for every way to divide the vertices in two.

    Candidate c puts vertex v > 0 on the other side than vertex 0 where bit v - 1 of c + 1 is set.

    **Sensitivity** a row adds its weight, or nothing, to what a cut costs: L times the largest weight.
    """

    one_sided: ClassVar[bool] = True

    edges: Edges

    def __post_init__(self) -> None:
        if self.edges.vertices > MOST_ENUMERATED:
            raise BadParameter("vertices", f"must be at most {MOST_ENUMERATED} where all cuts are compared.")

    def scores(self, counts: Remembered) -> IntArray:
        return -cut_weights(self.edges.weights(counts))[1:]

    def sensitivity(self, unit: Unit) -> int:
        return self.edges.most(unit)


def cut_weights(weights: IntArray) -> IntArray:
    """The weight of every cut, by doubling: the sides of the first v vertices, then vertex v on either side."""
    found = np.zeros(1, dtype=np.int64)
    for vertex in range(1, len(weights)):
        towards = np.zeros(1, dtype=np.int64)
        for earlier in range(1, vertex):
            towards = np.concatenate([towards, towards + weights[earlier, vertex]])
        every = int(weights[:vertex, vertex].sum())
        found = np.concatenate([found + towards, found + every - towards])
    return found


@dataclass(frozen=True, eq=False)
class SomeCuts(AskedScores):
    """Minus the weight of the edges between the two sides, for some public ways to divide the vertices.

    **Sensitivity** as for `AllCuts`.
    """

    one_sided: ClassVar[bool] = True

    edges: Edges
    sides: NDArray[np.bool_]
    """One line per cut: which vertices are on the one side."""

    def __post_init__(self) -> None:
        sides = np.array(self.sides, dtype=bool)
        sides.setflags(write=False)
        object.__setattr__(self, "sides", sides)
        if sides.ndim != 2 or sides.shape[1] != self.edges.vertices or not len(sides):
            raise BadParameter("sides", "must be one line per cut, with every vertex.")

    def scores(self, counts: Remembered) -> IntArray:
        return -some_cut_weights(self.edges.weights(counts), self.sides)

    def sensitivity(self, unit: Unit) -> int:
        return self.edges.most(unit)


def some_cut_weights(weights: IntArray, sides: NDArray[np.bool_]) -> IntArray:
    # Sums below 2^53 are exact as floats, and much faster.
    kind = np.float64 if int(weights.sum()) < EXACT else np.int64
    inside = sides.astype(kind)
    return np.asarray(((inside @ weights.astype(kind)) * (1 - inside)).sum(axis=1)).astype(np.int64)


@dataclass(frozen=True)
class PairWeights(Asked):
    """The weight of every pair of vertices.

    **Change** a row adds its weight to one pair: `unit.l1` times the largest weight w in L1, `unit.l2_squared` w^2 in
    squared L2, as for disjoint counts.
    """

    edges: Edges

    def counts(self, counts: Remembered) -> IntArray:
        return self.edges.weights(counts)[np.triu_indices(self.edges.vertices, 1)]

    def change(self, unit: Unit) -> Change:
        heaviest = self.edges.most(unit) // unit.limit
        return Change(unit.l1 * heaviest, unit.l2_squared * heaviest**2)


@dataclass(frozen=True, eq=False)
class CutWeight(Asked):
    """The weight of the edges between the two sides of one public cut.

    **Change** `one_number`: a row adds its weight or nothing.
    """

    edges: Edges
    side: NDArray[np.bool_]

    def __post_init__(self) -> None:
        SomeCuts(self.edges, np.array(self.side)[None])
        object.__setattr__(self, "side", own(np.array(self.side, dtype=np.int64), "side"))

    def counts(self, counts: Remembered) -> IntArray:
        return some_cut_weights(self.edges.weights(counts), self.side[None].astype(bool))

    def change(self, unit: Unit) -> Change:
        return one_number(unit, self.edges.most(unit) // unit.limit)


@dataclass(frozen=True, eq=False)
class PaddedCuts(AskedScores):
    """For rising public sets of extra edges, minus the distance of the smallest cut with them from a public target.

    **Sensitivity** a smallest cut is the least of the cuts' weights, each of which moves by at most L times the largest
    weight, and so does its distance from a fixed number.
    """

    edges: Edges
    target: int

    def __post_init__(self) -> None:
        if self.edges.vertices > MOST_ENUMERATED:
            raise BadParameter("vertices", f"must be at most {MOST_ENUMERATED} where all cuts are compared.")

    @property
    def extra(self) -> list[tuple[int, int]]:
        return extra_edges(self.edges.vertices)

    def scores(self, counts: Remembered) -> IntArray:
        weights, vertices = self.edges.weights(counts), self.edges.vertices
        found, chosen = cut_weights(weights)[1:], np.arange(1, 2 ** (vertices - 1))
        smallest = [int(found.min())]
        for one, two in self.extra:
            found += (_side(chosen, one) != _side(chosen, two)).astype(np.int64)
            smallest.append(int(found.min()))
        return -np.abs(np.array(smallest, dtype=np.int64) - self.target)

    def sensitivity(self, unit: Unit) -> int:
        return self.edges.most(unit)


@dataclass(frozen=True)
class PaddedSides(AskedScores):
    """What `AllCuts` scores, in the graph with the first `added` public extra edges.

    **Sensitivity** the extra edges are public: as for `AllCuts`.
    """

    one_sided: ClassVar[bool] = True

    edges: Edges
    added: int

    def __post_init__(self) -> None:
        AllCuts(self.edges)

    def scores(self, counts: Remembered) -> IntArray:
        weights = self.edges.weights(counts).copy()
        for one, two in extra_edges(self.edges.vertices)[: self.added]:
            # Cuts are summed over pairs in rising order, as these are.
            weights[one, two] += 1
        return -cut_weights(weights)[1:]

    def sensitivity(self, unit: Unit) -> int:
        return self.edges.most(unit)


def extra_edges(vertices: int) -> list[tuple[int, int]]:
    """All pairs, the nearest on a circle first: every vertex gains about as many at any time."""
    pairs = [(vertex, (vertex + step) % vertices) for step in range(1, vertices // 2 + 1) for vertex in range(vertices)]
    return list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))


def _side(chosen: IntArray, vertex: int) -> IntArray:
    return (2 * chosen >> vertex) & 1
