"""Published ways to answer ranges of one column, written here for comparison: they draw floating-point noise.

All are given the same epsilon, for one row more or less, and where rows are public the number of them. Each ends with
least squares over a tree and running sums that never fall.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from core.models.fitting.pyramid import gather, pyramid

Table = NDArray[np.int64]
Floats = NDArray[np.float64]
Peer = Callable[[Table, float, bool, np.random.Generator], Floats]
"""Counts, epsilon and whether the number of rows is public to released counts."""


def tree_and_isotonic(truth: Table, epsilon: float, public: bool, generator: np.random.Generator) -> Floats:
    """A 16-ary tree of Laplace noise, least squares (Hay et al. 2010), and monotone regression of all running sums."""
    blocks = pyramid(truth.shape, 16, 16 if public else 8)
    shares = 0.85 ** np.arange(blocks.levels)
    scales = shares.sum() / (shares * epsilon)
    exact = [np.add.reduceat(truth, starts) for (starts,) in blocks.starts]
    noisy = [level + generator.laplace(0, scale, level.size) for level, scale in zip(exact, scales, strict=True)]
    estimate = gather(blocks, noisy, [2 * scale**2 for scale in scales])
    values, total = estimate.values, float(truth.sum()) if public else max(float(estimate.values[0].sum()), 0.0)
    settled = _agreed(values[0][None], estimate.variances[0][None], np.array([total]))[0]
    for family, below, spread in zip(blocks.families, values[1:], estimate.variances[1:], strict=True):
        there = family >= 0
        parts = _agreed(np.where(there, below[family], 0.0), np.where(there, spread[family], 0.0), settled)
        settled = np.empty(below.size)
        settled[family[there]] = parts[there]
    risen = np.clip(isotonic_regression(np.cumsum(settled)[:-1]).x, 0.0, total) if truth.size > 1 else np.zeros(0)
    return np.diff(risen, prepend=0.0, append=total)


def private_tree(truth: Table, epsilon: float, public: bool, generator: np.random.Generator) -> Floats:
    """PrivTree (Zhang, Xiao and Xie 2016) for the stretches, with two fifths of epsilon, then the tree over them."""
    rate = 0.4 * epsilon / 3
    bias = math.log(2) / rate
    sums = np.append(0, np.cumsum(truth))
    starts, width, left, depth = np.zeros(1, dtype=np.int64), truth.size, [], 0
    while starts.size and width > 1:
        counts = sums[starts + width] - sums[starts]
        halved = np.maximum(counts - depth * bias, -bias) + generator.laplace(0, 1 / rate, counts.size) > 0
        left.append(starts[~halved])
        width, depth = width // 2, depth + 1
        starts = (starts[halved][:, None] + np.array([0, width])).ravel()
    return _over(truth, np.sort(np.concatenate([*left, starts])), 0.6 * epsilon, public, generator)


def dawa(truth: Table, epsilon: float, public: bool, generator: np.random.Generator) -> Floats:
    """DAWA's first stage (Li, Hay, Miklau and Wang 2014) over dyadic stretches, with a quarter of epsilon, then the
    tree over them."""
    first, second = 0.25 * epsilon, 0.75 * epsilon
    best, chosen, width = np.full(truth.size, 1 / second), [], 1
    while width < truth.size:
        width *= 2
        lines = truth.reshape(-1, width).astype(float)
        apart = np.abs(lines - lines.mean(axis=1, keepdims=True)).sum(axis=1)
        whole = apart + generator.laplace(0, 4 / first, apart.size) + 1 / second
        parts = best.reshape(-1, 2).sum(axis=1)
        chosen.append(whole < parts)
        best = np.minimum(whole, parts)
    open_, starts = np.ones(1, dtype=bool), []
    for taken in reversed(chosen):
        starts.append(np.flatnonzero(open_ & taken) * (truth.size // taken.size))
        open_ = np.repeat(open_ & ~taken, 2)
    return _over(truth, np.sort(np.concatenate([*starts, np.flatnonzero(open_)])), second, public, generator)


def _over(truth: Table, starts: Table, epsilon: float, public: bool, generator: np.random.Generator) -> Floats:
    counts = tree_and_isotonic(np.add.reduceat(truth, starts), epsilon, public, generator)
    width = np.diff(starts, append=truth.size)
    return np.repeat(counts / width, width)


def _agreed(parts: Floats, spread: Floats, totals: Floats) -> Floats:
    return parts + spread * ((totals - parts.sum(axis=1)) / spread.sum(axis=1))[:, None]


PEERS: dict[str, Peer] = {
    "tree + isotonic": tree_and_isotonic,
    "PrivTree + tree + isotonic": private_tree,
    "DAWA + tree + isotonic": dawa,
}
