"""What events cost at an order of Rényi divergence, and the guarantee of a finished sequence.

**Units.** An account adds its spends up in several ways at once (`filters.py`). In most of them it counts *units*:
10^-12 nats of Rényi divergence at one order, fixed from the total budget when the account is opened.
D_a(P | Q) = log E_Q[(P/Q)^a] / (a - 1) is the divergence of order a between the outputs on two neighbouring tables.

- delta = 0: the order is infinite (`None`), the divergence is epsilon itself, units are pico-epsilon.
- delta > 0: the finite order at which Gaussian noise can use most of a budget. The account holds the largest
  divergence t at that order that still implies (epsilon, delta), by Canonne, Kamath and Steinke 2020, proposition 12:
  epsilon = t + log(1/(a delta))/(a - 1) + log(1 - 1/a).

**Why adding up is enough, even when the next spend is chosen after seeing the last answer.** Divergences of order a add
under composition conditionally on everything seen so far. So a rule that refuses every spend that would lift the sum
above a total fixed in advance keeps the whole interaction below that total, whatever is asked and whatever price is
chosen at each step: the Rényi privacy filter of Feldman and Zrnic 2021 and Lécuyer 2021; at the infinite order it is
the basic composition filter of Rogers, Roth, Ullman and Vadhan 2016. Picking the best order *afterwards* would not be
covered; that is why orders never change during the life of an account, and why each has a share of delta of its own.

**Per event**, in both directions (L is the privacy loss log P/Q; E_Q[exp L] = 1 and x^a is convex, so among all losses
in an interval the two end points reach the largest divergence):

- `Gaussian(rho)`: a rho exactly (Gaussian noise in any number of cells; rounding it is post-processing).
- `Pure(e)`: L lies in [-e, e]; the end points are randomised response, D_a = e + log((1 + r^(2a-1))/(1 + r))/(a - 1)
  with r = exp(-e). It is below both e and a e^2/2.
- `Laplace(e)`: the same. Discrete Laplace noise on a count of sensitivity 1 has only the losses e and -e, so it *is*
  randomised response; the smaller curve of continuous Laplace noise would be wrong for it. A change spread over many
  cells, or a larger sensitivity, is still e-private and therefore covered.
- `Selection(e)`: L lies in an interval [s - e, s] of length e with unknown s (bounded range). Maximising the end-point
  formula over s gives D_a = (-a log u + log((w - w^a)/((a - 1)(1 - w))))/(a - 1), w = exp(-e),
  u = a (w - w^a)/((a - 1)(1 - w^a)); it is below a e^2/8 (Dong, Durfee and Rogers 2020; Cesar and Rogers 2021).

**Rounding.** Everything is a `Fraction` or a 40-digit decimal whose exp and log are correctly rounded, so results are
the same on every machine. Costs are rounded up and capacities down, after a guard far above the arithmetic error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache

from core.base.errors import BadParameter
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Selection
from core.privacy.gaussian import gaussian_amount, gaussian_epsilon

UNITS = 10**12
"""Units per nat."""

_DIGITS = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation, DivisionByZero, Overflow])
# Orders exceed 1 by at least 2^-10, so cancellation leaves an error below 10^-25 in every formula below.
_GUARD = Decimal("1e-20")
# Orders are 1 + (128 + m)/128 2^k, less than 1 % apart, from 1 + 2^-10 to 1 + 2^50; the optimum is so flat that this
# costs a few millionths of a budget.
_STEPS, _LOWEST, _HIGHEST = 128, -10, 50


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _grid(index: int) -> Fraction:
    """The order at a place of the fixed grid; `index` counts from 0."""
    octave, step = divmod(index, _STEPS)
    return 1 + Fraction(_STEPS + step, _STEPS) * Fraction(2) ** (octave + _LOWEST)


def _best_order(loss: Callable[[Fraction], Decimal]) -> Fraction:
    """The order on the grid with the smallest loss, for a loss that first falls and then rises."""
    low, high = 0, _STEPS * (_HIGHEST - _LOWEST)
    while low < high:
        middle = (low + high) // 2
        if loss(_grid(middle)) <= loss(_grid(middle + 1)):
            high = middle
        else:
            low = middle + 1
    return _grid(low)


def _allowance(order: Fraction, delta: Fraction) -> Decimal:
    """What the tight conversion adds to epsilon: divergence t at this order implies (t - allowance, delta)."""
    above, log_order, log_above = _logs(order)
    return (log_order + _log(delta)) / above + log_order - log_above


@lru_cache(maxsize=16384)
def _logs(order: Fraction) -> tuple[Decimal, Decimal, Decimal]:
    """Order - 1 and the logarithms of both, kept because every search walks the same grid."""
    with localcontext(_DIGITS):
        above = _decimal(order - 1)
        return above, _decimal(order).ln(), above.ln()


@lru_cache(maxsize=64)
def _log(value: Fraction) -> Decimal:
    with localcontext(_DIGITS):
        return _decimal(value).ln()


@lru_cache(maxsize=1024)
def order_for(budget: Budget) -> Fraction | None:
    """The order of an account with this total budget; `None` is infinity, for pure epsilon.

    It maximises the rho = (epsilon + allowance(a))/a that fits. With b = a - 1 the sign of the slope is that of
    log(1/delta) - log(a) - b^2/(2b + 1) (epsilon + log(1 + 1/b)), which falls in b: there is one maximum.
    """
    if budget.pure:
        return None
    with localcontext(_DIGITS):
        epsilon = _decimal(budget.epsilon)
        return _best_order(lambda order: -(epsilon + _allowance(order, budget.delta)) / _decimal(order))


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
    with localcontext(_DIGITS):
        total = Fraction(_decimal(budget.epsilon) + _allowance(order, budget.delta) - _GUARD)
    return max(0, math.floor(total * UNITS))


def units(cost: Cost, order: Fraction | None) -> int:
    """What a cost takes from an account of this order, rounded up once for the whole cost."""
    return math.ceil(_divergence(Counter(cost.events), order) * UNITS)


def _divergence(events: Counter[Event], order: Fraction | None) -> Fraction:
    return sum((times * _of_event(event, order) for event, times in events.items()), Fraction(0))


@lru_cache(maxsize=8192)
def _of_event(event: Event, order: Fraction | None) -> Fraction:
    """An upper bound on the divergence of one event, exact where the exact value is simple."""
    if isinstance(event, Gaussian):
        if order is None and event.rho > 0:
            raise BadParameter("delta", "Gaussian noise needs a delta above 0; try 1e-9, or choose Laplace noise.")
        return event.rho * (order or 0)
    epsilon = event.epsilon
    if order is None or epsilon == 0:
        return epsilon
    with localcontext(_DIGITS):
        bound = min(epsilon, order * epsilon**2 / 2, Fraction(_response(epsilon, order) + _GUARD))
        if not isinstance(event, Selection):
            return bound
        bound = min(bound, order * epsilon**2 / 8)
        # Where order * epsilon is tiny the exact form gains less than one part in 10^12, and would cancel.
        if order * epsilon < Fraction(1, 10**6) or epsilon > 1000:
            return bound
        return min(bound, Fraction(_range(epsilon, order) + _GUARD))


def _response(epsilon: Fraction, order: Fraction) -> Decimal:
    """Divergence of randomised response, the largest of anything that is epsilon-private."""
    exponent, above = _decimal(epsilon), _decimal(order - 1)
    odds = (1 + (-exponent * (2 * above + 1)).exp()) / (1 + (-exponent).exp())
    return exponent + odds.ln() / above


def _range(epsilon: Fraction, order: Fraction) -> Decimal:
    """The largest divergence of anything whose privacy loss stays in some interval of length epsilon."""
    a, exponent = _decimal(order), _decimal(epsilon)
    w, power = (-exponent).exp(), (-exponent * a).exp()
    tilt = a * (w - power) / ((a - 1) * (1 - power))
    return (((w - power) / ((a - 1) * (1 - w))).ln() - a * tilt.ln()) / (a - 1)


def _up(value: Fraction | Decimal) -> float:
    """The smallest float that, read as the decimal it prints, is at least the value."""
    number = float(value)
    return number if exact(number, "value") >= Fraction(value) else math.nextafter(number, math.inf)


def _epsilons(cost: Cost) -> list[Fraction] | None:
    """The epsilon of each event that has one; `None` if an event has no pure guarantee."""
    if not cost.pure:
        return None
    return [event.epsilon for event in cost.events if not isinstance(event, Gaussian) and event.epsilon > 0]


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
    with localcontext(_DIGITS):
        if len(set(epsilons)) == 1 and len(epsilons) <= 10_000:
            return _up(_optimal(len(epsilons), epsilons[0], failure))
        shares = [(times, _decimal(epsilon), _decimal(-epsilon).exp()) for epsilon, times in Counter(epsilons).items()]
        mean = sum((times * e * (1 - r) / (1 + r) for times, e, r in shares), Decimal(0))
        squares = sum((times * e * e for times, e, _ in shares), Decimal(0))
        return _up(mean + (-2 * _log(failure) * squares).sqrt() + _GUARD)


def _optimal(times: int, epsilon: Fraction, delta: Fraction) -> Decimal:
    """The smallest x >= 0 at which k randomised responses are (x, delta)-private.

    Their loss is (k - 2j) e with probability proportional to C(k, j) exp(-j e), and delta(x) is the largest of the
    lines P(j < i) - exp(x) Q(j < i) over i; each line asks for exp(x) >= (P - delta)/Q. The demands rise, then fall.
    """
    ratio = _decimal(-epsilon).exp()
    likely = (1 / (1 + ratio)) ** times
    unlikely = likely * ratio**times
    demand, above, below = Decimal("-Infinity"), likely - _decimal(delta), unlikely
    for j in range(times):
        if above / below < demand:
            break
        demand = above / below
        likely, unlikely = likely * ratio * (times - j) / (j + 1), unlikely / ratio * (times - j) / (j + 1)
        above, below = above + likely, below + unlikely
    return demand.ln() + _GUARD if demand > 1 - _GUARD else Decimal(0)


def zcdp(cost: Cost, delta: object) -> float:
    """Zero-concentrated composition: rho is e^2/2 for a pure event and e^2/8 for a selection; then converted."""
    rho = sum((times * _rho(event) for event, times in Counter(cost.events).items()), Fraction(0))
    return _converted(Counter([Gaussian(rho)]), _probability(delta))


def _rho(event: Event) -> Fraction:
    if isinstance(event, Gaussian):
        return event.rho
    return event.epsilon**2 / (8 if isinstance(event, Selection) else 2)


def renyi(cost: Cost, delta: object) -> float:
    """Rényi composition: the exact curves of all events are added at each order; then converted at the best."""
    return _converted(Counter(cost.events), _probability(delta))


def _converted(events: Counter[Event], delta: Fraction) -> float:
    """The smallest epsilon over all orders; with K(a) = (a - 1) D_a convex there is one minimum."""
    if _divergence(events, Fraction(2)) == 0:
        return 0.0
    if delta == 0:
        return basic(Cost(tuple(events.elements())))

    def epsilon(order: Fraction) -> Decimal:
        return _decimal(_divergence(events, order)) - _allowance(order, delta)

    with localcontext(_DIGITS):
        return max(0.0, _up(epsilon(_best_order(epsilon)) + _GUARD))


def gaussian(cost: Cost, delta: object) -> float:
    """Gaussian composition: mu^2/2 of all events is added (`gaussian.py`) and converted exactly."""
    failure = _probability(delta)
    if failure == 0:
        return basic(cost)
    epsilon = gaussian_epsilon(gaussian_amount(cost), failure)
    return math.inf if epsilon is None else _up(epsilon)


def epsilon_for(spent: Cost | Fraction, delta: object) -> float:
    """The epsilon that a finished cost (or a rho) guarantees together with this delta: the best of all bounds.

    Valid when later queries were chosen after seeing earlier answers, as long as the events were fixed beforehand.
    """
    cost = spent if isinstance(spent, Cost) else Cost((Gaussian(spent),))
    if _probability(delta) == 0:
        return basic(cost)
    return min(basic(cost), *(bound(cost, delta) for bound in (advanced, zcdp, renyi, gaussian)))


def _probability(delta: object) -> Fraction:
    value = exact(delta, "delta")
    if not 0 <= value < 1:
        raise BadParameter("delta", "must be at least 0 and below 1; try 1e-9.")
    return value
