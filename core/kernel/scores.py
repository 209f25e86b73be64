"""Scores of public candidates for the exponential mechanism: which question a hypothesis gets most wrong, which small
database fits best. `Kernel.choose` draws by them; the scores of decisions are in `decisions/`.

What a candidate is compared with is public (a hypothesis's totals, a database's answers); only the private table's own
totals move between neighbours. A class's totals move by at most L times its denominator (`query.Totals`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedEnds, AskedScores, own
from core.kernel.query import Totals, check_classes
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST, distances
from core.privacy.unit import Unit
from core.schema.domain import Domain


def grid_of(queries: Sequence[Totals], domain: Domain) -> int:
    """The finest denominator: totals of all classes are scored in units of 1/grid rows."""
    return max(query.denominator(domain) for query in queries)


def private_totals(counts: Remembered, queries: Sequence[Totals], grid: int) -> IntArray:
    """Exact totals of all members of several classes laid end to end, on the grid that their sensitivity was told."""
    if grid_of(queries, counts.domain) != grid:
        raise BadParameter("domain", "must be the schema of the table.")
    parts = []
    for query in queries:
        factor = grid // query.denominator(counts.domain)
        parts.append(np.clip(counts.totals_for(query), -LARGEST // factor, LARGEST // factor) * factor)
    return np.concatenate(parts).astype(np.int64)


def public_totals(believed: IntArray) -> IntArray:
    """What a mechanism hands over to be compared, clipped likewise: nothing it hands over makes a difference wrap."""
    return np.clip(own(believed, "totals"), -LARGEST, LARGEST)


@dataclass(frozen=True, eq=False)
class Errors(AskedScores):
    """|private total - public total| of every member of some classes, in units of 1/grid rows.

    **Sensitivity** L grid: each total moves by at most that, and an absolute value by no more.
    """

    queries: tuple[Totals, ...]
    domain: Domain
    believed: IntArray
    """The public totals on the same grid, in the same order."""

    def __post_init__(self) -> None:
        check_classes(self.queries)

    def excess(self, counts: Remembered) -> IntArray:
        """Public minus private totals; private itself."""
        grid = grid_of(self.queries, self.domain)
        return public_totals(self.believed) - private_totals(counts, self.queries, grid)

    def scores(self, counts: Remembered) -> IntArray:
        return np.abs(self.excess(counts))

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * grid_of(self.queries, self.domain)


class SignedErrors(Errors):
    """Public total minus private total of every member, then the opposite of every member: both signs of an error.

    **Sensitivity** L grid, as for `Errors`.
    """

    def scores(self, counts: Remembered) -> IntArray:
        excess = self.excess(counts)
        return np.concatenate([excess, -excess])


@dataclass(frozen=True, eq=False)
class TableErrors(AskedScores):
    """For each table, weight x (L1 distance from its public reference - a public number of rows).

    **Sensitivity** a distance moves by at most `unit.l1` (`tables.Distances`): that times the largest weight.
    """

    columns: tuple[Columns, ...]
    references: tuple[IntArray, ...]
    weights: tuple[int, ...]
    less: tuple[int, ...]

    def scores(self, counts: Remembered) -> IntArray:
        # Clipping brings neighbours no further apart, and keeps the product in 64 bits whatever the weights are.
        found = distances(counts, self.columns, self.references) - public_totals(np.array(self.less))
        most = LARGEST // max(1, *(abs(weight) for weight in self.weights))
        return np.array(self.weights, dtype=np.int64) * np.clip(found, -most, most)

    def sensitivity(self, unit: Unit) -> int:
        return unit.l1 * max(abs(weight) for weight in self.weights)


@dataclass(frozen=True, eq=False)
class PrefixErrors(AskedEnds):
    """Rows of an ordered column before each cut, minus a public number: differences of two are errors of intervals.

    **Sensitivity** the rows between two cuts are one count: it moves by at most L.
    """

    column: str
    cuts: IntArray
    believed: IntArray
    opposite: bool = False
    """Whether the private number is taken from the public one instead."""

    def ends(self, counts: Remembered) -> IntArray:
        sums = np.concatenate([[0], np.cumsum(counts.marginal((self.column,)))])
        errors = np.clip(sums[self.cuts], 0, LARGEST) - public_totals(self.believed)
        return np.asarray(-errors if self.opposite else errors, dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit


@dataclass(frozen=True, eq=False)
class DatabaseErrors(AskedScores):
    """For every small database y of m rows, -max over all questions q of |m q(x) - N q(y)|, x the private table.

    q(.) is a total in units of 1/grid rows. N is a public number of rows, or the exact private one.

    **Sensitivity** m L grid, for both kinds of N and of neighbours.

    - N public: a unit changes q(x) by at most L grid. Adding or removing does so in one direction; a replacement lowers
      it by at most that and raises it by at most that.
    - N exact: adding k and removing l rows (both at most L) changes q(x) by some d from -l grid to k grid and N by some
      e between 0 and k - l, while q(y) lies between 0 and m grid. If k >= l, then m d - e q(y) is at most k m grid and
      at least -l m grid - (k - l) m grid = -k m grid; if k < l, likewise with l.

    The largest absolute value moves by no more than the values do. To keep 64-bit numbers exact, q(x) and N are clipped
    to a public range first: the clipped changes lie between 0 and d, and between 0 and e, which is all the proof uses.
    """

    queries: tuple[Totals, ...]
    domain: Domain
    rows: int
    """m."""
    size: int
    """How many databases there are."""
    answers: Callable[[], Iterator[tuple[int, IntArray]]]
    """Their totals on the common grid, some lines at a time, each block with the place of its first line; public."""
    told: int | None
    """N where it is public; None compares with the exact private number."""

    def __post_init__(self) -> None:
        check_classes(self.queries, linear=True)
        if type(self.rows) is not int or self.rows < 1 or not (self.told is None or type(self.told) is int):
            raise BadParameter("rows", "must be whole numbers.")

    def scores(self, counts: Remembered) -> IntArray:
        grid, found = grid_of(self.queries, self.domain), np.full(self.size, -2 * LARGEST, dtype=np.int64)
        most = 2 * LARGEST // self.rows
        exact = int(counts.marginal(())) if self.told is None else self.told
        factor = max(0, min(exact, most // grid))
        target = self.rows * np.clip(private_totals(counts, self.queries, grid), 0, most)
        for start, block in self.answers():
            bounded = np.clip(own(block, "answers"), 0, self.rows * grid)
            found[start : start + len(block)] = -np.abs(target - factor * bounded).max(axis=1)
        return found

    def sensitivity(self, unit: Unit) -> int:
        return self.rows * unit.limit * grid_of(self.queries, self.domain)
