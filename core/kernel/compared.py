"""Numbers that a sparse vector compares: how wrong a public hypothesis is about one question.

All are in steps of 1/GRID row, so that one secret offset serves questions of any denominator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, Compared
from core.kernel.query import Query
from core.privacy.unit import Unit
from core.table.counts import Counts

GRID = 2**16
"""Steps per row of everything that is compared."""
WIDEST = 2**46
"""Steps of the width of a loss, so that a computed one is good to a quarter of a step: a thousand million rows."""


def on_grid(total: int, denominator: int) -> int:
    """An exact total on the common grid, rounded down.

    A change of at most k denominators becomes a change of at most k GRID: rounding down keeps order, and whole steps.
    """
    return int(total) * GRID // denominator


@dataclass(frozen=True, eq=False)
class Gap(Compared):
    """A question's total minus a public guess, with a sign or without.

    **Sensitivity** L GRID: the guess is public, the total moves by at most L denominators (`on_grid`).
    """

    query: Query
    guess: int
    sign: int = 0
    """1 or -1 for the gap in that direction, 0 for its absolute value."""

    def value(self, counts: Counts) -> int:
        gap = on_grid(int(self.query.total(counts)), self.query.denominator) - self.guess
        return abs(gap) if self.sign == 0 else self.sign * gap

    @classmethod
    def sensitivity(cls, unit: Unit) -> int:
        return unit.limit * GRID


@dataclass(frozen=True, eq=False)
class Loss(Compared, Asked):
    """How badly a public set of possible tables knows the answer: mean over members S of w (1 - exp(-|f(x) - f(S)|/w)).

    f(S) are the members' public answers, w the width. Each member's term is rounded down, and so is their mean.

    **Sensitivity** L GRID + 1. Only f(x) moves, by at most L GRID steps. w (1 - exp(-d/w)) grows by at most 1 for each
    step of d, so a term moves by at most that before it is rounded. A computed term is off by less than 1/4 (widths are
    at most 2^46 steps and `expm1` is good to a few units in the last place), so two rounded terms differ by less than
    L GRID + 3/2, which for whole numbers is at most L GRID + 1; means, and means rounded down, differ by no more.
    Nothing in this uses how the set was made: any function of public randomness and of released answers will do.
    """

    query: Query
    members: NDArray[np.float64]
    """The members' answers in rows."""
    width: int
    """w, in steps."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDEST:
            raise BadParameter("width", f"must be from 1 to {WIDEST:,} steps.")

    def value(self, counts: Counts) -> int:
        hidden = on_grid(int(self.query.total(counts)), self.query.denominator)
        distance = np.abs(np.rint(self.members * GRID).astype(np.int64) - hidden)
        each = np.floor(-self.width * np.expm1(-distance / self.width)).astype(np.int64)
        # The sum may exceed 64 bits, so its two halves are added apart.
        total = (int((each >> 20).sum()) << 20) + int((each & (2**20 - 1)).sum())
        return total // each.size

    @classmethod
    def sensitivity(cls, unit: Unit) -> int:
        return unit.limit * GRID + 1

    def counts(self, counts: Counts) -> IntArray:
        return np.array([self.value(counts)], dtype=np.int64)

    @classmethod
    def change(cls, unit: Unit) -> Change:
        moved = cls.sensitivity(unit)
        return Change(moved, moved**2)
