"""Noise of the kernel's own laws for public stand-ins: quick, and the same whenever the same figure is asked for.

**Privacy** This protects nobody and never meets a private table: the kernel of a release gets `privacy.noise.Noise`.
A figure that is told before spending must be the same in every process, so its draws follow from a generator that
follows from public facts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.privacy.cube import margin


class SimulatedNoise:
    """The laws of `Noise` in floating-point arithmetic; implements `NoiseSource`."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def laplace(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray:
        """Discrete Laplace noise is the difference of two geometric numbers."""
        ends = -math.expm1(-float(epsilon) / sensitivity)
        hidden = np.asarray(values, dtype=np.int64)
        first, second = (self._generator.geometric(ends, hidden.shape) for _ in range(2))
        return np.asarray(hidden + first - second)

    def gaussian(self, values: NDArray[Any], *, rho: Fraction, sensitivity_squared: int) -> IntArray:
        hidden = np.asarray(values, dtype=np.int64)
        sigma = math.sqrt(sensitivity_squared / (2 * float(rho)))
        return np.asarray(hidden + np.rint(self._generator.normal(0.0, sigma, hidden.shape)).astype(np.int64))

    def cube(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray:
        """Geometric numbers of numpy begin at 1."""
        ends = -math.expm1(-float(epsilon) / sensitivity)
        hidden = np.asarray(values, dtype=np.int64)
        drawn = int(self._generator.geometric(ends, hidden.size + 1).sum()) - hidden.size - 1
        half = drawn + margin(hidden.size)
        return np.asarray(hidden + self._generator.integers(-half, half, hidden.shape, endpoint=True))

    def select(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> int:
        return self.select_within(scores, epsilon=epsilon, span=2 * sensitivity)

    def select_within(self, scores: NDArray[Any], *, epsilon: Fraction, span: int) -> int:
        """The largest score after Gumbel noise has the law of the exponential mechanism."""
        steep = np.asarray(scores, dtype=np.float64) * (float(epsilon) / span)
        return int(np.argmax(steep + self._generator.gumbel(size=steep.shape)))

    def select_pair(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> tuple[int, int]:
        while True:
            ends = (self.select(way * scores, epsilon=epsilon, sensitivity=sensitivity) for way in (-1, 1))
            start, stop = ends
            if start != stop:
                return start, stop

    def pick(self, weights: NDArray[Any]) -> int:
        return int(np.searchsorted(np.cumsum(weights), self._generator.integers(0, int(np.sum(weights))), side="right"))

    def exceeds(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> NDArray[np.bool_]:
        return np.asarray(self.laplace(values, epsilon=epsilon, sensitivity=sensitivity) >= 1)

    def coin(self, exponent: Fraction) -> bool:
        return bool(self._generator.random() < math.exp(-float(exponent)))

    def keys(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, count, dtype=np.uint64, endpoint=False)

    def generator(self) -> np.random.Generator:
        return self._generator.spawn(1)[0]
