"""What events cost an account, at an order of Rényi divergence.

**Units.** An account adds its spends up in several ways at once (`privacy_filter.py`). In most of them it counts
*units*: 10^-12 nats of Rényi divergence at one order, fixed from the total budget when the account is opened.

- delta = 0: the order is infinite (`None`), the divergence is epsilon itself, units are pico-epsilon.
- delta > 0: the finite order at which Gaussian noise can use most of a budget. The account holds the largest
  divergence at that order that still implies (epsilon, delta).

**Why adding up is enough, even when the next spend is chosen after seeing the last answer.** Divergences of order a add
under composition conditionally on everything seen so far. So a rule that refuses every spend that would lift the sum
above a total fixed in advance keeps the whole interaction below that total, whatever is asked and whatever price is
chosen at each step: the Rényi privacy filter of Feldman and Zrnic 2021 and Lécuyer 2021; at the infinite order it is
the basic composition filter of Rogers, Roth, Ullman and Vadhan 2016. Picking the best order *afterwards* would not be
covered; that is why orders never change during the life of an account, and why each has a share of delta of its own.

Divergences of single events, what they imply, and how they are rounded: `renyi.py`. Costs are rounded up, capacities
down.
"""

from __future__ import annotations

import math
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache

from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.renyi import DIGITS, GUARD, allowance, best_order, decimal, divergence

UNITS = 10**12
"""Units per nat."""


@lru_cache(maxsize=1024)
def order_for(budget: Budget) -> Fraction | None:
    """The order of an account with this total budget; `None` is infinity, for pure epsilon.

    It maximises the rho = (epsilon + allowance(a))/a that fits. With b = a - 1 the sign of the slope is that of
    log(1/delta) - log(a) - b^2/(2b + 1) (epsilon + log(1 + 1/b)), which falls in b: there is one maximum.
    """
    if budget.pure:
        return None
    with localcontext(DIGITS):
        epsilon = decimal(budget.epsilon)
        return best_order(lambda order: -(epsilon + allowance(order, budget.delta)) / decimal(order))


@lru_cache(maxsize=1024)
def capacity(budget: Budget, order: Fraction | None = None) -> int:
    """All units an account with this total budget holds, rounded down.

    An account keeps its order when its total is changed later; otherwise leave `order` out.
    """
    order = order or order_for(budget)
    if order is None:
        return math.floor(budget.epsilon * UNITS)
    if budget.pure:
        raise BadParameter("delta", "must be above 0 for an account that was opened with a delta above 0.")
    with localcontext(DIGITS):
        total = Fraction(decimal(budget.epsilon) + allowance(order, budget.delta) - GUARD)
    return max(0, math.floor(total * UNITS))


def units(cost: Cost, order: Fraction | None) -> int:
    """What a cost takes from an account of this order, rounded up once for the whole cost."""
    return math.ceil(divergence(cost.counts, order) * UNITS)
