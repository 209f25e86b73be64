"""What one more plan may promise: the largest epsilon that still fits beside everything that was spent."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter
from core.privacy.accounting import UNITS
from core.privacy.budget import Budget
from core.privacy.events import Cost, Pure
from core.privacy.gaussian import gaussian_epsilon
from core.privacy.privacy_filter import GAUSSIAN, PURE, Amounts, DeltaShares, Filters, joined
from core.privacy.spendable import rho_for

MOST = 1000
"""The largest epsilon that a budget may have."""


def remaining_epsilon(filters: Filters, sums: Amounts, delta: Fraction) -> float:
    """The largest epsilon of a plan of pure noise, or of Gaussian noise at this delta, that an account can still pay.

    At most that of the account. It is cut after 12 decimals, so a plan with this very epsilon fits; 0 if there is none.
    """
    if filters.used(sums) is None:
        return 0.0
    most = filters.total if PURE in filters.ways else MOST * UNITS
    steps = 0 if delta == 0 else _gaussian_steps(filters, sums, delta, most)
    if delta == 0 or PURE in filters.ways:
        steps = max(steps, _pure_steps(filters, sums, most))
    return steps / UNITS


def _pure_steps(filters: Filters, sums: Amounts, most: int) -> int:
    """The largest epsilon of pure noise alone, in steps of 10^-12.

    What fits in one way is paid, so it is the largest of all ways. The Gaussian one, whose amounts take long to work
    out, comes last, and no way is searched that does not hold a step more than those before.
    """
    found = 0
    for name in sorted(filters.ways, key=lambda name: (name == GAUSSIAN, name != PURE)):
        fits = partial(_pure_fits, Filters({name: filters.ways[name]}), sums)
        if found < most and fits(found + 1):
            found = largest_that_fits(fits, start=found + 1 if found else UNITS, most=most)
    return found


def _pure_fits(filters: Filters, sums: Amounts, steps: int) -> bool:
    event = Pure(Fraction(steps, UNITS))
    return filters.used(joined(sums, filters.amounts(Cost((event,))))) is not None


def _gaussian_steps(filters: Filters, sums: Amounts, delta: Fraction, most: int) -> int:
    """The largest epsilon of Gaussian noise alone, in steps of 10^-12."""
    rooms = [room for name in filters.ways if (room := filters.room_for_rho(name, sums)) is not None]
    left = max(rooms, default=Fraction(0))

    def taken(steps: int) -> Fraction:
        """Rho of a plan; 0 where the epsilon is too small to buy anything."""
        try:
            return rho_for(filters.spendable(Budget(Fraction(steps, UNITS), delta)))
        except BadParameter:
            return Fraction(0)

    if PURE not in filters.ways:
        steps = largest_that_fits(lambda tried: taken(tried) <= left, start=UNITS, most=most)
    else:
        # The inverse of `rho_for`, at most a step or two too far because a plan is rounded as well.
        share = DeltaShares.of(filters.spendable(Budget(1, delta))).gaussian
        found = gaussian_epsilon(max(left, Fraction(0)), delta * share)
        steps = min(most, most if found is None else math.ceil(found * UNITS))
        while steps > 0 and taken(steps) > left:
            steps -= 1
    return steps if taken(steps) > 0 else 0
