"""Greedy choices among public candidates by what they gain of private cells, in which no cell is gained twice."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter, Undeclared
from core.kernel.asked import Sealed
from core.kernel.decisions.weighed import Weighed
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.schema.domain import Domain

Found = TypeVar("Found")


@dataclass(frozen=True)
class Covering(Sealed):
    """Rounds of choices by `Weighed` scores, all over the same columns, that count a cell for at most `whole` in all.

    **Span** L `whole`, or twice that where units are replaced: as much as one unit moves the difference of two scores
    in any round. Over the chosen candidates of all rounds a row gains at most `whole`, so a unit that is added or
    removed at most one span, and each half of a replacement half of one: what `greedy.py` asks for.
    """

    columns: Columns
    whole: int

    def __post_init__(self) -> None:
        if type(self.whole) is not int or not 1 <= self.whole <= LARGEST:
            raise BadParameter("whole", f"must be a whole number from 1 to {LARGEST:,}.")

    def span(self, unit: Unit) -> int:
        return unit.l1 * self.whole

    def drawn(
        self, domain: Domain, rounds: Generator[Weighed, int, Found], most: int, choose: Callable[[Weighed], int]
    ) -> Found:
        """What the rounds find, at most so many; each is refused if it could gain more of a cell than is left of it."""
        rest = np.full(domain.cells(self.columns), self.whole, dtype=np.int64)
        try:
            asked = next(rounds)
            for _ in range(most):
                self._check(asked, rest)
                chosen = choose(asked)
                rest -= asked.weights[chosen]
                asked = rounds.send(chosen)
        except StopIteration as ended:
            return ended.value
        raise Undeclared()

    def _check(self, asked: Weighed, rest: IntArray) -> None:
        if not isinstance(asked, Weighed):
            raise TypeError(f"{type(asked).__name__} is not the kernel's own Weighed.")
        if asked.columns != self.columns or asked.weights.shape[1] != len(rest):
            raise BadParameter("columns", "must be the same in every round.")
        if asked.weights.min(initial=0) < 0 or (asked.weights > rest).any():
            raise BadParameter("weights", "must not gain twice what a chosen candidate gained.")
