"""What a finished sequence of events guarantees together, by five composition theorems.

Accounts do not rest on this: they add spends up as they come (`core/privacy/privacy_filter.py`), and the next may
depend on the last answer. A bound here holds where the events were fixed beforehand, with queries chosen as one goes.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Greedy, Selection
from core.privacy.gaussian import gaussian_amount, gaussian_epsilon
from core.privacy.renyi import DIGITS, GUARD, allowance, best_order, decimal, divergence, log
from core.privacy.spendable import covers


def _epsilons(cost: Cost) -> list[Fraction] | None:
    """The epsilon of each event that has one; `None` if an event has no pure guarantee."""
    if not cost.pure:
        return None
    return [
        event.epsilon
        for event in cost.events
        if not isinstance(event, Gaussian) and event.epsilon > 0
        for _ in range(event.choices if isinstance(event, Greedy) else 1)
    ]


def basic(cost: Cost) -> float:
    """Basic composition: epsilons add, delta stays 0; infinite with Gaussian noise."""
    epsilons = _epsilons(cost)
    return math.inf if epsilons is None else _up(sum(epsilons, Fraction(0)))


def advanced(cost: Cost, delta: object) -> float:
    """Advanced composition of pure events; infinite with Gaussian noise.

    k <= 10,000 events of one epsilon e: the optimal bound (Kairouz, Oh and Viswanath 2015), which is the exact
    guarantee of k randomised responses. Otherwise: sum e tanh(e/2) + sqrt(2 log(1/delta) sum e^2) (Dwork, Rothblum
    and Vadhan 2010 with the exact mean loss of randomised response, by Azuma's inequality).
    """
    failure, epsilons = _probability(delta), _epsilons(cost)
    if epsilons is None:
        return math.inf
    if not epsilons or failure == 0:
        return basic(cost)
    with localcontext(DIGITS):
        if len(set(epsilons)) == 1 and len(epsilons) <= 10_000:
            return _up(_optimal(len(epsilons), epsilons[0], failure))
        shares = [(times, decimal(epsilon), decimal(-epsilon).exp()) for epsilon, times in Counter(epsilons).items()]
        mean = sum((times * e * (1 - r) / (1 + r) for times, e, r in shares), Decimal(0))
        squares = sum((times * e * e for times, e, _ in shares), Decimal(0))
        return _up(mean + (-2 * log(failure) * squares).sqrt() + GUARD)


def _optimal(times: int, epsilon: Fraction, delta: Fraction) -> Decimal:
    """The smallest x >= 0 at which k randomised responses are (x, delta)-private.

    Their loss is (k - 2j) e with probability proportional to C(k, j) exp(-j e), and delta(x) is the largest of the
    lines P(j < i) - exp(x) Q(j < i) over i; each line asks for exp(x) >= (P - delta)/Q. The demands rise, then fall.
    """
    ratio = decimal(-epsilon).exp()
    likely = (1 / (1 + ratio)) ** times
    unlikely = likely * ratio**times
    demand, above, below = Decimal("-Infinity"), likely - decimal(delta), unlikely
    for j in range(times):
        if above / below < demand:
            break
        demand = above / below
        likely, unlikely = likely * ratio * (times - j) / (j + 1), unlikely / ratio * (times - j) / (j + 1)
        above, below = above + likely, below + unlikely
    return demand.ln() + GUARD if demand > 1 - GUARD else Decimal(0)


def zcdp(cost: Cost, delta: object) -> float:
    """Zero-concentrated composition: rho is e^2/2 for a pure event and e^2/8 for a selection; then converted."""
    rho = sum((times * _rho(event) for event, times in Counter(cost.events).items()), Fraction(0))
    return _converted(Counter([Gaussian(rho)]), _probability(delta))


def _rho(event: Event) -> Fraction:
    if isinstance(event, Gaussian):
        return event.rho
    if isinstance(event, Greedy):
        return event.choices * event.epsilon**2 / 8
    return event.epsilon**2 / (8 if isinstance(event, Selection) else 2)


def renyi(cost: Cost, delta: object) -> float:
    """Rényi composition: the exact curves of all events are added at each order; then converted at the best."""
    return _converted(Counter(cost.events), _probability(delta))


def _converted(events: Counter[Event], delta: Fraction) -> float:
    """The smallest epsilon over all orders; with K(a) = (a - 1) D_a convex there is one minimum."""
    if divergence(events, Fraction(2)) == 0:
        return 0.0
    if delta == 0:
        return basic(Cost(tuple(events.elements())))

    def epsilon(order: Fraction) -> Decimal:
        return decimal(divergence(events, order)) - allowance(order, delta)

    with localcontext(DIGITS):
        return max(0.0, _up(epsilon(best_order(epsilon)) + GUARD))


def gaussian(cost: Cost, delta: object) -> float:
    """Gaussian composition: mu^2/2 of all events is added (`gaussian.py`) and converted exactly."""
    failure = _probability(delta)
    if failure == 0:
        return basic(cost)
    epsilon = gaussian_epsilon(gaussian_amount(cost), failure)
    return math.inf if epsilon is None else _up(epsilon)


def epsilon_for(cost: Cost, delta: object) -> float:
    """The epsilon that a finished cost guarantees together with this delta: the best of all bounds.

    Valid when later queries were chosen after seeing earlier answers, as long as the events were fixed beforehand.
    """
    if _probability(delta) == 0:
        return basic(cost)
    return min(basic(cost), *(bound(cost, delta) for bound in (advanced, zcdp, renyi, gaussian)))


def account_epsilon(cost: Cost, delta: object) -> float:
    """The smallest total, to a thousandth, at which an account of this desk pays a cost piece by piece.

    Pieces, prices and questions may then follow earlier answers; `epsilon_for` fixes them beforehand and is smaller.
    """
    failure = _probability(delta)
    steps = largest_that_fits(lambda tried: not covers(Budget(Fraction(tried, 1000), failure), cost))
    return (steps + 1) / 1000


def _probability(delta: object) -> Fraction:
    value = exact(delta, "delta")
    if not 0 <= value < 1:
        raise BadParameter("delta", "must be at least 0 and below 1; try 1e-9.")
    return value


def _up(value: Fraction | Decimal) -> float:
    """The smallest float that, read as the decimal it prints, is at least the value."""
    number = float(value)
    return number if exact(number, "value") >= Fraction(value) else math.nextafter(number, math.inf)
