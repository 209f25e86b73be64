"""What a whole budget buys when one mechanism spends all of it, in each way that `filters.py` knows."""

from __future__ import annotations

import math
from fractions import Fraction

from core.base.errors import BadParameter
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.filters import GAUSSIAN_SHARE, ORDER_SHARES
from core.privacy.gaussian import gaussian_capacity

MIXED_SHARE = ORDER_SHARES[0][1]
_TOO_SMALL = "is too small for Gaussian noise of any size; try 1."
_NO_DELTA = "Gaussian noise needs a delta above 0; try 1e-9, or choose Laplace noise."


def rho_for(budget: Budget) -> Fraction:
    """The rho of Gaussian noise alone that uses a budget to its last unit; split it freely, parts add up exactly."""
    if budget.pure:
        raise BadParameter("delta", _NO_DELTA)
    amount = Fraction(math.floor(gaussian_capacity(_part(budget, GAUSSIAN_SHARE)) * accounting.UNITS), accounting.UNITS)
    if amount == 0:
        raise BadParameter("epsilon", _TOO_SMALL)
    return amount


def mixed_rho_for(budget: Budget) -> Fraction:
    """The rho for Gaussian noise together with choices or comparisons, which add up at `mixed_order` only."""
    order = mixed_order(budget)
    amount = Fraction(mixed_capacity(budget), accounting.UNITS) / order
    if amount == 0:
        raise BadParameter("epsilon", _TOO_SMALL)
    return amount


def mixed_order(budget: Budget) -> Fraction:
    """The order at which an account adds up mixtures of Gaussian noise, choices and comparisons."""
    order = accounting.order_for(_part(budget, MIXED_SHARE))
    if order is None:
        raise BadParameter("delta", _NO_DELTA)
    return order


def mixed_capacity(budget: Budget) -> int:
    """The units that a budget holds at that order."""
    return accounting.capacity(_part(budget, MIXED_SHARE))


def pure_for(budget: Budget) -> Fraction:
    """The epsilon of pure events alone: they add up whatever the delta."""
    return budget.epsilon


def _part(budget: Budget, share: Fraction) -> Budget:
    return Budget(budget.epsilon, budget.delta * share)
