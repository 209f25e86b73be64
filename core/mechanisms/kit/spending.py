"""A budget that is spent in steps, where later steps are chosen after seeing earlier noisy answers.

**Privacy** All amounts are parts of one whole, fixed in advance: rho for Gaussian noise, epsilon for Laplace noise. The
parts are exact fractions and are handed out so that they never sum to more than the whole, whatever the answers are.
Steps and the sizes of their parts may then depend on earlier answers: the divergence of every order stays below that of
the whole (the filter in `accounting.py`: Feldman and Zrnic 2021; pure: Rogers, Roth, Ullman and Vadhan 2016), so the
whole run costs one `Gaussian(rho)` or `Pure(epsilon)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.noise_level import ROUNDING, Additive, NoiseLevel
from core.kernel.tables import one_cell
from core.mechanisms.kit.portions import GRAIN, Portion
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit


@dataclass(frozen=True)
class Spending:
    """The whole of a budget in the currency of its noise, and what one unit of privacy may change."""

    whole: Fraction
    pure: bool
    unit: Unit

    @classmethod
    def of(cls, budget: Budget, unit: Unit) -> Spending:
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
        whole = NoiseLevel(self.event(Fraction(1)), one_cell(self.unit)).sigma
        if self.pure:
            return whole / np.asarray(amounts, dtype=np.float64)
        return np.sqrt((whole**2 - ROUNDING) / np.asarray(amounts, dtype=np.float64) + ROUNDING)

    def split(self, shares: Mapping[Columns, float], part: Fraction) -> tuple[Portion, ...]:
        """Portions in proportion to the shares that together take exactly this part of the whole."""
        kind = Laplace if self.pure else Gaussian
        every = sum(shares.values())
        grains = {columns: max(1, round(GRAIN * value / every)) for columns, value in shares.items()}
        grain = self.whole * part / sum(grains.values())
        return tuple(Portion(columns, kind(grain * count)) for columns, count in grains.items())

    def together(self, portions: Iterable[Portion]) -> dict[Columns, Additive]:
        """One event for each table, worth all its portions."""
        amounts: dict[Columns, Fraction] = {}
        for portion in portions:
            amount = portion.event.epsilon if isinstance(portion.event, Laplace) else portion.event.rho
            amounts[portion.columns] = amounts.get(portion.columns, Fraction(0)) + amount
        return {columns: Laplace(amount) if self.pure else Gaussian(amount) for columns, amount in amounts.items()}

    def event(self, part: Fraction) -> Additive:
        """Noise that takes this part of the whole."""
        return Laplace(self.whole * part) if self.pure else Gaussian(self.whole * part)
