"""What one more plan may promise: the largest epsilon that still fits beside everything that was spent."""

from __future__ import annotations

import math
from fractions import Fraction

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter
from core.privacy.accounting import UNITS
from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Pure
from core.privacy.filters import GAUSSIAN_SHARE, PURE, Amounts, Filters, joined
from core.privacy.gaussian import gaussian_epsilon
from core.privacy.spendable import rho_for

MOST = 1000
"""The largest epsilon that a budget may have."""


def remaining_epsilon(filters: Filters, sums: Amounts, delta: Fraction) -> float:
    """The largest epsilon of a plan of pure noise, or of Gaussian noise at this delta, that an account can still pay.

    It is cut after 12 decimals, so a plan with this very epsilon fits; 0 if there is none.
    """
    if filters.used(sums) is None:
        return 0.0

    def fits(event: Event) -> bool:
        return filters.used(joined(sums, filters.amounts(Cost((event,))))) is not None

    pure = largest_that_fits(lambda steps: fits(Pure(Fraction(steps, UNITS))), start=UNITS, most=MOST * UNITS)
    return max(pure, 0 if delta == 0 else _gaussian_steps(filters, sums, delta)) / UNITS


def _gaussian_steps(filters: Filters, sums: Amounts, delta: Fraction) -> int:
    """The largest epsilon of Gaussian noise alone, in steps of 10^-12."""
    rooms = [room for name in filters.ways if (room := filters.room_for_rho(name, sums)) is not None]
    left = max(rooms, default=Fraction(0))
    if left <= 0:
        return 0

    def fits(steps: int) -> bool:
        try:
            return rho_for(filters.spendable(Budget(Fraction(steps, UNITS), delta))) <= left
        except BadParameter:
            return True  # too small to buy anything, or to cost anything

    # The inverse of `rho_for` where all ways are at hand: a step or two from the result.
    guess = gaussian_epsilon(left, delta * GAUSSIAN_SHARE)
    near = max(1, math.floor((MOST if guess is None else guess) * UNITS))
    while PURE in filters.ways and near > 1 and not fits(near):
        near -= 1
    steps = near if PURE in filters.ways else largest_that_fits(fits, start=near, most=MOST * UNITS)
    return steps if _buys(filters.spendable(Budget(Fraction(max(steps, 1), UNITS), delta))) else 0


def _buys(plan: Budget) -> bool:
    try:
        return rho_for(plan) > 0
    except BadParameter:
        return False
