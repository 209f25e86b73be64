"""Greedy choices among public sets of private cells, by how many cells they cover that nothing chosen before covers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter, Undeclared
from core.kernel.asked import Sealed, own
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit

STEPS = 2**10
"""Steps of one cell in scores, so that public numbers can be added that are no whole cells."""
NOTHING = -1
"""The place of a candidate that covers nothing."""
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Round(Sealed):
    """What one choice is among, all of it public and chosen after seeing those before."""

    offered: IntArray
    """Places of sets, or NOTHING."""
    offsets: IntArray
    """What is added to the score of each, in steps."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "offered", own(self.offered, "offered"))
        object.__setattr__(self, "offsets", np.clip(own(self.offsets, "offsets"), -LARGEST, LARGEST))
        if self.offered.ndim != 1 or self.offered.shape != self.offsets.shape:
            raise BadParameter("offered", "must be a list of places, with one number beside each.")


@dataclass(frozen=True, eq=False)
class Covering(Sealed):
    """Rounds of choices: a set scores the cells with some row in them that it holds and that are not covered yet.

    **Span** L cells, or twice that where units are replaced: as much as one unit moves the difference of two scores in
    any round. A cell that a chosen set holds is covered and never scores again. So over the chosen sets of all rounds a
    unit that is added or removed gains at most one span, and each half of a replacement half of one: what `greedy.py`
    asks for.
    """

    columns: Columns
    inside: NDArray[np.bool_]
    """One line per set, one entry per cell of the columns, in their order."""

    def __post_init__(self) -> None:
        held = np.array(self.inside, dtype=bool)
        if held.ndim != 2:
            raise BadParameter("inside", "must be one line per set.")
        held.setflags(write=False)
        object.__setattr__(self, "inside", held)

    def span(self, unit: Unit) -> int:
        """In steps."""
        return unit.l1 * STEPS

    def drawn(
        self,
        counts: Remembered,
        rounds: Generator[Round, int, Found],
        most: int,
        choose: Callable[[IntArray], int],
    ) -> Found:
        """What the rounds find, at most so many: each is sent which of its candidates was chosen."""
        left = counts.marginal(self.columns).ravel() > 0
        if len(left) != self.inside.shape[1]:
            raise BadParameter("inside", "must have one entry for every combination of values of the columns.")
        gains = STEPS * self.inside[:, left].sum(axis=1)
        try:
            asked = next(rounds)
            for _ in range(most):
                self._check(asked)
                chosen = choose(np.append(gains, 0)[asked.offered] + asked.offsets)
                if (place := asked.offered[chosen]) != NOTHING:
                    covered = left & self.inside[place]
                    gains, left = gains - STEPS * self.inside[:, covered].sum(axis=1), left & ~covered
                asked = rounds.send(chosen)
        except StopIteration as ended:
            return ended.value
        raise Undeclared()

    def _check(self, asked: Round) -> None:
        if not isinstance(asked, Round):
            raise TypeError(f"{type(asked).__name__} is not the kernel's own Round.")
        if ((asked.offered < NOTHING) | (asked.offered >= len(self.inside))).any():
            raise BadParameter("offered", "must be places of sets.")
