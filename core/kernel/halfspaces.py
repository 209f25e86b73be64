"""Questions about points in space: on which side of planes rows lie, and sums of products of their coordinates.

A row's coordinates are public functions of its codes, column by column; a row that lacks one adds nothing anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, largest_size, one_number, own
from core.privacy.unit import Unit
from core.table.counts import Counts

SCALE = 2**20
"""Coordinates are whole numbers from -SCALE to SCALE."""
STEPS = 2**8
"""In sums of products, coordinates between -1 and 1 are whole multiples of 1/STEPS: far finer than the noise."""
MOST_CONSTANT = 2**6
"""Of the first coordinate in sums of products: 2^34 rows times its square and that of STEPS stay below 2^63."""
BLOCK = 2**21
"""Products held at a time."""


@dataclass(frozen=True, eq=False)
class Space:
    """Where the combinations of codes of some columns lie; public."""

    columns: Columns
    scales: tuple[IntArray, ...]
    """For every column, the coordinate of each ordinary cell; cells beyond (missing, other) have none."""
    lifted: bool
    """Whether points get a last coordinate SCALE, so that planes through the origin stand for all planes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", tuple(own(scale, "coordinates") for scale in self.scales))
        if any(largest_size(scale) > SCALE for scale in self.scales):
            raise BadParameter("coordinates", f"must lie between -{SCALE:,} and {SCALE:,}.")

    @property
    def dimensions(self) -> int:
        return len(self.columns) + self.lifted

    def points(self, codes: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Coordinates of combinations of codes, one per line, and which of them lack none."""
        lines = np.empty((len(codes), self.dimensions), dtype=np.int64)
        present = np.ones(len(codes), dtype=np.bool_)
        for place, scale in enumerate(self.scales):
            present &= codes[:, place] < len(scale)
            lines[:, place] = scale[np.minimum(codes[:, place], len(scale) - 1)]
        if self.lifted:
            lines[:, -1] = SCALE
        return lines, present

    def blocks(self, counts: Counts, width: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Points of the private rows that lack no coordinate and how often each occurs, some at a time."""
        codes, often = counts.combinations(self.columns)
        step = max(1, BLOCK // max(1, width))
        for start in range(0, len(codes), step):
            lines, present = self.points(codes[start : start + step])
            yield lines[present], often[start : start + step][present]


@dataclass(frozen=True, eq=False)
class Inside(Asked):
    """For each of K planes, the rows on its positive side. Each plane is a part.

    **Change** of a plane: `one_number`. A row adds 0 or 1 to its count.
    """

    space: Space
    normals: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "normals", _bounded(self.normals, self.space))

    @property
    def parts(self) -> int:
        return len(self.normals)

    def counts(self, counts: Counts) -> IntArray:
        return _summed(self.space, self.normals, counts, outside=0.0)

    def change(self, unit: Unit) -> Change:
        return one_number(unit)


@dataclass(frozen=True, eq=False)
class Balances(Asked):
    """For each of K planes, rows on its positive side minus rows on the other.

    **Change** a row adds 1 or -1 to each balance (0 without a coordinate): a unit moves one by at most D = `unit.l1`,
    L when rows are added or removed, 2 L when they are replaced. K D in L1, K D^2 in squared L2.
    """

    space: Space
    normals: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "normals", _bounded(self.normals, self.space))

    def counts(self, counts: Counts) -> IntArray:
        return _summed(self.space, self.normals, counts, outside=-1.0)

    def change(self, unit: Unit) -> Change:
        return Change(len(self.normals) * unit.l1, len(self.normals) * unit.l1**2)


@dataclass(frozen=True, eq=False)
class Wedges(Asked):
    """For groups of planes through the origin, rows in each wedge between them minus rows in the opposite wedge.

    A row is on the positive or negative side of each plane of a group; rows whose sides are all opposite lie in
    opposite wedges. In two dimensions m planes, sorted by angle within a half circle, make m pairs of wedges; otherwise
    2^(m-1). Each group is a part.

    **Change** of a group: a row adds 1 or -1 to one of its differences and nothing to the others, so a unit moves them
    by at most D = `unit.l1` in L1, hence by at most D^2 in squared L2.
    """

    space: Space
    normals: IntArray
    """Shape (groups, planes of a group, dimensions)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "normals", _bounded(self.normals, self.space))
        if self.space.dimensions == 2:
            turns = np.arctan2(self.normals[..., 1], self.normals[..., 0])
            if (turns < 0).any() or (turns >= np.pi).any() or (np.diff(turns, axis=1) < 0).any():
                raise BadParameter("normals", "must be sorted by angle within a half circle.")

    @property
    def parts(self) -> int:
        return len(self.normals)

    @property
    def width(self) -> int:
        """Pairs of opposite wedges in a group."""
        planes = self.normals.shape[1]
        return planes if self.space.dimensions == 2 else 2 ** (planes - 1)

    def counts(self, counts: Counts) -> IntArray:
        found = np.zeros(len(self.normals) * self.width, dtype=np.int64)
        for lines, often in self.space.blocks(counts, self.normals[..., 0].size):
            places, signs = self.placed(lines)
            # Sums of counts stay below 2^53, so floats are exact here.
            found += np.bincount(places.ravel(), (signs * often).ravel(), minlength=found.size).astype(np.int64)
        return found.reshape(len(self.normals), self.width)

    def change(self, unit: Unit) -> Change:
        return Change(unit.l1, unit.l1**2)

    def placed(self, lines: IntArray) -> tuple[IntArray, IntArray]:
        """For every group (lines) and point (columns): to which of all differences it belongs, and with which sign."""
        groups, planes, dimensions = self.normals.shape
        inside = (_heights(self.normals.reshape(-1, dimensions), lines) >= 0).reshape(groups, planes, len(lines))
        agrees = inside[:, 1:] == inside[:, :1]
        # Planes in two dimensions are sorted by angle: how many agree with the first says where a point is.
        powers = np.ones(planes - 1) if dimensions == 2 else 2.0 ** np.arange(planes - 1)
        within = np.einsum("p,gpn->gn", powers, agrees).astype(np.int64)
        return within + np.arange(groups)[:, None] * self.width, np.where(inside[:, 0], 1, -1)


@dataclass(frozen=True, eq=False)
class Moments(Asked):
    """Sums of z_i z_j over rows, for z = (constant, x_1, .., x_d), where each x_i lies in -1..1, times STEPS^2.

    With a constant above 1 the count and the mean get less of the noise than the many second moments.

    **Change** with k the constant and e = d(d+1)/2 second moments (d if only variances are asked), one row moves the
    sums by at most b1 = k^2 + k d + e in L1 and b2 = k^4 + k^2 d + e in squared L2, both reached at a corner. Adding or
    removing a unit: L b1 and L^2 b2. Replacing one: a pair of rows keeps the count, moves each sum of x_i by at most 2,
    of x_i^2 by 1 and of x_i x_j by 2, so L times the larger of b1 and 2 k d + d + 2 (e - d). In squared L2: 2 L^2 b2,
    because the sums of any two rows have a non-negative product, ((z . z')^2 + sum z_i^2 z'_i^2)/2, or with variances
    only at least k^4 - k^2 d, which is one where k^2 >= d; otherwise (2 L)^2 b2.
    """

    space: Space
    constant: int
    cross: bool
    """Whether products of two different columns are asked, or variances only."""

    def __post_init__(self) -> None:
        if type(self.constant) is not int or not 1 <= self.constant <= MOST_CONSTANT:
            raise BadParameter("constant", f"must be a whole number from 1 to {MOST_CONSTANT}.")

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which products are asked."""
        lines, others = np.triu_indices(len(self.space.columns) + 1)
        asked = (lines == 0) | (lines == others) | self.cross
        return lines[asked], others[asked]

    def counts(self, counts: Counts) -> IntArray:
        columns = len(self.space.columns)
        products = np.zeros((columns + 1, columns + 1), dtype=np.int64)
        for lines, often in self.space.blocks(counts, 32):
            padded = np.full((len(lines), columns + 1), self.constant * STEPS, dtype=np.int64)
            padded[:, 1:] = (lines[:, :columns] * STEPS + SCALE // 2) // SCALE
            products += padded.T @ (padded * often[:, None])
        return products[self.places]

    def change(self, unit: Unit) -> Change:
        columns = len(self.space.columns)
        first, second = self.constant * columns, len(self.places[0]) - 1 - columns
        row = self.constant**2 + first + second
        if unit.neighbours == "replace":
            row = max(row, 2 * first + 2 * second - columns)
        squared = self.constant**4 + self.constant**2 * columns + second
        apart = self.cross or self.constant**2 >= columns
        return Change(unit.limit * row * STEPS**2, (unit.l2_squared if apart else unit.l1**2) * squared * STEPS**4)


def _bounded(normals: IntArray, space: Space) -> IntArray:
    """Normals whose products with any point stay below 2^53, so that floats are exact."""
    copied = own(normals, "normals")
    if copied.ndim < 2 or copied.shape[-1] != space.dimensions:
        raise BadParameter("normals", "need one number for every dimension.")
    if largest_size(copied) * SCALE * space.dimensions >= 2**53:
        raise BadParameter("normals", "are too long; scale them down.")
    return copied


def _summed(space: Space, normals: IntArray, counts: Counts, outside: float) -> IntArray:
    """For each plane the sum over rows of 1 inside and `outside` elsewhere; below 2^53, so floats are exact here."""
    found = np.zeros(len(normals))
    for lines, often in space.blocks(counts, len(normals)):
        found += often.astype(np.float64) @ np.where(_heights(normals, lines).T >= 0, 1.0, outside)
    return found.astype(np.int64)


def _heights(normals: IntArray, lines: IntArray) -> NDArray[np.float64]:
    """Products of normals (lines) and points (columns); they stay below 2^53, so floats are exact here."""
    return np.asarray(normals.astype(np.float64) @ lines.T.astype(np.float64))
