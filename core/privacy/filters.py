"""When an account may pay: several ways of adding up, of which one must still cover everything that was spent.

**Ways.** An account with a budget (epsilon, delta) adds its spends up in a few ways at once, each fixed when it opens:

- *pure*: the sum of epsilons, if every event has one; it covers while the sum is at most epsilon, with no delta.
- *gaussian*: the sum of mu^2/2 in Gaussian differential privacy; it covers while sqrt(2 sum)-GDP implies (epsilon,
  delta_1). `Gaussian(rho)` is sqrt(2 rho)-GDP exactly (the noise that is drawn is Gaussian noise, rounded). An event
  that is e-private is mu-GDP with Q(mu/2) = 1/(1 + exp(e)): the trade-off curve of mu-GDP is convex, meets that of
  randomised response at its corner and at both ends, and so lies below its two straight sides (Dong, Roth, Su 2022).
- *orders*: the sum of Rényi divergences at some fixed orders a_j, as in `accounting.py`; each covers while its sum
  implies (epsilon, delta_j).

delta_1 + delta_2 + ... = delta.

**Theorem.** If a spend is refused unless at least one way still covers all spends including the new one, then
everything together is (epsilon, delta)-differentially private, whatever is asked and whatever price is chosen after
seeing earlier answers.

*Proof.* For one way j consider the interaction that is stopped just before way j would be exceeded. Its sum never
exceeds a number fixed in advance, so it is (epsilon, delta_j)-private: for pure epsilons by basic composition with
prices chosen on the way (Rogers, Roth, Ullman and Vadhan 2016), for Rényi divergences by Feldman and Zrnic 2021, for
mu^2 by Smith and Thakurta 2022 and Koskela, Tobaben and Honkela 2023. Up to where it is stopped it agrees with the real
interaction. Let A_j be the transcripts of the real interaction that way j covers to their end and no way before j
does. Every transcript lies in one A_j, and on A_j nothing was stopped. So for neighbouring tables and every set S of
transcripts

    P(S) = sum_j P(S and A_j) <= sum_j (e^epsilon P'(S and A_j) + delta_j) = e^epsilon P'(S) + delta.

Which way covers may depend on the transcript; the shares of delta pay for that.

**Rounding.** Amounts are whole units of 10^-12, costs rounded up and capacities down.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from core.privacy.accounting import UNITS, capacity, order_for, units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Gaussian
from core.privacy.normal import normal_tail

PURE, GAUSSIAN = "pure", "gaussian"
GAUSSIAN_SHARE = Fraction(1, 2)
ORDER_SHARES = ((1, Fraction(3, 8)), (4, Fraction(1, 8)))
"""Parts of delta. Gaussian noise is used most, then mixtures with choices and comparisons, which one order serves; a
second order, four times as high, serves mixtures with larger pure parts."""
MOST = Fraction(60)
"""An epsilon beyond which Gaussian noise is so small that a larger one would change nothing."""

Amounts = Mapping[str, int | None]
"""What something takes in each way, in units; None where a way cannot count it."""


@dataclass(frozen=True)
class Filters:
    """The ways of one account, each with what it holds, in units."""

    held: Mapping[str, int]

    @classmethod
    def of(cls, budget: Budget) -> Filters:
        held = {PURE: math.floor(budget.epsilon * UNITS)}
        if not budget.pure:
            held[GAUSSIAN] = math.floor(gaussian_capacity(budget) * UNITS)
            for multiple, share in ORDER_SHARES:
                part = Budget(budget.epsilon, budget.delta * share)
                order = (order_for(part) or Fraction(2)) * multiple
                held[f"order {order}"] = capacity(part, order)
        return cls(held)

    def amounts(self, cost: Cost) -> dict[str, int | None]:
        """What a cost takes in every way."""
        return {way: _amount(cost, way) for way in self.held}

    def used(self, sums: Amounts) -> Fraction | None:
        """The part of the account that is used, by the way that covers best; None where no way covers everything."""
        parts = [
            Fraction(spent, held) if held else Fraction(0 if spent == 0 else 2)
            for way, held in self.held.items()
            if (spent := sums.get(way, 0)) is not None
        ]
        best = min(parts, default=None)
        return best if best is not None and best <= 1 else None

    def to_text(self) -> str:
        """One spelling, as the ledger keeps it."""
        return json.dumps(dict(self.held), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Filters:
        return cls(json.loads(text))


def joined(first: Amounts, second: Amounts) -> dict[str, int | None]:
    """Both together, way by way; what a way cannot count once it can never cover again."""
    return {
        way: None if amount is None or first.get(way, 0) is None else amount + (first.get(way) or 0)
        for way, amount in second.items()
    }


def _amount(cost: Cost, way: str) -> int | None:
    if way == PURE:
        return units(cost, None) if cost.pure else None
    if way == GAUSSIAN:
        events = Counter(cost.events)
        return math.ceil(sum((times * _as_gaussian(event) for event, times in events.items()), Fraction(0)) * UNITS)
    return units(cost, Fraction(way.removeprefix("order ")))


@lru_cache(maxsize=8192)
def _as_gaussian(event: Event) -> Fraction:
    """mu^2/2 of the Gaussian noise that is at most as private as the event, rounded up."""
    if isinstance(event, Gaussian):
        return event.rho
    if event.epsilon == 0:
        return Fraction(0)
    with localcontext(Context(prec=50 + math.ceil(event.epsilon))):
        odds = Decimal(event.epsilon.numerator) / Decimal(event.epsilon.denominator)
        wanted = 1 / (1 + odds.exp()) * (1 - Decimal(10) ** -30)
        half = _where(lambda x: normal_tail(x) <= wanted, min(odds, 1 + (2 * odds).sqrt()))
        return Fraction(2 * half * half)


@lru_cache(maxsize=1024)
def gaussian_capacity(budget: Budget) -> Fraction:
    """The largest mu^2/2 for which mu-GDP implies (epsilon, share of delta), rounded down.

    mu-GDP implies (epsilon, d) for d = Q(epsilon/mu - mu/2) - exp(epsilon) Q(epsilon/mu + mu/2), which grows with mu.
    An epsilon above MOST is taken as MOST: that holds less, and nothing is protected there anyway.
    """
    epsilon, part = min(budget.epsilon, MOST), budget.delta * GAUSSIAN_SHARE
    # Both tails are read relative to delta and to exp(-epsilon).
    digits = 50 + math.ceil(-math.log10(part)) + math.ceil(epsilon)
    with localcontext(Context(prec=digits)):
        wanted = Decimal(part.numerator) / Decimal(part.denominator)
        least = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        guard = Decimal(10) ** (10 - digits)

        def exceeded(mu: Decimal) -> bool:
            near, far = least / mu - mu / 2, least / mu + mu / 2
            if near * near > 4 * digits:
                return near < 0  # Q(near) < exp(-near^2/2), far below delta; or nearly 1
            return _tail(near) - least.exp() * (_tail(far) - guard) + guard > wanted

        above = _where(exceeded, Decimal(1))
        below = above * (1 - Decimal(10) ** -25)
        return Fraction(below * below / 2)


def _tail(x: Decimal) -> Decimal:
    return normal_tail(x) if x >= 0 else 1 - normal_tail(-x)


def _where(holds: Callable[[Decimal], bool], start: Decimal) -> Decimal:
    """A place at which something that holds from some place on does hold, at most 10^-30 of itself further on."""
    high = start
    while not holds(high):
        high *= 2
    low = Decimal(0)
    for _ in range(140):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
