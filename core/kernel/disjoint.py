"""Several questions of which no record counts in two: the groups of one table, asked at once at the price of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, Compared, own
from core.kernel.compared import FURTHEST, GRID, on_grid
from core.kernel.query import Query
from core.kernel.tables import one_cell
from core.privacy.unit import Unit
from core.table.counts import Counts, Source


@dataclass(frozen=True, eq=False)
class DisjointQueries(Asked):
    """Questions about the same columns, of the same denominator, no two of which weigh the same cell.

    **Change** a row adds its weight, from 0 to the denominator, to one total at most, which is checked here and not
    believed: `one_cell` in steps of the denominator.
    """

    queries: tuple[Query, ...]

    def __post_init__(self) -> None:
        if not self.queries:
            raise BadParameter("queries", "must be at least one.")
        for query in self.queries:
            if not isinstance(query, Query):
                raise TypeError(f"{type(query).__name__} is not the kernel's own question.")
        first, *_ = self.queries
        covered = np.zeros(first.weights.shape, dtype=bool)
        for query in self.queries:
            if (query.columns, query.denominator) != (first.columns, first.denominator):
                raise BadParameter("queries", "must be about the same columns, with one denominator.")
            if query.weights.shape != covered.shape or (covered & (query.weights > 0)).any():
                raise BadParameter("queries", "must not weigh the same cell twice.")
            covered |= query.weights > 0

    @property
    def columns(self) -> Columns:
        first, *_ = self.queries
        return first.columns

    @property
    def denominator(self) -> int:
        first, *_ = self.queries
        return first.denominator

    def counts(self, counts: Source) -> IntArray:
        return np.array([int(query.total(counts)) for query in self.queries], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        one = one_cell(unit)
        return Change(one.l1 * self.denominator, one.l2_squared * self.denominator**2)


@dataclass(frozen=True, eq=False)
class LargestGap(Compared):
    """The largest absolute difference between a total of disjoint questions and its public guess.

    **Sensitivity** L GRID: each total moves by at most L denominators, also when a unit is replaced, so each difference
    moves by at most that (`Gap`), and so does the largest of them.
    """

    asked: DisjointQueries
    guesses: IntArray
    """In steps of the grid, one for each question."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "guesses", own(self.guesses, "guesses"))
        if self.guesses.shape != (len(self.asked.queries),):
            raise BadParameter("guesses", "must be one for each question.")

    def value(self, counts: Counts) -> int:
        pairs = np.column_stack([self.asked.counts(counts), self.guesses]).tolist()
        return min(FURTHEST, max(abs(on_grid(total, self.asked.denominator) - guess) for total, guess in pairs))

    @classmethod
    def sensitivity(cls, unit: Unit) -> int:
        return unit.limit * GRID
