"""Counts of one column as they were measured: without bias, so that it is known how far off a sum of them can be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Flags, Floats, IntArray


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """Noisy counts of blocks of neighbouring cells, level by level from coarse to fine; the last level has every cell.

    Blocks that do not overlap have independent Gaussian noise, but for what all cells share.
    """

    starts: tuple[IntArray, ...]
    """The first cell of every block."""
    values: tuple[Floats, ...]
    variances: tuple[Floats, ...]
    shared: float = 0.0
    """Variance of a number of which every cell has an equal part: that of rows, where only deviations from the mean of
    all cells were measured."""

    @classmethod
    def flat(cls, values: Floats, variance: float, shared: float = 0.0) -> ColumnCounts:
        """Cell by cell."""
        return cls((np.arange(values.size),), (values,), (np.full(values.size, variance),), shared)

    @property
    def size(self) -> int:
        return self.values[-1].size

    def sum_of(self, chosen: Flags, miss: float) -> tuple[float, float]:
        """The rows in a set of cells, and how far off that is at most, but for a probability of `miss`.

        The set is made of the largest blocks that lie in it. The reach holds for all sets of as many blocks at once, so
        also for one that was chosen after seeing answers: with B blocks in all, p of them and noise of deviation s,

            P(some of C(B, p) sums is off by more than t) <= C(B, p) exp(-t^2 / (2 s^2)).

        >>> ColumnCounts.flat(np.array([5.0, 7.0]), 0.0).sum_of(np.array([True, True]), 0.05)
        (12.0, 0.0)
        """
        left, value, variance, pieces = chosen.copy(), 0.0, self.shared * float(chosen.mean()) ** 2, 0
        for starts, values, variances in zip(self.starts, self.values, self.variances, strict=True):
            widths = np.diff(starts, append=self.size)
            whole = np.add.reduceat(left.astype(np.int64), starts) == widths
            value, variance = value + float(values[whole].sum()), variance + float(variances[whole].sum())
            pieces += int(whole.sum())
            left &= ~np.repeat(whole, widths)
        blocks = sum(each.size for each in self.starts)
        return value, math.sqrt(2 * variance * (_log_choices(blocks, pieces) + math.log(1 / miss)))


def _log_choices(blocks: int, pieces: int) -> float:
    """The logarithm of the number of ways to choose so many of the blocks."""
    return math.lgamma(blocks + 1) - math.lgamma(pieces + 1) - math.lgamma(blocks - pieces + 1)
