"""When an account may pay: a privacy filter of several ways of adding up, one of which must cover all that was spent.

**Ways.** An account with a budget (epsilon, delta) adds its spends up in a few ways at once, each fixed when it opens:

- *pure*: the sum of epsilons, if every event has one; it covers while the sum is at most epsilon, with no delta.
- *gaussian*: the sum of mu^2/2 in Gaussian differential privacy; it covers while sqrt(2 sum)-GDP implies (epsilon,
  delta_1). `Gaussian(rho)` is sqrt(2 rho)-GDP exactly (the noise that is drawn is Gaussian noise, rounded). An event
  that is e-private is mu-GDP with Q(mu/2) = 1/(1 + exp(e)): the trade-off curve of mu-GDP is convex, meets that of
  randomised response at its corner and at both ends, and so lies below its two straight sides (Dong, Roth, Su 2022).
- *orders*: the sum of Rényi divergences at some fixed orders a_j, as in `accounting.py`; each covers while its sum
  implies (epsilon, delta_j).

delta_1 + delta_2 + ... = delta. An account of the first version has one way alone, with all of delta; one of the second
has these ways with other shares. Each keeps what it was opened with, unless nothing was spent from it.

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

**Rounding.** Amounts are whole units of 10^-12 (10^-24 for mu^2/2), costs rounded up and capacities down.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from core.privacy.accounting import UNITS, capacity, order_for, units
from core.privacy.budget import Budget, HalvedBudget, OneWayBudget
from core.privacy.events import Cost
from core.privacy.gaussian import gaussian_amount, gaussian_capacity

PURE, GAUSSIAN = "pure", "gaussian"
GAUSSIAN_UNITS = UNITS**2
"""Units of mu^2/2, which is a square: the smallest budgets are still told apart."""

Amounts = Mapping[str, int | None]
"""What something takes in each way, in units; None where a way cannot count it."""


@dataclass(frozen=True)
class DeltaShares:
    """Parts of delta. Together they are all of it."""

    gaussian: Fraction
    orders: tuple[tuple[int, Fraction], ...]
    """Multiples of the order that a part of delta is best spent at, and those parts."""

    @classmethod
    def of(cls, budget: Budget) -> DeltaShares:
        """What the ways of an account get that pays this budget."""
        return HALVED if isinstance(budget, HalvedBudget) else SHARES


SHARES = DeltaShares(Fraction(3, 5), ((1, Fraction(3, 8)), (4, Fraction(1, 40))))
"""Gaussian noise is used most, then mixtures with choices and comparisons, which one order serves; a second order, four
times as high, serves what is left of an account where releases with large pure parts were paid from it too. With half
of delta (`HALVED`) Gaussian noise had 0.4 to 3 % less rho; what the second order holds is within half a per cent."""
HALVED = DeltaShares(Fraction(1, 2), ((1, Fraction(3, 8)), (4, Fraction(1, 8))))
"""As accounts of the second version were opened."""


@dataclass(frozen=True)
class Way:
    """One way of adding up."""

    share: Fraction
    """Of the budget's delta."""
    held: int
    """Units that it holds."""


@dataclass(frozen=True)
class Filters:
    """The ways of one account by their names: 'pure', 'gaussian', 'order 41/2'."""

    ways: Mapping[str, Way]

    @classmethod
    def of(cls, budget: Budget) -> Filters:
        """The ways of a new account."""
        shares = {PURE: Fraction(0)}
        if not budget.pure:
            parts = DeltaShares.of(budget)
            shares[GAUSSIAN] = parts.gaussian
            for multiple, share in parts.orders:
                order = order_for(_part(budget, share))
                assert order is not None, "a part of a delta above 0 is above 0"
                shares[f"order {order * multiple}"] = share
        return cls({name: Way(share, _held(name, _part(budget, share))) for name, share in shares.items()})

    def changed(self, budget: Budget) -> Filters:
        """The same ways for another budget, with a delta if this one has ways that need it."""
        return Filters({name: Way(way.share, _held(name, _part(budget, way.share))) for name, way in self.ways.items()})

    def spendable(self, budget: Budget) -> Budget:
        """A plan's budget as this account can pay it."""
        if PURE not in self.ways:
            return OneWayBudget(budget.epsilon, budget.delta)
        return HalvedBudget(budget.epsilon, budget.delta) if self._halved else budget

    @property
    def older(self) -> bool:
        """Whether a new account would have other ways, or other shares of delta."""
        return PURE not in self.ways or self._halved

    @property
    def _halved(self) -> bool:
        return GAUSSIAN in self.ways and self.ways[GAUSSIAN].share == HALVED.gaussian

    @property
    def total(self) -> int:
        """The number of parts into which an account is divided: pico-epsilons, or what its only way holds."""
        return (self.ways.get(PURE) or next(iter(self.ways.values()))).held

    def amounts(self, cost: Cost) -> dict[str, int | None]:
        """What a cost takes in every way."""
        return {name: _amount(cost, name) for name in self.ways}

    def covers(self, cost: Cost) -> bool:
        """Whether an account with nothing spent would pay this: one way is enough, and the others are not asked."""
        return any((taken := _amount(cost, name)) is not None and taken <= way.held for name, way in self.ways.items())

    def filled(self, sums: Amounts) -> Fraction | None:
        """How far these sums fill the way that they fill least, above 1 where they exceed it; None if none counts."""
        return min(
            (
                Fraction(spent, way.held) if way.held else Fraction(0 if spent == 0 else 2)
                for name, way in self.ways.items()
                if (spent := sums.get(name, 0)) is not None
            ),
            default=None,
        )

    def used(self, sums: Amounts) -> Fraction | None:
        """The part of the account that is used, by the way that covers best; None where no way covers everything."""
        filled = self.filled(sums)
        return filled if filled is not None and filled <= 1 else None

    def parts(self, sums: Amounts) -> int | None:
        """How far these sums fill the account in parts of its total, rounded up; at most the total where they fit."""
        filled = self.filled(sums)
        return None if filled is None else math.ceil(filled * self.total)

    def room_for_rho(self, name: str, sums: Amounts) -> Fraction | None:
        """The rho of Gaussian noise that one way still has room for; None where it cannot count it."""
        spent = sums.get(name, 0)
        if name == PURE or spent is None:
            return None
        room = self.ways[name].held - spent
        return Fraction(room, GAUSSIAN_UNITS) if name == GAUSSIAN else Fraction(room, UNITS) / _order(name)

    def to_text(self) -> str:
        """One spelling, as the ledger keeps it."""
        ways = {name: {"delta": str(way.share), "holds": way.held} for name, way in self.ways.items()}
        return _text(ways)

    @classmethod
    def from_text(cls, text: str) -> Filters:
        ways = json.loads(text).items()
        return cls({name: Way(Fraction(way["delta"]), way["holds"]) for name, way in ways})


def joined(first: Amounts, second: Amounts) -> dict[str, int | None]:
    """Both together, way by way; what a way cannot count once it can never cover again."""
    return {
        name: None if amount is None or first.get(name, 0) is None else amount + (first.get(name) or 0)
        for name, amount in second.items()
    }


def amounts_text(amounts: Amounts) -> str:
    """One spelling of amounts or sums, as the ledger keeps them."""
    return _text(dict(amounts))


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _part(budget: Budget, share: Fraction) -> Budget:
    return Budget(budget.epsilon, budget.delta * share)


def _held(name: str, part: Budget) -> int:
    if name == PURE:
        return math.floor(part.epsilon * UNITS)
    return math.floor(gaussian_capacity(part) * GAUSSIAN_UNITS) if name == GAUSSIAN else capacity(part, _order(name))


def _amount(cost: Cost, name: str) -> int | None:
    if name == PURE:
        return units(cost, None) if cost.pure else None
    return math.ceil(gaussian_amount(cost) * GAUSSIAN_UNITS) if name == GAUSSIAN else units(cost, _order(name))


def _order(name: str) -> Fraction:
    return Fraction(name.removeprefix("order "))
