"""Rectangles: rows whose values in two or three ordered columns each lie between two bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats, IntArray
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.query import Query
from core.queries.kit import checks, pieces, subsets
from core.queries.kit.dimensions import fat_of_predicates
from core.queries.kit.protocol import Dimension, Source, answers_of
from core.schema.domain import Domain

MOST_WORK = 2**31
"""Sums compared for an exact worst error: about four seconds of one core; 1,024 x 1,024 pieces are 2^29."""


@dataclass(frozen=True, kw_only=True)
class Rectangles:
    """All axis-aligned boxes in two or three ordered columns (B section 4), each side an interval of its column.

    Boxes are ordered by the interval of the first column, then the second, then the third, as `Intervals` orders them.

    **Runtime** answers are differences of a summed-area table. The worst error is exact in O(N^3) for N x N pieces:
    for each pair of bounds of one column the best interval of the other is a largest minus a smallest prefix sum.
    """

    name: ClassVar[str] = "rectangles"
    title: ClassVar[str] = "Rectangles: rows between bounds in two or three columns"

    columns: tuple[str, ...] = option(
        "columns", "Columns", only="ordered", low=2, high=3, help="Two or three columns of numbers or dates."
    )
    bits: int | None = pieces.bits_option("each column")

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain) -> None:
        pieces.check(domain, self.columns, self.bits, "columns")
        checks.holdable(domain, self.columns, self.name)

    def edges(self, domain: Domain) -> tuple[NDArray[np.int64], ...]:
        """For each column the places, counted in cells, at which a side can begin or end."""
        self.check(domain)
        return tuple(pieces.edges(domain, column, self.bits) for column in self.columns)

    def corners(self, source: Source) -> NDArray[Any]:
        """The summed-area table: counts of rows before each combination of places."""
        table = source.marginal(self.columns)
        for axis, cuts in enumerate(self.edges(source.domain)):
            table = pieces.prefix(table, cuts, axis)
        return table

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return (self.columns,)

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(math.prod(self._sides(domain)))

    def vc(self, domain: Domain) -> Dimension:
        """Points one step from a centre along each axis are shattered by the boxes that hold the centre."""
        counts = [len(cuts) - 1 for cuts in self.edges(domain)]
        most = 2 * sum(count > 1 for count in counts)
        return Dimension(
            low=sum(min(2, count - 1) for count in counts),
            high=min(most, math.prod(self._sides(domain)).bit_length() - 1),
            why="the 2d neighbours of a centre are shattered where each axis has 3 pieces; a box with the outermost "
            "points of each axis holds all, so never 2d+1, and never more than log2|Q|",
        )

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        checks.listable(math.prod(self._sides(source.domain)), self.name)
        sums = self.corners(source)
        for axis, places in enumerate(sums.shape):
            first, last = np.triu_indices(places, 1)
            sums = sums.take(last, axis=axis) - sums.take(first, axis=axis)
        return sums.ravel()

    def member(self, domain: Domain, index: int) -> Query:
        sides = self._sides(domain)
        places = np.unravel_index(checks.placed(index, math.prod(sides)), sides)
        edges = self.edges(domain)
        return self.box(
            domain, [subsets.at(len(cuts), 2, int(place)) for cuts, place in zip(edges, places, strict=True)]
        )

    def box(self, domain: Domain, sides: list[tuple[int, ...]]) -> Query:
        """The question about the pieces first to last - 1 of each column."""
        edges = self.edges(domain)
        cells = [(int(cuts[first]), int(cuts[last])) for cuts, (first, last) in zip(edges, sides, strict=True)]
        weights = np.zeros(domain.shape(self.columns), dtype=np.int64)
        weights[tuple(slice(low, high) for low, high in cells)] = 1
        named = zip(self.columns, cells, strict=True)
        words = " and ".join(pieces.span(domain[column], low, high - 1) for column, (low, high) in named)
        return Query(columns=self.columns, weights=weights, words=f"share of rows with {words}")

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member_between(domain, each) for each in self.draw(domain, count, generator))

    def draw(self, domain: Domain, count: int, generator: np.random.Generator) -> IntArray:
        """All ends uniform: every box is equally likely."""
        return np.hstack([pieces.ends(count, len(cuts) - 1, generator) for cuts in self.edges(domain)])

    def totals_between(self, source: Source, places: IntArray) -> NDArray[Any]:
        return pieces.between(self.corners(source), places)

    def member_between(self, domain: Domain, places: IntArray) -> Query:
        return self.box(domain, [(int(first), int(last)) for first, last in places.reshape(-1, 2)])

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        """Exact while the grid is small enough (`MOST_WORK`), otherwise the upper end of `worst_between`."""
        return self.worst_between(truth, estimate)[1]

    def worst_between(self, truth: Source, estimate: Source) -> tuple[float, float]:
        """Certified bounds on the worst error; equal while it is computed exactly.

        On a larger grid the boxes of a coarser grid are compared exactly: their worst error is attained, and any other
        box differs from the largest of them inside it by two slabs per axis, each within one coarse piece.
        """
        self.check(truth.domain)
        sums = pieces.prefix_difference(truth, estimate, self.columns, self.bits)
        coarse = _coarse(sums.shape)
        low = _largest(sums[np.ix_(*coarse)])
        if all(len(places) == size for places, size in zip(coarse, sums.shape, strict=True)):
            return low, low
        cells = sums
        for axis in range(sums.ndim):
            cells = np.diff(cells, axis=axis)
        gains, losses = np.maximum(cells, 0), np.maximum(-cells, 0)
        slack = sum(2 * max(_slab(gains, axis, cuts), _slab(losses, axis, cuts)) for axis, cuts in enumerate(coarse))
        return low, min(low + slack, float(max(gains.sum(), losses.sum())))

    def sentence(self, domain: Domain) -> str:
        count = plural(math.prod(self._sides(domain)), "box").replace("boxs", "boxes")
        return f"shares of rows in all {count} of {' x '.join(self.columns)}"

    def _sides(self, domain: Domain) -> tuple[int, ...]:
        return tuple(math.comb(len(cuts), 2) for cuts in self.edges(domain))


def _work(places: list[int]) -> int:
    """Sums compared when all axes but the longest run over pairs of places."""
    shorter = sorted(places)[:-1]
    return math.prod(math.comb(count, 2) for count in shorter) * max(places)


def _coarse(shape: tuple[int, ...]) -> list[NDArray[np.int64]]:
    """Places kept on each axis: all of them, or every other one of the longest axis until the work is bearable."""
    kept = [np.arange(size) for size in shape]
    while _work([len(places) for places in kept]) > MOST_WORK:
        longest = max(range(len(kept)), key=lambda axis: len(kept[axis]))
        kept[longest] = np.append(kept[longest][:-1][::2], kept[longest][-1])
    return kept


def _largest(sums: Floats) -> float:
    """Largest absolute sum over all boxes of a grid, from its summed-area table."""
    if sums.ndim == 1:
        return float(sums.max() - sums.min())
    sums = np.moveaxis(sums, int(np.argmin(sums.shape)), 0)
    best = 0.0
    for first in range(len(sums) - 1):
        slices = sums[first + 1 :] - sums[first]
        if sums.ndim == 2:
            best = max(best, float(np.ptp(slices, axis=1).max()))
        else:
            best = max(best, *(_largest(part) for part in slices))
    return best


def _slab(mass: Floats, axis: int, cuts: NDArray[np.int64]) -> float:
    """The most mass between two neighbouring cuts of an axis."""
    other = tuple(place for place in range(mass.ndim) if place != axis)
    return float(np.add.reduceat(mass.sum(axis=other), cuts[:-1]).max())
