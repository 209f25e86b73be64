"""What a whole budget buys when one mechanism spends all of it, in each way that `privacy_filter.py` knows.

For Gaussian noise that is the rho of zero-concentrated privacy (zCDP): `rho_for`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter
from core.privacy.accounting import UNITS, capacity, order_for, units
from core.privacy.budget import Budget, OneWayBudget
from core.privacy.events import Cost, Pure
from core.privacy.gaussian import gaussian_capacity
from core.privacy.privacy_filter import GAUSSIAN_UNITS, DeltaShares, Filters
from core.privacy.renyi import NO_DELTA

_TOO_SMALL = "is too small for Gaussian noise of any size; try 1."


def rho_for(budget: Budget) -> Fraction:
    """The rho of Gaussian noise alone that uses a budget to its last unit; split it freely, parts add up exactly."""
    if budget.pure:
        raise BadParameter("delta", NO_DELTA)
    if isinstance(budget, OneWayBudget):
        return mixed_rho_for(budget)
    part = Budget(budget.epsilon, budget.delta * DeltaShares.of(budget).gaussian)
    return _above_zero(Fraction(math.floor(gaussian_capacity(part) * GAUSSIAN_UNITS), GAUSSIAN_UNITS))


def mixed_rho_for(budget: Budget) -> Fraction:
    """The rho for Gaussian noise together with choices or comparisons, which add up at `mixed_order` only."""
    order = mixed_order(budget)
    return _above_zero(Fraction(mixed_capacity(budget), UNITS) / order)


def mixed_order(budget: Budget) -> Fraction:
    """The order at which an account adds up mixtures of Gaussian noise, choices and comparisons."""
    order = order_for(_mixed_part(budget))
    if order is None:
        raise BadParameter("delta", NO_DELTA)
    return order


def mixed_capacity(budget: Budget) -> int:
    """The units that a budget holds at that order."""
    return capacity(_mixed_part(budget))


def pure_for(budget: Budget) -> Fraction:
    """The epsilon of one pure event that uses a budget: all of it, because pure events add up whatever the delta."""
    return _pure_at_one_order(budget) if isinstance(budget, OneWayBudget) else budget.epsilon


@lru_cache(maxsize=256)
def _pure_at_one_order(budget: OneWayBudget) -> Fraction:
    """The largest multiple of 10^-12 whose pure event costs at most what the budget holds at its order."""
    held, order = capacity(budget), order_for(budget)
    steps = largest_that_fits(
        lambda tried: units(Cost((Pure(Fraction(tried, UNITS)),)), order) <= held, start=held or 1
    )
    return Fraction(steps, UNITS)


def covers(budget: Budget, cost: Cost) -> bool:
    """Whether an account that holds this budget and nothing else would pay a cost."""
    if isinstance(budget, OneWayBudget):
        return units(cost, order_for(budget)) <= capacity(budget)
    return Filters.of(budget).covers(cost)


def _mixed_part(budget: Budget) -> Budget:
    if isinstance(budget, OneWayBudget):
        return budget
    return Budget(budget.epsilon, budget.delta * DeltaShares.of(budget).orders[0][1])


def _above_zero(amount: Fraction) -> Fraction:
    if amount == 0:
        raise BadParameter("epsilon", _TOO_SMALL)
    return amount
