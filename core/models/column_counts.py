"""Counts of one column as they were measured: without bias, so that it is known how far off a sum of them can be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

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

    def weighted_sum(self, weights: Floats, miss: float) -> tuple[float, float]:
        """The sum of a weight per cell over the rows, and how far off that is at most, but for `miss`.

        With d blocks that do not overlap and independent noise of deviation s_j, for all weights w at once,

            P(some |sum_j w_j noise_j| > t (sum_j w_j^2 s_j^2)^(1/2)) = P(chi-square of d degrees > t^2),

        by Cauchy and Schwarz. Where cells share a number N, their noise is that of deviations from the mean cell, and
        an equal part of that of N: sum_j w_j noise_j = sum_j (w_j - mean w) e_j + (mean w) e_N, with independent e_j
        of the cells' variance (twice that for two cells, whose deviations are one number and its negative). Equal
        weights have the noise of N alone, whatever is chosen.

        It is made of single cells, or of one of the larger levels at the mean weight of its blocks' cells and of single
        cells for what is left. Weights that were chosen after seeing answers choose among these ways, too, so all hold
        at once: with K levels the sum of single cells may fail with probability 2 miss/(K + 1), which is the same
        failure in every way, and that of each larger level with miss/(K + 1).

        >>> ColumnCounts.flat(np.array([5.0, 7.0]), 0.0).weighted_sum(np.array([1.0, 0.5]), 0.05)
        (8.5, 0.0)
        """
        if self.shared:
            return self._of_deviations(weights, miss)
        part = miss / (len(self.starts) + 1)
        found = [self._of_level(-1, weights, 2 * part)]
        for level, starts in enumerate(self.starts[:-1]):
            widths = np.diff(starts, append=self.size)
            means = np.add.reduceat(weights, starts) / widths
            large = self._of_level(level, means, part)
            small = self._of_level(-1, weights - np.repeat(means, widths), 2 * part)
            found.append((large[0] + small[0], large[1] + small[1]))
        return min(found, key=lambda each: each[1])

    def _of_level(self, level: int, weights: Floats, miss: float) -> tuple[float, float]:
        variance = float(weights**2 @ self.variances[level])
        return float(weights @ self.values[level]), math.sqrt(variance * float(chdtri(weights.size, miss)))

    def _of_deviations(self, weights: Floats, miss: float) -> tuple[float, float]:
        """Of single cells that share a number."""
        centre = float(weights.mean())
        equal = np.ptp(weights) == 0
        apart = np.zeros_like(weights) if equal else weights - centre
        variance = (2.0 if self.size == 2 else 1.0) * float(apart**2 @ self.variances[-1]) + self.shared * centre**2
        degrees = 1 if equal else self.size
        return float(weights @ self.values[-1]), math.sqrt(variance * float(chdtri(degrees, miss)))


def _log_choices(blocks: int, pieces: int) -> float:
    """The logarithm of the number of ways to choose so many of the blocks."""
    return math.lgamma(blocks + 1) - math.lgamma(pieces + 1) - math.lgamma(blocks - pieces + 1)
