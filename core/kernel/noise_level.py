"""Noisy numbers, and how large their noise is: known before they are asked, the same afterwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from core.base.arrays import IntArray
from core.kernel.asked import Asked, AskedTogether, Change
from core.privacy.events import Gaussian, Laplace
from core.privacy.unit import Unit

ROUNDING = 1 / 12
"""Variance that rounding to whole numbers adds to Gaussian noise, at most, about."""
Additive = Laplace | Gaussian
"""Events that add noise to numbers."""


@dataclass(frozen=True)
class NoiseLevel:
    """How large the noise of an event is on numbers that a unit changes by so much."""

    event: Additive
    change: Change

    @classmethod
    def of(cls, asked: Asked, event: Additive, unit: Unit) -> NoiseLevel:
        return cls(event, asked.change(unit))

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in each number, at most; rounding adds a variance of at most 1/12 or so."""
        if isinstance(self.event, Laplace):
            return math.sqrt(2) * self.mean_error
        return math.sqrt(self._spread**2 + ROUNDING)

    @property
    def mean_error(self) -> float:
        """Mean absolute noise in each number, at most: the scale of Laplace noise, sigma sqrt(2/pi) of Gaussian."""
        if isinstance(self.event, Laplace):
            return self.change.l1 / float(self.event.epsilon)
        return self.sigma * math.sqrt(2 / math.pi)

    @property
    def _spread(self) -> float:
        """Standard deviation of Gaussian noise before it is rounded."""
        assert isinstance(self.event, Gaussian)
        return math.sqrt(self.change.l2_squared / (2 * float(self.event.rho)))

    def tail(self, probability: float) -> float:
        """The noise of one number is larger than this, in size, with at most the given probability.

        Laplace: P(|z| > t) = 2 a^(t+1)/(1 + a) for whole t, with a = exp(-1/scale); the smallest t that will do.
        Gaussian: noise that is rounded exceeds a whole t where it exceeds t + 1/2 before.
        """
        if probability >= 1:
            return 0.0
        if isinstance(self.event, Laplace):
            rate = 1 / self.mean_error
            return float(max(0, math.ceil((math.log(2 / probability) - math.log1p(math.exp(-rate))) / rate - 1)))
        return float(max(0, math.ceil(-self._spread * NormalDist().inv_cdf(probability / 2) - 0.5)))


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was asked, with noise."""

    asked: Asked
    values: IntArray
    level: NoiseLevel

    @property
    def sigma(self) -> float:
        return self.level.sigma


@dataclass(frozen=True, eq=False)
class MeasuredTogether:
    """What was asked, with noise that was drawn for all numbers together."""

    asked: AskedTogether
    values: IntArray
    sigma: float
    """Standard deviation of the noise in each number."""


def tail_of_sum(sigma: float, probability: float) -> float:
    """A weighted sum of independent noises is larger than this, in size, with at most the given probability.

    `sigma` is the standard deviation of the sum. Laplace noises together have no heavier a tail than one of the same
    variance, whose is sigma ln(1/p)/sqrt(2), where p is as small as 5 %; Gaussian ones are normal together.
    """
    return sigma * max(math.log(1 / probability) / math.sqrt(2), -NormalDist().inv_cdf(probability / 2))
