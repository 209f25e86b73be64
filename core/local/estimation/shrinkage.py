"""Shares from unbiased noisy ones: each is moved to what the others make likely.

Many answers with a share below the noise add up to a large error if each keeps its own noise. The distribution of true
shares is estimated from all noisy ones together (nonparametric maximum likelihood: Kiefer and Wolfowitz 1956; as
empirical Bayes: Jiang and Zhang 2009), and each share becomes its mean given what was seen. Along an ordered column,
near answers count more; answers on which people round off (multiples of five) are a group of their own, so that heaps
are neither cut off nor spread over their neighbours. Shares far above the noise stay as they are.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Floats, IntArray
from core.models.fitting.simplex import simplex

FAR = 8.0
"""Noise deviations beyond which a share keeps its own value."""
ROUNDS = 60
NOISY = 0.2
"""All answers' noise together from which shrinking pays: with less, measured on census columns, the nearest shares
without negatives were as good or better."""


def shrunk(noisy: Floats, sigma: float, groups: IntArray | None = None, reach: float = np.inf) -> Floats:
    """Shares without negatives that add up to 1; `groups` names kinds of answers, `reach` how far neighbours count."""
    if noisy.size * sigma < NOISY:
        return simplex(noisy, 1.0)
    kinds = np.zeros(noisy.size, dtype=np.int64) if groups is None else groups
    near = noisy < FAR * sigma
    found = noisy.astype(np.float64).copy()
    if near.any() and np.isfinite(reach):
        found[near] = _posterior(noisy[near], sigma, _Near(kinds[near], np.flatnonzero(near), reach))
    elif near.any():
        # Without an order only the value and the kind matter: equal ones, to a sixteenth of the noise, are one line.
        step = sigma / 16
        lines = np.stack([kinds[near], np.rint(noisy[near] / step).astype(np.int64)])
        (own, rounded), place, often = np.unique(lines, axis=1, return_inverse=True, return_counts=True)
        found[near] = _posterior(rounded * step, sigma, _Alike(own, often))[place.reshape(-1)]
    return simplex(found, 1.0)


def _posterior(noisy: Floats, sigma: float, mixing: _Near | _Alike) -> Floats:
    """The mean of each share given all noisy ones, under the likeliest distribution of shares around it."""
    grid = np.concatenate([[0.0], np.geomspace(sigma / 16, sigma, 12), np.arange(1.25, FAR + 1, 0.25) * sigma])
    likely = np.exp(-0.5 * ((noisy[:, None] - grid) / sigma) ** 2) + 1e-300
    prior = np.full((noisy.size, grid.size), 1 / grid.size)
    for _ in range(ROUNDS):
        weights = likely * prior
        prior = mixing.averaged(weights / weights.sum(axis=1, keepdims=True))
    weights = likely * prior
    return np.asarray((weights @ grid) / weights.sum(axis=1))


class _Near:
    """Averages over the answers of the same kind, near ones more."""

    def __init__(self, kinds: IntArray, places: IntArray, reach: float) -> None:
        apart = (places[:, None] - places[None, :]) / reach
        weights = (kinds[:, None] == kinds[None, :]) * np.exp(-0.5 * apart**2)
        self._weights = weights / weights.sum(axis=1, keepdims=True)

    def averaged(self, lines: Floats) -> Floats:
        return np.asarray(self._weights @ lines)


class _Alike:
    """Averages over all answers of the same kind, each as often as it occurs."""

    def __init__(self, kinds: IntArray, often: IntArray) -> None:
        self._kinds, self._often = kinds, often

    def averaged(self, lines: Floats) -> Floats:
        found = np.empty_like(lines)
        for kind in np.unique(self._kinds):
            own = self._kinds == kind
            found[own] = np.average(lines[own], axis=0, weights=self._often[own])
        return found
