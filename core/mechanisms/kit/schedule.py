"""How the budget of an adaptive mechanism is laid out: an opening, then equal rounds of choosing and measuring.

**Privacy** with delta = 0 the epsilons add up (G theorem 5.3: epsilon_0 = epsilon/(2T) at equal split). With delta > 0
everything is counted as Rényi divergence of the account's order: a Selection(e) costs at most e^2/8, Gaussian noise its
rho. The cost is that of all rounds, also where the run stops early: when to stop depends on noisy values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from core.base.arrays import Columns
from core.kernel.noise_level import Additive
from core.mechanisms.kit.portions import Portion
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Selection
from core.privacy.spendable import mixed_rho_for

FINEST = 10**12
"""Roots are rounded to at least so many parts of themselves."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Events of one run, in order; nothing in it depends on data."""

    opening: tuple[Portion, ...]
    """Tables that are measured before the first choice."""
    rounds: int
    choosing: Selection
    """Price of each choice."""
    asking: Additive
    """Price of each measurement."""

    @property
    def cost(self) -> Cost:
        opened = Cost.of(portion.event for portion in self.opening)
        return opened + Cost((self.choosing, self.asking) * self.rounds)


def lay_out(budget: Budget, *, rounds: int, selection: float, opening: Mapping[Columns, float]) -> Schedule:
    """Split a budget: `opening` gives each first table its share; `selection` is the choosing part of each round."""
    parts = {columns: _fraction(share) for columns, share in opening.items()}
    choosing = _fraction(selection)
    left = (1 - sum(parts.values(), Fraction(0))) / rounds
    if budget.pure:
        each = budget.epsilon * left
        return Schedule(
            opening=tuple(Portion(columns, Laplace(budget.epsilon * part)) for columns, part in parts.items()),
            rounds=rounds,
            choosing=Selection(each * choosing),
            asking=Laplace(each * (1 - choosing)),
        )
    rho = mixed_rho_for(budget)
    each = rho * left
    return Schedule(
        opening=tuple(Portion(columns, Gaussian(rho * part)) for columns, part in parts.items()),
        rounds=rounds,
        choosing=selection_of(each * choosing),
        asking=Gaussian(each * (1 - choosing)),
    )


def _fraction(share: float) -> Fraction:
    return Fraction(share).limit_denominator(10_000)


def selection_of(rho: Fraction) -> Selection:
    """The selection that costs at most rho in zero-concentrated privacy: epsilon = sqrt(8 rho), rounded down."""
    square = 8 * rho
    grid = FINEST * max(1, square.denominator // max(square.numerator, 1))
    return Selection(Fraction(math.isqrt(math.floor(square * grid * grid)), grid))
