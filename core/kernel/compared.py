"""Numbers that a sparse vector compares: how wrong a public hypothesis is about one question.

All are in steps of 1/GRID row, so that one secret offset serves questions of any denominator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, Compared
from core.kernel.query import Single, check_single
from core.privacy.unit import Unit
from core.table.counts import Counts

GRID = 2**16
"""Steps per row of everything that is compared."""
FURTHEST = 2**61
"""Everything that is compared lies between this and its opposite: clipping brings neighbours no further apart."""
MOST_ROWS = 2.0**44
"""Members' answers are clipped here."""
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

    **Sensitivity** L GRID: the guess is public, the total moves by at most L denominators (`on_grid`), also that of a
    statistic that is not linear (`Statistic`, whose denominator is held against its class's).
    """

    query: Single
    guess: int
    sign: int = 0
    """1 or -1 for the gap in that direction, 0 for its absolute value."""

    def __post_init__(self) -> None:
        check_single(self.query)
        if type(self.guess) is not int or type(self.sign) is not int or self.sign not in (-1, 0, 1):
            raise BadParameter("guess", "must be a whole number, and its sign 1, -1 or 0.")

    def value(self, counts: Counts) -> int:
        gap = on_grid(int(self.query.counts(counts)), self.query.denominator) - self.guess
        return max(-FURTHEST, min(FURTHEST, abs(gap) if self.sign == 0 else self.sign * gap))

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

    query: Single
    members: NDArray[np.float64]
    """The members' answers in rows."""
    width: int
    """w, in steps."""
    _steps: IntArray = field(init=False, repr=False)
    """The answers on the grid."""

    def __post_init__(self) -> None:
        check_single(self.query)
        if not 1 <= self.width <= WIDEST:
            raise BadParameter("width", f"must be from 1 to {WIDEST:,} steps.")
        members = np.array(self.members, dtype=np.float64)
        if not members.size or not np.isfinite(members).all():
            raise BadParameter("members", "must have finite answers.")
        steps = np.rint(np.clip(members, -MOST_ROWS, MOST_ROWS) * GRID).astype(np.int64)
        steps.setflags(write=False)
        object.__setattr__(self, "_steps", steps)

    def value(self, counts: Counts) -> int:
        hidden = on_grid(int(self.query.counts(counts)), self.query.denominator)
        distance = np.abs(self._steps - max(-FURTHEST, min(FURTHEST, hidden)))
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
