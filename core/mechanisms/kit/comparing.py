"""How often the noises of a sparse vector change a comparison; public arithmetic, which privacy does not rest on."""

from __future__ import annotations

import math
from functools import lru_cache

from core.base.bisection import narrowed
from core.kernel.sparse_vector import AboveThreshold


def misses(run: AboveThreshold, distance: float) -> float:
    """Probability that the noises change a comparison whose value is so far from its threshold."""
    return _tail(*run.scales, distance)


def margin(run: AboveThreshold, probability: float) -> float:
    """The distance from the threshold at which a comparison goes wrong with at most this probability."""
    return _margin(*run.scales, probability)


def _tail(small: float, large: float, distance: float) -> float:
    """P(X + Y > distance) for independent Laplace noises of two different scales."""
    if distance <= 0:
        return 0.5
    first, second = small**2 * math.exp(-distance / small), large**2 * math.exp(-distance / large)
    return (second - first) / (2 * (large**2 - small**2))


@lru_cache(maxsize=1024)
def _margin(small: float, large: float, probability: float) -> float:
    def seldom(distance: float) -> bool:
        return _tail(small, large, distance) <= probability

    low, high = 0.0, large
    while not seldom(high):
        low, high = high, 2 * high
    return narrowed(seldom, low, high, halvings=60)[1]
