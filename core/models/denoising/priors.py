"""Take noise out of counts of which many are small and few are large, whatever their order.

Counts are taken to be drawn from a mixture of exponential distributions, whose weights are estimated from the noisy
counts themselves (empirical Bayes: Robbins 1956; the weights by expectation and maximisation). What is returned is the
mean of each count given its noisy value. Everything here is post-processing.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from core.base.arrays import Floats

FEWEST = 16
"""Fewer counts tell too little about the distribution that they are drawn from."""
_STEP = 4.0
"""Ratio of the means of neighbouring distributions."""
_ROUNDS = 30
_VIRTUAL = 0.2
"""Counts that each distribution is given beforehand, so that none dies out."""


def shrunk_counts(values: Floats, sigma: float | Floats, total: float, *others: tuple[Floats, Floats]) -> Floats:
    """Noisy counts with noise of standard deviation sigma, moved towards what counts like these are.

    Each may have a sigma of its own. Means beyond `total` are not thought of. `others` are distributions that belong
    into the mixture too, each as `posterior` gives it. **Runtime** O(cells log(total/sigma)).
    """
    usual = float(np.median(sigma))
    if values.size < FEWEST or not usual > 0:
        return values
    means = math.ceil(math.log(max(8 * total / usual, 2 * _STEP)) / math.log(_STEP))
    found = [*(posterior(values, sigma, usual / 8 * _STEP**step) for step in range(means)), *others]
    steps = len(found)
    logs = np.stack([log for log, _ in found])
    likely = np.exp(logs - logs.max(axis=0))
    weights = np.full((steps, 1), 1 / steps)
    for _ in range(_ROUNDS):
        share = weights * likely
        share /= share.sum(axis=0)
        weights = (share.sum(axis=1, keepdims=True) + _VIRTUAL) / (values.size + steps * _VIRTUAL)
    share = weights * likely
    return np.asarray((share * np.stack([mean for _, mean in found])).sum(axis=0) / share.sum(axis=0))


def posterior(values: Floats, sigma: float | Floats, mean: float) -> tuple[Floats, Floats]:
    """The logarithm of the density of noisy values of exponential counts, and the mean of the counts behind them.

    A count x of density exp(-x/mean)/mean seen with normal noise is normal about value - sigma^2/mean, cut off at 0.
    """
    middle = values / sigma - sigma / mean
    inside = log_ndtr(middle)
    logs = inside - values / mean + (sigma / mean) ** 2 / 2 - math.log(mean)
    # Far below zero the two terms of the mean cancel; there it is nearly sigma/|middle|.
    beyond = np.exp(-(middle**2) / 2 - inside) / math.sqrt(2 * math.pi)
    near = middle + beyond
    means = np.where(middle > -1e3, near, -1 / np.minimum(middle, -1.0))
    return np.asarray(logs), np.asarray(sigma * np.maximum(means, 0.0))
