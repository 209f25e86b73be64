"""How likely draws are under the law they are meant to have."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import special, stats

from core.privacy.noise import Noise

NOISE = Noise()
RIGHT, WRONG = 1e-6, 1e-20
"""A right law has a larger p-value, except once in a million; a wrong one has a smaller one, except by a miracle."""


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, dtype=np.int64)


def laplace_draws(scale: Fraction, count: int) -> np.ndarray:
    return NOISE.laplace(zeros(count), epsilon=1 / scale, sensitivity=1)


def gaussian_draws(sigma: Fraction, count: int) -> np.ndarray:
    return NOISE.gaussian(zeros(count), rho=1 / (2 * sigma**2), sensitivity_squared=1)


def fit(draws: np.ndarray, log_weight: Callable[[np.ndarray], np.ndarray], reach: int) -> float:
    """Chi-square p-value of integer draws against weights on [-reach, reach], in at most 60 cells of similar mass."""
    grid = np.arange(-reach, reach + 1)
    chances = np.exp(log_weight(grid))
    chances /= chances.sum()
    cell = np.minimum((np.cumsum(chances) * 60).astype(int), 59)
    cell = np.unique(cell, return_inverse=True)[1]
    expected = np.bincount(cell, chances) * len(draws)
    observed = np.bincount(cell[np.clip(draws, -reach, reach) + reach], minlength=len(expected))
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def laplace_fit(draws: np.ndarray, scale: Fraction) -> float:
    return fit(draws, lambda z: -np.abs(z) / float(scale), int(40 * scale) + 20)


def gaussian_fit(draws: np.ndarray, sigma: Fraction) -> float:
    """Against the law of rounded Gaussian noise: the normal mass of [z - 1/2, z + 1/2]."""

    def log_weight(z: np.ndarray) -> np.ndarray:
        near, far = (np.abs(z) - 0.5) / float(sigma), (np.abs(z) + 0.5) / float(sigma)
        return np.log(np.maximum(stats.norm.sf(near) - stats.norm.sf(far), 1e-300))

    return fit(draws, log_weight, int(9 * sigma) + 10)


def selections(scores: np.ndarray, epsilon: Fraction, count: int, sensitivity: int = 1) -> np.ndarray:
    drawn = [NOISE.select(scores, epsilon=epsilon, sensitivity=sensitivity) for _ in range(count)]
    return np.bincount(drawn, minlength=len(scores))


def softmax_fit(observed: np.ndarray, scores: list[int], rate: float) -> float:
    weights = np.exp([rate * (score - max(scores)) for score in scores])
    possible = weights > 1e-12
    assert not observed[~possible].any()
    expected = weights[possible] / weights[possible].sum() * observed.sum()
    return float(stats.chisquare(observed[possible], expected).pvalue) if possible.sum() > 1 else 1.0


def same_law(left: np.ndarray, right: np.ndarray) -> float:
    """Two-sample chi-square p-value, in at most 40 cells of similar mass."""
    edges = np.unique(np.quantile(np.concatenate([left, right]), np.linspace(0, 1, 41)[1:-1], method="nearest"))
    cells = (np.searchsorted(edges, draws, side="left") for draws in (left, right))
    table = np.array([np.bincount(places, minlength=len(edges) + 1) for places in cells])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def cube_logs(count: int, scale: float, reach: int, margin: int) -> np.ndarray:
    """Logarithms of f(0), f(1), ... of `cube.py` up to a common factor: of a vector whose largest number is that far
    beyond the margin."""
    far = np.arange(reach + round(60 * scale) + 60)
    chances = special.gammaln(far + count + 1) - special.gammaln(far + 1) - far / scale
    each = chances - count * np.log(2 * far + 2 * margin + 1)
    return np.logaddexp.accumulate(each[::-1])[::-1][: reach + 1]


def cube_fit(draws: np.ndarray, scale: float) -> float:
    """Chi-square p-value of the largest number of each line against its law, in at most 40 cells of similar mass."""
    count, largest = draws.shape[1], np.abs(draws).max(axis=1)
    reach = int(2 * (count + 20) * scale) + 3 * count + 20
    sizes = np.arange(1, reach + 1)
    margin = -(-count // 2)
    logs = cube_logs(count, scale, reach, margin)
    shell = count * np.log(2 * sizes + 1) + np.log1p(-(((2 * sizes - 1) / (2 * sizes + 1)) ** count))
    weights = np.concatenate([logs[:1], logs[np.maximum(sizes - margin, 0)] + shell])
    chances = np.exp(weights - weights.max())
    chances /= chances.sum()
    cell = np.minimum((np.cumsum(chances) * 40).astype(int), 39)
    cell = np.unique(cell, return_inverse=True)[1]
    expected = np.bincount(cell, chances) * len(draws)
    observed = np.bincount(cell[np.minimum(largest, reach)], minlength=len(expected))
    return float(stats.chisquare(observed, expected).pvalue)


def cube_draws(scale: Fraction, count: int, runs: int) -> np.ndarray:
    """So many times noise for so many numbers."""
    return np.array([NOISE.cube(zeros(count), epsilon=1 / scale, sensitivity=1) for _ in range(runs)])
