"""Take noise out of a few counts of which many may be nothing at all.

Each count is taken to be 0 with some chance, and else drawn from an exponential distribution. Chance and mean are those
under which the noisy counts are likeliest (empirical Bayes: Robbins 1956; spike and slab: Mitchell and Beauchamp 1988).
What is returned is the mean of each count given its noisy value, and how uncertain that is: where most counts are
nothing, those that noise alone explains come out near 0 and are nearly certain. Everything here is post-processing.
"""

from __future__ import annotations

import math

import numpy as np

from core.base.arrays import Floats
from core.models.denoising.priors import posterior

CHANCES = np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99])
"""Of being nothing."""
_LEAST, _MOST = -2, 40
"""Means from a quarter of the noise, in doublings, up to the total; beyond a trillion times the noise it is all one."""
_SURE = 1e-3
"""No count is more certain than this part of its noise's variance, so that a total can always be met."""


def sparse_counts(values: Floats, variances: Floats, total: float) -> tuple[Floats, Floats]:
    """Means and variances of counts given noisy ones, which add up to about `total`.

    **Runtime** O(counts log(total/noise)).
    """
    sigma = np.sqrt(variances)
    usual = float(sigma.mean())
    most = int(np.clip(math.ceil(math.log2(max(total / usual, 1.0))), 2, _MOST))
    grid = [posterior(values, sigma, usual * 2.0**power) for power in range(_LEAST, most + 1)]
    nothing = -(values**2) / (2 * variances) - np.log(2 * math.pi * variances) / 2
    something = np.stack([logs for logs, _ in grid])
    odds = np.log(CHANCES / (1 - CHANCES))[:, None, None]
    each = np.log1p(-CHANCES)[:, None, None] + np.logaddexp(odds + nothing, something)
    chance, place = np.unravel_index(np.argmax(each.sum(axis=-1)), each.shape[:2])
    there = np.exp(something[place] - np.logaddexp(odds[chance, 0] + nothing, something[place]))
    mean = grid[place][1]
    # A normal count of mean m and variance v, cut off at 0, of mean c: its variance is v - c (c - m).
    middle = values - variances / (usual * 2.0 ** (_LEAST + place))
    within = np.maximum(variances - mean * (mean - middle), 0.0)
    found = there * mean
    spread = there * (within + mean**2) - found**2
    return np.asarray(found), np.asarray(np.maximum(spread, _SURE * variances))
