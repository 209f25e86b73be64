"""Weights on public points that meet noisy signed shares of halfspaces as far as the noise lets them speak."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats

Signs = NDArray[np.float32]

_LEEWAYS = np.geomspace(1e-6, 10.0, 64)
_STEPS = 60
_BLOCK = 2**14


def fitted(signs: Signs, wanted: Floats, sigma: float, base: Floats | None = None) -> Floats:
    """Positive weights with sum 1 on points, one column of signs each, whose mean signs come close to the wanted ones.

    Of all weights w it takes those with the least KL(w | base) + leeway |signs w - wanted|^2/(2 sigma^2): near `base`,
    weights with sum 1 (equal ones if absent), where the noise `sigma` is large. With few halfspaces or much noise the
    points stay as they were drawn. The dual has one number per halfspace, w proportional to base exp(signs' a), is
    strictly convex, and is solved in the coordinates in which its curvature at `base` is the identity: some ten steps.

    **Runtime** O(halfspaces^2 (points + halfspaces)).
    """
    # Imported here: it takes a while, and a page must not wait for it.
    from scipy.optimize import minimize

    start = np.full(signs.shape[1], 1 / signs.shape[1]) if base is None else base
    light = start.astype(np.float32)
    equal = (signs @ light).astype(np.float64)
    curvature = _products(signs, light) - np.outer(equal, equal)
    values, vectors = np.linalg.eigh(curvature)
    values = np.maximum(values, 0.0)
    ridge = sigma**2 / _leeway(values, (vectors.T @ (wanted - equal)) ** 2, sigma)
    scaled = vectors / np.sqrt(values + ridge)

    def dual(place: Floats) -> tuple[float, Floats]:
        amounts = scaled @ place
        weights, height = _tilted(signs, amounts, light)
        slope = (signs @ weights).astype(np.float64) - wanted + ridge * amounts
        return height - float(amounts @ wanted) + ridge * float(amounts @ amounts) / 2, slope @ scaled

    found = minimize(dual, np.zeros(len(wanted)), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights = _tilted(signs, scaled @ found.x, light)[0].astype(np.float64)
    return weights / weights.sum()


def _products(signs: Signs, base: Signs) -> Floats:
    """Mean products of the signs of two planes, a few points at a time."""
    found = np.zeros((len(signs), len(signs)))
    for start in range(0, signs.shape[1], _BLOCK):
        some = signs[:, start : start + _BLOCK]
        found += (some * base[start : start + _BLOCK]) @ some.T
    return found


def _tilted(signs: Signs, amounts: Floats, base: Signs) -> tuple[Signs, float]:
    """Weights proportional to base exp(signs' amounts), and the logarithm of their sum."""
    heights = amounts.astype(np.float32) @ signs
    top = heights.max()
    weights = base * np.exp(heights - top)
    total = weights.sum()
    return weights / total, float(top) + math.log(total)


def _leeway(values: Floats, squares: Floats, sigma: float) -> float:
    """How far true shares lie from equal weights: the likeliest factor t if they vary by t times the curvature.

    `squares` are the observed differences along its axes; their variance is t values + sigma^2 (empirical Bayes).
    """
    variances = _LEEWAYS[:, None] * values + sigma**2
    return float(_LEEWAYS[np.argmin((np.log(variances) + squares / variances).sum(axis=1))])
