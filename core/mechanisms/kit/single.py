"""One private count at a time, for mechanisms that choose their next question by the last answer.

**Privacy** one count (not a table) changes by at most unit.limit between neighbours, whether a unit is added, removed
or replaced. Each question gets a fixed share of the budget: discrete Laplace noise of scale unit.limit/(share epsilon)
or, with delta > 0, discrete Gaussian noise of variance unit.limit^2/(2 share rho). Counts of disjoint sets of records
that are asked in one draw move together by at most unit.l1 (squared L2: unit.l2_squared), like a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.privacy.accounting import rho_for
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit


@dataclass(frozen=True)
class Single:
    """What one count costs, and how far it may move."""

    event: Laplace | Gaussian
    limit: int

    @classmethod
    def of(cls, budget: Budget, share: Fraction, unit: Unit) -> Single:
        """A count that takes this share of a budget."""
        return cls(share_of(budget, share), unit.limit)

    @property
    def sigma(self) -> float:
        if isinstance(self.event, Laplace):
            return math.sqrt(2) * self.limit / float(self.event.epsilon)
        return self.limit / math.sqrt(2 * float(self.event.rho))

    def tail(self, probability: float) -> float:
        """The noise exceeds this with at most the given probability."""
        if isinstance(self.event, Laplace):
            return self.limit / float(self.event.epsilon) * math.log(2 / probability)
        return self.sigma * math.sqrt(2 * math.log(2 / probability))

    def ask(self, noise: NoiseSource, count: int) -> int:
        """The count with noise."""
        hidden = np.array([count], dtype=np.int64)
        if isinstance(self.event, Laplace):
            return int(noise.laplace(hidden, epsilon=self.event.epsilon, sensitivity=self.limit)[0])
        return int(noise.gaussian(hidden, rho=self.event.rho, sensitivity_squared=self.limit**2)[0])


def share_of(budget: Budget, share: Fraction) -> Laplace | Gaussian:
    """The event that takes this share of a budget."""
    return Laplace(budget.epsilon * share) if budget.pure else Gaussian(rho_for(budget) * share)


def disjoint(
    noise: NoiseSource, event: Laplace | Gaussian, unit: Unit, counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Noisy counts of sets of records that do not overlap."""
    if isinstance(event, Laplace):
        return noise.laplace(counts, epsilon=event.epsilon, sensitivity=unit.l1)
    return noise.gaussian(counts, rho=event.rho, sensitivity_squared=unit.l2_squared)


def inside(parameter: str, value: float, example: float) -> None:
    """Refuse a share or a probability that is not strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise BadParameter(parameter, f"must lie between 0 and 1; try {example:g}.")
