"""Gaussian differential privacy: mu-GDP is to be as private as one number with normal noise, changed by mu deviations.

Amounts are mu^2/2, which add up under composition (Dong, Roth and Su 2022); of Gaussian noise it is its rho. Everything
is computed in decimals with digits to spare, costs rounded up and capacities down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache

from core.base.bisection import narrowed
from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Gaussian, Greedy, Pure
from core.privacy.normal import normal_density, normal_tail

MOST = Fraction(60)
"""An epsilon beyond which Gaussian noise is so small that a larger one would change nothing."""
_ROUNDING = Decimal("1e-25")
"""Relative; far above the error of the arithmetic and far below one unit."""


def gaussian_amount(cost: Cost) -> Fraction:
    """mu^2/2 of a whole cost, rounded up."""
    return sum((times * _of_event(event) for event, times in cost.counts.items()), Fraction(0))


@lru_cache(maxsize=8192)
def _of_event(event: Event) -> Fraction:
    """mu^2/2 of the Gaussian noise that is at most as private as the event.

    Something e-private is mu-GDP with Q(mu/2) = 1/(1 + exp(e)). Beyond MOST, Q(x) <= exp(-x^2/2)/2 gives mu^2/2 = 4e.
    Greedy choices are so many of these: what they cost together (`greedy.py`) has a tail that no Gaussian has.
    """
    if isinstance(event, Gaussian):
        return event.rho
    if isinstance(event, Greedy):
        return event.choices * _of_event(Pure(event.epsilon))
    from scipy.special import ndtri_exp  # imported late: a page that prices nothing must not wait for it

    epsilon = event.epsilon
    if epsilon == 0 or epsilon > MOST:
        return 4 * epsilon
    with localcontext(Context(prec=60 + math.ceil(epsilon))):
        wanted = 1 / (1 + _decimal(epsilon).exp())
        start = Decimal(float(-ndtri_exp(-math.log1p(math.exp(float(epsilon))))))
        half = _newton(lambda x: normal_tail(x) - wanted, lambda x: -normal_density(x), start)
        return Fraction(_first(lambda x: normal_tail(x) < wanted, half, 1 + _ROUNDING) ** 2 * 2)


@lru_cache(maxsize=1024)
def gaussian_capacity(budget: Budget) -> Fraction:
    """The largest mu^2/2 for which mu-GDP implies the budget, rounded down.

    An epsilon above MOST is taken as MOST: that holds less, and nothing is protected there anyway.
    """
    epsilon = min(budget.epsilon, MOST)
    with localcontext(_context(epsilon, budget.delta)):
        least, wanted = _decimal(epsilon), _decimal(budget.delta)
        mu = _newton(
            lambda mu: _delta(mu, least) - wanted,
            lambda mu: normal_density(least / mu - mu / 2),
            _crossing(lambda mu: _delta(mu, least) > wanted),
        )
        fits = _first(lambda mu: _delta(mu, least) < wanted, mu, 1 - _ROUNDING)
        return Fraction(fits * fits / 2)


@lru_cache(maxsize=1024)
def gaussian_epsilon(amount: Fraction, delta: Fraction) -> Fraction | None:
    """The smallest epsilon that mu-GDP with this mu^2/2 guarantees at this delta, rounded up; None above MOST."""
    with localcontext(_context(MOST, delta)):
        mu, wanted = (2 * _decimal(amount)).sqrt(), _decimal(delta)
        if mu == 0 or _delta(mu, Decimal(0)) <= wanted:
            return Fraction(0)
        if _delta(mu, _decimal(MOST)) > wanted:
            return None
        epsilon = _newton(
            lambda e: _delta(mu, e) - wanted,
            lambda e: -e.exp() * _tail(e / mu + mu / 2),
            _crossing(lambda e: _delta(mu, e) <= wanted),
        )
        return Fraction(_first(lambda e: _delta(mu, e) < wanted, epsilon, 1 + _ROUNDING))


def _delta(mu: Decimal, epsilon: Decimal) -> Decimal:
    """mu-GDP is (epsilon, Q(epsilon/mu - mu/2) - exp(epsilon) Q(epsilon/mu + mu/2))-private, and no better."""
    return _tail(epsilon / mu - mu / 2) - epsilon.exp() * _tail(epsilon / mu + mu / 2)


def _tail(x: Decimal) -> Decimal:
    if x < 0:
        return 1 - _tail(-x)
    # Beyond this, Q(x) < exp(-x^2/2) < 10^(-1.3 digits) is nothing beside what the digits were chosen for.
    return normal_tail(x) if x * x < 6 * getcontext().prec else Decimal(0)


def _context(epsilon: Fraction, delta: Fraction) -> Context:
    """Digits that read a delta, and a tail times exp(epsilon), to 50 places."""
    below = len(str(delta.denominator // max(1, delta.numerator)))
    return Context(prec=50 + below + math.ceil(epsilon), Emin=MIN_EMIN, Emax=MAX_EMAX)


def _crossing(holds: Callable[[Decimal], bool]) -> Decimal:
    """Where something begins to hold, to seven digits."""
    high = Decimal(1)
    while not holds(high):
        high *= 2
    while holds(high / 2):
        high /= 2
    return narrowed(holds, high / 2, high, halvings=24)[1]


def _newton(value: Callable[[Decimal], Decimal], slope: Callable[[Decimal], Decimal], start: Decimal) -> Decimal:
    """The zero beside a start that is known to some digits; each step doubles them."""
    for _ in range(4):
        start -= value(start) / slope(start)
    return start


def _first(holds: Callable[[Decimal], bool], start: Decimal, factor: Decimal) -> Decimal:
    """The start times the factor, times it again until it holds: what was computed is always checked."""
    value = start * factor
    while not holds(value):
        value *= factor
    return value


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
