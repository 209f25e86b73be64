"""A budget that is spent in steps, where later steps are chosen after seeing earlier noisy answers.

**Privacy** All amounts are parts of one whole, fixed in advance: rho for Gaussian noise, epsilon for Laplace noise. The
parts are exact fractions and are handed out so that they never sum to more than the whole, whatever the answers are.
Steps and the sizes of their parts may then depend on earlier answers: the divergence of every order stays below that of
the whole (the filter in `accounting.py`: Feldman and Zrnic 2021; pure: Rogers, Roth, Ullman and Vadhan 2016), so the
whole run costs one `Gaussian(rho)` or `Pure(epsilon)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.kit.measurement import GRAIN, Portion
from core.models.protocol import Floats
from core.privacy.accounting import rho_for
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import Columns


@dataclass(frozen=True)
class Purse:
    """The whole of a budget in the currency of its noise, and what one unit of privacy may change."""

    whole: Fraction
    pure: bool
    unit: Unit

    @classmethod
    def of(cls, budget: Budget, unit: Unit) -> Purse:
        return cls(budget.epsilon if budget.pure else rho_for(budget), budget.pure, unit)

    @property
    def cost(self) -> Cost:
        return Cost.of([Pure(self.whole) if self.pure else Gaussian(self.whole)])

    @property
    def power(self) -> float:
        """Lagrange: shares in proportion to this power of (weight x cells) minimise the sum of absolute errors."""
        return 1 / 2 if self.pure else 2 / 3

    def sigmas(self, amounts: Floats) -> Floats:
        """Noise in each cell of tables that are given these shares of the whole."""
        spent = np.asarray(amounts, dtype=np.float64) * float(self.whole)
        return math.sqrt(2) * self.unit.l1 / spent if self.pure else np.sqrt(self.unit.l2_squared / (2 * spent))

    def split(self, shares: Mapping[Columns, float], part: Fraction) -> tuple[Portion, ...]:
        """Portions in proportion to the shares that together take exactly this part of the whole."""
        kind = Laplace if self.pure else Gaussian
        every = sum(shares.values())
        grains = {columns: max(1, round(GRAIN * value / every)) for columns, value in shares.items()}
        grain = self.whole * part / sum(grains.values())
        return tuple(Portion(columns, kind(grain * count)) for columns, count in grains.items())

    def together(self, portions: Iterable[Portion]) -> dict[Columns, Laplace | Gaussian]:
        """One event for each table, worth all its portions."""
        amounts: dict[Columns, Fraction] = {}
        for portion in portions:
            amount = portion.event.epsilon if isinstance(portion.event, Laplace) else portion.event.rho
            amounts[portion.columns] = amounts.get(portion.columns, Fraction(0)) + amount
        return {columns: Laplace(amount) if self.pure else Gaussian(amount) for columns, amount in amounts.items()}

    def total(self, noise: NoiseSource, rows: int, part: Fraction) -> tuple[float, float]:
        """A noisy number of rows, which a unit changes by at most its limit, and its standard deviation."""
        values = np.array([rows], dtype=np.int64)
        limit = self.unit.limit
        return float(self._noisy(noise, values, part, limit, limit**2)[0]), self._sigma(part, limit, limit**2)

    def scores(self, noise: NoiseSource, scores: NDArray[np.int64], part: Fraction) -> tuple[NDArray[np.int64], float]:
        """Noisy distances, each of which a unit changes by at most unit.l1, and their standard deviation.

        All P distances may change at once: by P unit.l1 in L1, and by P unit.l1^2 in squared L2.
        """
        joint, squared = scores.size * self.unit.l1, scores.size * self.unit.l1**2
        return self._noisy(noise, scores, part, joint, squared), self.noise_of_scores(scores.size, part)

    def noise_of_scores(self, count: int, part: Fraction) -> float:
        """Standard deviation of each of so many noisy distances."""
        return self._sigma(part, count * self.unit.l1, count * self.unit.l1**2)

    def _noisy(
        self, noise: NoiseSource, values: NDArray[np.int64], part: Fraction, joint: int, squared: int
    ) -> NDArray[np.int64]:
        if self.pure:
            return noise.laplace(values, epsilon=self.whole * part, sensitivity=joint)
        return noise.gaussian(values, rho=self.whole * part, sensitivity_squared=squared)

    def _sigma(self, part: Fraction, joint: int, squared: int) -> float:
        spent = float(self.whole * part)
        return math.sqrt(2) * joint / spent if self.pure else math.sqrt(squared / (2 * spent))
