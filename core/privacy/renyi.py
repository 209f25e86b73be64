"""Rényi divergences of events at an order, and what a divergence implies, in exact and correctly rounded arithmetic.

D_a(P | Q) = log E_Q[(P/Q)^a] / (a - 1) is the divergence of order a between the outputs on two neighbouring tables.
A divergence t at order a implies (epsilon, delta) with epsilon = t - `allowance(a, delta)`, by Canonne, Kamath and
Steinke 2020, proposition 12: epsilon = t + log(1/(a delta))/(a - 1) + log(1 - 1/a).

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
- `Greedy(e, k)`: k times that of `Selection(e)`, or what `greedy.py` proves for any k, whichever is less.

**Rounding.** Everything is a `Fraction` or a 40-digit decimal whose exp and log are correctly rounded, so results are
the same on every machine. Costs are rounded up and capacities down, after a guard far above the arithmetic error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache

from core.base.errors import BadParameter
from core.privacy.events import Event, Gaussian, Greedy, Selection
from core.privacy.greedy import greedy_divergence

DIGITS = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation, DivisionByZero, Overflow])
"""The arithmetic of every formula here."""
NO_DELTA = "Gaussian noise needs a delta above 0; try 1e-9, or choose Laplace noise."
GUARD = Decimal("1e-20")
"""Orders exceed 1 by at least 2^-10, so cancellation leaves an error below 10^-25 in every formula below."""
# Orders are 1 + (128 + m)/128 2^k, less than 1 % apart, from 1 + 2^-10 to 1 + 2^50; the optimum is so flat that this
# costs a few millionths of a budget.
_STEPS, _LOWEST, _HIGHEST = 128, -10, 50


def decimal(value: Fraction) -> Decimal:
    """A fraction in the digits of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def _grid(index: int) -> Fraction:
    """The order at a place of the fixed grid; `index` counts from 0."""
    octave, step = divmod(index, _STEPS)
    return 1 + Fraction(_STEPS + step, _STEPS) * Fraction(2) ** (octave + _LOWEST)


def best_order(loss: Callable[[Fraction], Decimal]) -> Fraction:
    """The order on the grid with the smallest loss, for a loss that first falls and then rises."""
    low, high = 0, _STEPS * (_HIGHEST - _LOWEST)
    while low < high:
        middle = (low + high) // 2
        if loss(_grid(middle)) <= loss(_grid(middle + 1)):
            high = middle
        else:
            low = middle + 1
    return _grid(low)


def allowance(order: Fraction, delta: Fraction) -> Decimal:
    """What the tight conversion adds to epsilon: divergence t at this order implies (t - allowance, delta)."""
    above, log_order, log_above = _logs(order)
    return (log_order + log(delta)) / above + log_order - log_above


@lru_cache(maxsize=16384)
def _logs(order: Fraction) -> tuple[Decimal, Decimal, Decimal]:
    """Order - 1 and the logarithms of both, kept because every search walks the same grid."""
    with localcontext(DIGITS):
        above = decimal(order - 1)
        return above, decimal(order).ln(), above.ln()


@lru_cache(maxsize=64)
def log(value: Fraction) -> Decimal:
    """Kept, because few deltas are asked about."""
    with localcontext(DIGITS):
        return decimal(value).ln()


def divergence(events: Counter[Event], order: Fraction | None) -> Fraction:
    """Of all events together, each so many times: divergences of one order add."""
    return sum((times * _of_event(event, order) for event, times in events.items()), Fraction(0))


@lru_cache(maxsize=8192)
def _of_event(event: Event, order: Fraction | None) -> Fraction:
    """An upper bound on the divergence of one event, exact where the exact value is simple."""
    if isinstance(event, Gaussian):
        if order is None and event.rho > 0:
            raise BadParameter("delta", NO_DELTA)
        return event.rho * (order or 0)
    epsilon = event.epsilon
    if isinstance(event, Greedy):
        apart = event.choices * _of_event(Selection(epsilon), order)
        together = None if order is None else _together(epsilon, order)
        return apart if together is None else min(apart, together)
    if order is None or epsilon == 0:
        return epsilon
    with localcontext(DIGITS):
        bound = min(epsilon, order * epsilon**2 / 2, Fraction(_response(epsilon, order) + GUARD))
        if not isinstance(event, Selection):
            return bound
        bound = min(bound, order * epsilon**2 / 8)
        # Where order * epsilon is tiny the exact form gains less than one part in 10^12, and would cancel.
        if order * epsilon < Fraction(1, 10**6) or epsilon > 1000:
            return bound
        return min(bound, Fraction(_range(epsilon, order) + GUARD))


def _together(epsilon: Fraction, order: Fraction) -> Fraction | None:
    """Of greedy choices, however many; None where there is no bound."""
    with localcontext(DIGITS):
        bound = greedy_divergence(decimal(epsilon), decimal(order))
        return None if bound is None else Fraction(bound + GUARD)


def _response(epsilon: Fraction, order: Fraction) -> Decimal:
    """Divergence of randomised response, the largest of anything that is epsilon-private."""
    exponent, above = decimal(epsilon), decimal(order - 1)
    odds = (1 + (-exponent * (2 * above + 1)).exp()) / (1 + (-exponent).exp())
    return exponent + odds.ln() / above


def _range(epsilon: Fraction, order: Fraction) -> Decimal:
    """The largest divergence of anything whose privacy loss stays in some interval of length epsilon."""
    a, exponent = decimal(order), decimal(epsilon)
    w, power = (-exponent).exp(), (-exponent * a).exp()
    tilt = a * (w - power) / ((a - 1) * (1 - power))
    return (((w - power) / ((a - 1) * (1 - w))).ln() - a * tilt.ln()) / (a - 1)
