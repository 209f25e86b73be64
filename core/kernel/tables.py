"""Questions about tables of counts: a row falls into at most one cell, so all cells together cost as much as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, AskedTogether, Change, one_number, own
from core.kernel.remembered import Remembered, corners_of
from core.privacy.unit import Unit
from core.table.counts import Counts, Source, prepare

LARGEST = 2**60
"""Totals are clipped here, which brings neighbours no further apart, so that differences of two stay in 64 bits."""


def one_cell(unit: Unit) -> Change:
    """The change of counts of disjoint sets of rows: `unit.l1` and `unit.l2_squared`.

    c(r) is 1 in one cell, or nothing. L rows in one cell move it by L: L in L1, L^2 in squared L2. A replacement takes
    up to L from cells and gives up to L to others: 2 L in L1 and at most 2 L^2 in squared L2, when no cell is in both.
    """
    return Change(unit.l1, unit.l2_squared)


@dataclass(frozen=True)
class Marginal(Asked):
    """Every count of the table over some columns; over no columns, the number of rows.

    **Change** `one_cell`; the number of rows moves by at most L, also when a unit is replaced.
    """

    columns: Columns
    denominator: ClassVar[int] = 1

    def total(self, source: Source) -> NDArray[Any]:
        """The table of any source: whole numbers of private counts, estimates of a model."""
        return source.marginal(self.columns)

    def counts(self, counts: Counts) -> IntArray:
        return np.asarray(self.total(counts), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_cell(unit) if self.columns else one_number(unit)


TOTAL = Marginal(())
"""The number of rows."""


@dataclass(frozen=True, eq=False)
class Blocks(Asked):
    """The counts of a grid of blocks of a table.

    `starts` has, for every column, the first cell of each block, rising from 0: the blocks cover the table once.

    **Change** `one_cell`: a row lies in exactly one block.
    """

    columns: Columns
    starts: tuple[IntArray, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", tuple(own(places, "starts") for places in self.starts))
        for places in self.starts:
            if len(places) == 0 or places[0] != 0 or (np.diff(places) <= 0).any():
                raise BadParameter("starts", "blocks must begin at 0 and follow one another.")

    def counts(self, counts: Counts) -> IntArray:
        table = counts.marginal(self.columns)
        for axis, places in enumerate(self.starts):
            table = np.add.reduceat(table, places, axis=axis)
        return np.asarray(table, dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_cell(unit)


@dataclass(frozen=True)
class Interval(Asked):
    """The count of the cells of a column from `first` up to, not including, `last`.

    **Change** `one_number`: a row adds 0 or 1.
    """

    column: str
    first: int
    last: int

    def counts(self, counts: Counts) -> IntArray:
        if not 0 <= self.first <= self.last <= counts.domain[self.column].size:
            raise BadParameter("interval", "must lie inside the column.")
        sums = _corners(counts, (self.column,))
        return np.asarray(sums[self.last] - sums[self.first], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit)


@dataclass(frozen=True, eq=False)
class Boxes(Asked):
    """The counts of boxes of a table that do not overlap: cells from `low` up to, not including, `high`.

    **Change** `one_cell`: a row lies in at most one box, which is checked here and not believed.
    """

    columns: Columns
    low: IntArray
    high: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", own(self.low, "low"))
        object.__setattr__(self, "high", own(self.high, "high"))

    def counts(self, counts: Counts) -> IntArray:
        self._check(counts.domain.shape(self.columns))
        corners = _corners(counts, self.columns)
        found = np.zeros(len(self.low), dtype=np.int64)
        for ends in product((0, 1), repeat=corners.ndim):
            places = np.where(np.array(ends, dtype=bool), self.high, self.low)
            found += (-1) ** (corners.ndim - sum(ends)) * corners[tuple(places.T)]
        return found

    def change(self, unit: Unit) -> Change:
        return one_cell(unit)

    def _check(self, shape: tuple[int, ...]) -> None:
        """Public facts only: where boxes lie, never what is in them."""
        if (self.low < 0).any() or (self.high > np.array(shape)).any() or (self.low > self.high).any():
            raise BadParameter("boxes", "must lie inside the table.")
        full = (self.low < self.high).all(axis=1)
        if _overlap(self.low[full], self.high[full], math.prod(shape)):
            raise BadParameter("boxes", "must not overlap.")


@dataclass(frozen=True, eq=False)
class Distances(AskedTogether):
    """For each of several tables, the sum over its cells of |count - public reference|, in rows.

    **Change** one distance moves by at most the L1 change of its table (triangle inequality), so by at most
    D = `unit.l1`. P distances together: P D in L1, P D^2 in squared L2.
    """

    columns: tuple[Columns, ...]
    references: tuple[IntArray, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "references", tuple(own(table, "references") for table in self.references))

    def counts(self, counts: Counts) -> IntArray:
        return distances(counts, self.columns, self.references)

    def change(self, unit: Unit) -> Change:
        return Change(len(self.columns) * self.furthest(unit), len(self.columns) * self.furthest(unit) ** 2)

    def furthest(self, unit: Unit) -> int:
        return unit.l1


def distances(counts: Counts, columns: tuple[Columns, ...], references: tuple[IntArray, ...]) -> IntArray:
    """The exact L1 distance of each table from its public reference; a reference is rounded to whole rows already."""
    prepare(counts, columns)
    pairs = zip(columns, references, strict=True)
    return np.array([_distance(counts.marginal(key), reference) for key, reference in pairs], dtype=np.int64)


def _distance(table: IntArray, reference: IntArray) -> int:
    if reference.shape != table.shape:
        # Numpy would repeat the table to fit, and count every row as often.
        raise BadParameter("references", "must have the shape of their table.")
    most = LARGEST // table.size
    return int(np.abs(np.clip(table, 0, most) - np.clip(reference, -most, most)).sum())


def _corners(counts: Counts, columns: Columns) -> IntArray:
    return counts.corners(columns) if isinstance(counts, Remembered) else corners_of(counts, columns)


def _overlap(low: IntArray, high: IntArray, cells: int) -> bool:
    """Whether any two boxes, none of them empty, have a cell in common.

    Boxes that have one overlap along every axis. Along the axis where the fewest do, those pairs are compared along all
    the others; where there are more pairs than cells, the cells that boxes cover are marked instead.
    """
    found = [_neighbours(low[:, axis], high[:, axis]) for axis in range(low.shape[1])]
    order, follow = min(found, key=lambda each: int(each[1].sum()))
    if follow.sum() > cells:
        return _covered_twice(low, high)
    first = np.repeat(np.arange(len(order)), follow)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(follow) - follow, follow)
    one, two = order[first], order[second]
    return bool((np.maximum(low[one], low[two]) < np.minimum(high[one], high[two])).all(axis=1).any())


def _neighbours(low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Ranges in the order in which they begin, and how many of the next ones begin before each ends."""
    order = np.argsort(low, kind="stable")
    return order, np.searchsorted(low[order], high[order], side="left") - np.arange(len(order)) - 1


def _covered_twice(low: IntArray, high: IntArray) -> bool:
    covered = np.zeros(high.max(axis=0) + 1, dtype=np.int32)
    for ends in product((0, 1), repeat=low.shape[1]):
        np.add.at(covered, tuple(np.where(np.array(ends, dtype=bool), high, low).T), (-1) ** sum(ends))
    for axis in range(low.shape[1]):
        covered = np.cumsum(covered, axis=axis)
    return bool(covered.max() > 1)
