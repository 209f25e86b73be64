"""Nested grids over a table of counts, and what noisy sums of their blocks say together.

A pyramid has levels from coarse to fine; each block of a level is cut into smaller blocks at the next, and the blocks
of the last level are cells, or stretches of cells that count as one. One column gives a tree of intervals, two columns
a quad tree, three an octree. Nothing here sees private data: all of it is post-processing of noisy sums.

The least-squares estimate of a tree of noisy sums takes one pass up and one down (Hay, Rastogi, Miklau and Suciu 2010;
here with a variance of its own for every block, because blocks at the end of a column may have fewer parts).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats, IntArray
from core.models.denoising.sparse_prior import sparse_counts


class Nesting(Protocol):
    """Which blocks of a level lie in which of the level above."""

    @property
    def levels(self) -> int: ...

    @property
    def families(self) -> tuple[IntArray, ...]:
        """For each level but the last: which blocks of the next level (flat) each block has, padded with -1."""
        ...

    def grid(self, level: int) -> tuple[int, ...]:
        """How many blocks a level has along each axis."""
        ...


AnyNesting = TypeVar("AnyNesting", bound=Nesting)


@dataclass(frozen=True, eq=False)
class Pyramid:
    """Where the blocks of each level start, axis by axis; every start of a level is a start of the next one too."""

    shape: tuple[int, ...]
    starts: tuple[tuple[IntArray, ...], ...]

    @property
    def levels(self) -> int:
        return len(self.starts)

    def grid(self, level: int) -> tuple[int, ...]:
        """How many blocks a level has along each axis."""
        return tuple(len(axis) for axis in self.starts[level])

    @cached_property
    def families(self) -> tuple[IntArray, ...]:
        """For each level but the last: which blocks of the next level (flat) each block has, padded with -1."""
        return tuple(self._family(level) for level in range(self.levels - 1))

    def _family(self, level: int) -> IntArray:
        parents = [
            np.searchsorted(coarse, fine, side="right") - 1
            for coarse, fine in zip(self.starts[level], self.starts[level + 1], strict=True)
        ]
        flat = np.zeros((), dtype=np.int64)
        for blocks, along in zip(self.grid(level), parents, strict=True):
            flat = flat[..., None] * blocks + along
        return family_of(flat.ravel(), math.prod(self.grid(level)))

    def over(self, starts: IntArray, size: int) -> Pyramid:
        """The same nesting for stretches of the cells of one column, which begin at these places."""
        return Pyramid((size,), tuple((starts[along],) for (along,) in self.starts))

    def spread(self, counts: Floats) -> Floats:
        """Cells, from the counts of the last level's blocks: each block evenly."""
        for axis, (starts, size) in enumerate(zip(self.starts[-1], self.shape, strict=True)):
            width = np.diff(starts, append=size)
            if len(starts) < size:
                across = width.reshape([-1 if each == axis else 1 for each in range(len(self.shape))])
                counts = np.repeat(counts / across, width, axis=axis)
        return counts


def family_of(owner: IntArray, blocks: int) -> IntArray:
    """Which members each of so many blocks owns, padded with -1."""
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=blocks)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    family = np.full((sizes.size, int(sizes.max())), -1, dtype=np.int64)
    family[owner[order], np.arange(owner.size) - first] = order
    return family


def pyramid(shape: Sequence[int], widest: int, top: int | None = None) -> Pyramid:
    """The pyramid with as few levels as possible whose blocks have at most `widest` parts along an axis.

    The whole gets `top` parts, or more if that saves a level, and parts below it are balanced: 1,024 cells with at most
    16 parts become 16 x 8 x 8 rather than 16 x 16 x 4, and 8 x 12 x 11 with 8 parts at the top.
    """
    wanted = widest if top is None else top
    below = max(0, *(math.ceil(math.log(-(-size // max(wanted, widest)), widest) - 1e-9) for size in shape))
    by_axis = [_cut(size, max(wanted, -(-size // widest**below)), below) for size in shape]
    return Pyramid(tuple(shape), tuple(zip(*by_axis, strict=True)))


def _cut(size: int, top: int, below: int) -> list[IntArray]:
    """Where blocks start, for so many levels below the top; wider blocks have at least as many parts as narrow ones."""
    parts, left = [], -(-size // top)
    for levels in range(below, 0, -1):
        parts.append(max(1, math.ceil(left ** (1 / levels) - 1e-9)))
        left = -(-left // parts[-1])
    widths = [math.prod(parts[level:]) for level in range(below + 1)]
    return [np.arange(0, size, width, dtype=np.int64) for width in widths]


@dataclass(frozen=True, eq=False)
class Estimate(Generic[AnyNesting]):
    """What each block and everything below it say about the block's count, and how sure that is."""

    pyramid: AnyNesting
    values: tuple[Floats, ...]
    """Flat, level by level."""
    variances: tuple[Floats, ...]


def gather(
    pyramid: AnyNesting, noisy: Sequence[NDArray[np.number]], variances: Sequence[float]
) -> Estimate[AnyNesting]:
    """The pass up: each block's own noisy sum averaged, by inverse variance, with the sum of its parts."""
    values = [np.asarray(noisy[-1], dtype=np.float64).ravel()]
    spread = [np.full(values[0].size, variances[-1])]
    for level in range(pyramid.levels - 2, -1, -1):
        family = pyramid.families[level]
        below, uncertain = _members(values[0], family).sum(axis=1), _members(spread[0], family).sum(axis=1)
        own = np.asarray(noisy[level], dtype=np.float64).ravel()
        precision = 1 / variances[level] + 1 / uncertain
        values.insert(0, (own / variances[level] + below / uncertain) / precision)
        spread.insert(0, 1 / precision)
    return Estimate(pyramid, tuple(values), tuple(spread))


def nonnegative(estimate: Estimate[Any], total: float) -> Floats:
    """Cells without a negative one: from the top down, a block's parts are moved to the nearest split of its count."""
    whole = np.array([max(total, 0.0)])
    parts = _agreed(estimate.values[0][None, :], estimate.variances[0][None, :], whole)
    return _settled(estimate, _split(parts, whole)[0])


def rising(estimate: Estimate[Any], total: float) -> Floats:
    """As `nonnegative`, but the top blocks of one column get the nearest running sums that never fall.

    A running sum of variance c, out of t in all, is certain to c (t - c)/t once the total is known: its weight in the
    regression. Where rows crowd in few blocks, this keeps the small errors of many empty ones from adding up.
    """
    # Imported here: it takes a while, and a page must not wait for it.
    from scipy.optimize import isotonic_regression

    whole = max(total, 0.0)
    values, spread = estimate.values[0][None, :], estimate.variances[0][None, :]
    running = np.cumsum(_agreed(values, spread, np.array([whole])))[:-1]
    if not running.size:
        return _settled(estimate, np.array([whole]))
    known = np.cumsum(spread)
    uncertain = known[:-1] * (1 - known[:-1] / known[-1])
    risen = np.clip(isotonic_regression(running, weights=1 / uncertain).x, 0.0, whole)
    return _settled(estimate, np.diff(risen, prepend=0.0, append=whole))


def sparse(estimate: Estimate[Any], total: float, level: int = 0) -> Floats:
    """As `nonnegative`, but begins at this level, whose counts are first moved to what counts like these are.

    Where most blocks are nothing, the total is shared by those that stand out (`sparse_prior.py`); the nearest split
    alone would leave each of the others what its noise happened to be.
    """
    whole = np.array([max(total, 0.0)])
    means, spread = sparse_counts(estimate.values[level], estimate.variances[level], float(whole[0]))
    return _settled(estimate, _split(_agreed(means[None, :], spread[None, :], whole), whole)[0], level)


def _settled(estimate: Estimate[Any], top: Floats, level: int = 0) -> Floats:
    """The counts of the blocks of a level split among their parts, down to the last."""
    settled = top
    for family, values, spread in zip(
        estimate.pyramid.families[level:], estimate.values[level + 1 :], estimate.variances[level + 1 :], strict=True
    ):
        parts = _agreed(_members(values, family), _members(spread, family), settled)
        if family.size > values.size:
            parts[family < 0] = -np.inf
        settled = _returned(_split(parts, settled), family, values.size)
    return settled.reshape(estimate.pyramid.grid(estimate.pyramid.levels - 1))


def _agreed(parts: Floats, spread: Floats, totals: Floats) -> Floats:
    """The least-squares split of each total among its parts."""
    return parts + spread * ((totals - parts.sum(axis=1)) / spread.sum(axis=1))[:, None]


def _split(parts: Floats, totals: Floats) -> Floats:
    """Each line moved to the nearest one without negatives that adds up to its total; -inf marks an absent part."""
    descending = -np.sort(-parts, axis=1)
    present = np.isfinite(descending)
    sums = np.cumsum(np.where(present, descending, 0.0), axis=1)
    excess = (sums - totals[:, None]) / np.arange(1, parts.shape[1] + 1)
    kept = np.maximum((descending > excess).sum(axis=1), 1)
    found = np.maximum(parts - excess[np.arange(len(parts)), kept - 1][:, None], 0.0)
    return np.where(totals[:, None] > 0, found, 0.0)


def _members(values: Floats, family: IntArray) -> Floats:
    members = values[family]
    if family.size > values.size:
        members[family < 0] = 0.0
    return members


def _returned(members: Floats, family: IntArray, size: int) -> Floats:
    flat = np.empty(size)
    if family.size == size:
        flat[family] = members
    else:
        flat[family[family >= 0]] = members[family >= 0]
    return flat
