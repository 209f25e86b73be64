"""All small databases over one ordered column, between which the kernel chooses by their worst prefix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import IntArray
from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter, Refused
from core.kernel.asked import Sealed, own
from core.kernel.databases.bands import MOST_BITS, Band, check_platform
from core.kernel.databases.levels import LEAST_RATE, BandLevels, Coins
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit

MOST_ROWS = 10_000
MOST_PIECES = 2**16
FURTHEST = 2**40
"""Larger counts are clipped, so that every product below stays in 64 bits."""


@dataclass(frozen=True, eq=False)
class PrefixDatabases(Sealed):
    """Every multiset y of m rows over the N pieces of a column, the likelier the nearer its prefixes are.

    X(j) and Y(j) are the rows of the table and of y in the first j pieces, n a public number of rows, L the rows of a
    unit. The level of y is k(y) = ceil(max over 0 < j < N of |m X(j) - n Y(j)|/(m L)): its worst prefix, scaled to n
    rows, in whole steps of L rows.

    **Privacy** one exponential mechanism over all C(N + m - 1, m) databases with P(y) proportional to
    exp(-epsilon k(y)/2). A unit moves each X(j), one count of rows, by at most L: adding or removing does so in one
    direction, a replacement lowers it by at most L and raises it by at most L. Then |m X(j) - n Y(j)| moves by at most
    m L, the largest of them too, and k by at most 1, rounded up or not. Counts are clipped to a public range first,
    which moves neighbours no further apart. The draw is exact (`levels.py`).

    **Accuracy** some y has |m X(j) - n Y(j)| <= n/2 for all j (round every m X(j)/n); the chosen one's worst prefix is
    within n/(2 m) + L + (2 L/epsilon)(ln C(N + m - 1, m) + ln(1/beta)) rows except with probability beta.

    **Runtime** some tens of counted bands: O(N m) each.
    """

    column: str
    cuts: IntArray
    """Where pieces begin, and the end of the last; all cells of the column belong to one."""
    rows: int
    """m."""
    told: int
    """n."""

    def __post_init__(self) -> None:
        check_platform()
        object.__setattr__(self, "cuts", own(self.cuts, "cuts"))
        if type(self.rows) is not int or type(self.told) is not int or not 1 <= self.rows <= MOST_ROWS:
            raise BadParameter("rows", f"must be whole numbers, of a database from 1 to {MOST_ROWS:,}.")
        if self.cuts.ndim != 1 or not 2 <= len(self.cuts) <= MOST_PIECES + 2 or (np.diff(self.cuts) < 1).any():
            raise BadParameter("cuts", f"must rise, and part a column into at most {MOST_PIECES:,} pieces.")
        if log_databases(len(self.cuts) - 1, self.rows) > MOST_BITS * math.log(2):
            raise Refused("There are more databases of so many rows than can be counted; use fewer rows.")

    @property
    def size(self) -> int:
        """n as it is used."""
        return min(max(self.told, 1), FURTHEST)

    def sensitivity(self, unit: Unit) -> int:
        """How far one unit moves the level of any database at most: a step is as wide as a unit's L rows."""
        return 1

    def drawn(self, counts: Remembered, epsilon: Fraction, coins: Coins) -> IntArray:
        """How many of the m rows each piece of the chosen database has."""
        rate = epsilon / (2 * self.sensitivity(counts.unit))
        if rate < LEAST_RATE:
            raise BadParameter("epsilon", "is too small to choose anything; use a larger one.")
        sums, limit = self.prefixes(counts), counts.unit.limit

        def band(level: int) -> Band:
            return self.band(sums, level, limit)

        most = self.highest(sums, limit)
        least = largest_that_fits(lambda level: band(level).empty, most=most) + 1 if band(0).empty else 0
        levels = BandLevels(band=band, least=least, most=most, rate=rate)
        path = levels.draw(lambda found: self.level(sums, found, limit), coins)
        return np.diff(np.concatenate([[0], path, [self.rows]])).astype(np.int64)

    def prefixes(self, counts: Remembered) -> IntArray:
        """X(j) for 0 < j < N."""
        table = counts.marginal((self.column,))
        if int(self.cuts[0]) != 0 or int(self.cuts[-1]) != len(table):
            raise BadParameter("cuts", "must hold all cells of the column.")
        return np.clip(np.cumsum(table)[self.cuts[1:-1] - 1], 0, FURTHEST)

    def level(self, sums: IntArray, path: IntArray, limit: int) -> int:
        """k of a database given by its Y(j)."""
        worst = int(np.abs(self.rows * sums - self.size * path).max(initial=0))
        return -(-worst // (self.rows * limit))

    def band(self, sums: IntArray, level: int, limit: int) -> Band:
        """The databases of at most this level: m X - k m L <= n Y <= m X + k m L."""
        middle, width = self.rows * sums, level * self.rows * limit
        low = -((width - middle) // self.size)
        high = (middle + width) // self.size
        return Band(np.maximum(low, 0), np.minimum(high, self.rows), self.rows)

    def highest(self, sums: IntArray, limit: int) -> int:
        """A level that no database exceeds: X(j)/L and (n - X(j))/L, rounded up, for Y(j) from 0 to m."""
        furthest = max(int(sums.max(initial=0)), self.size - int(sums.min(initial=self.size)), 0)
        return -(-furthest // limit)


def log_databases(pieces: int, rows: int) -> float:
    """Natural logarithm of the number of multisets of so many rows."""
    return math.lgamma(pieces + rows) - math.lgamma(rows + 1) - math.lgamma(pieces)
