"""The exponential mechanism over all paths by the width of the narrowest band that holds them, drawn exactly.

P(path) is proportional to exp(-rate k(path)), where band k holds all paths of level at most k and nothing else. There
are too many levels to count them all, so some are chosen: g(1) < g(2) < ... < g(last), the last one holds everything.
Draw i with probability proportional to W(g(i)) c(i), W being the size of a band and c(i) = C(i) - C(i + 1), C(i) =
exp(-rate (g(i - 1) + 1)), C(last + 1) = 0; draw a path of band g(i), all alike; keep it with probability exp(-rate
k)/C(i'), i' being the first i with k <= g(i), else start again. A path is drawn with probability proportional to the
sum of c(i) over i >= i', which is C(i'); so a kept one has the probability that it should, whatever levels were chosen.
They are chosen so that a fourth is kept or more.

Levels are picked with exponentials to many digits, and bands counted to within their slack; where a uniform number
falls too near to decide, in whole numbers and with more digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from core.base.arrays import IntArray
from core.kernel.databases.bands import Band, whole
from core.kernel.databases.uniform_path import UniformWords, draw_path

MOST_COUNTED = 60
"""Bands that are counted to choose levels; further ones would only save draws."""
KEPT = Decimal("0.25")
_DIGITS = 80
LEAST_RATE = Fraction(1, 2**60)
"""Below it differences of exponentials would lose more digits than are kept."""


class Coins(UniformWords, Protocol):
    """Words, and coins that fall on heads with probability exp(-exponent)."""

    def coin(self, exponent: Fraction) -> bool: ...


@dataclass(eq=False)
class BandLevels:
    """Bands by level, and the rate at which probabilities fall with it."""

    band: Callable[[int], Band]
    least: int
    """The narrowest level that holds a path."""
    most: int
    """A level that holds every path."""
    rate: Fraction
    _bands: dict[int, Band] = field(default_factory=dict)

    def draw(self, level_of: Callable[[IntArray], int], coins: Coins) -> IntArray:
        grid = self._grid()
        while True:
            place = self._pick(grid, coins)
            path = draw_path(self._counted(grid[place]), coins)
            level = level_of(path)
            first = next(place for place, top in enumerate(grid) if level <= top)
            if coins.coin(self.rate * (level - self._start(grid, first))):
                return path

    def _start(self, grid: Sequence[int], place: int) -> int:
        """The lowest level of a block: one above the block before; nothing is below the narrowest band."""
        return grid[place - 1] + 1 if place else self.least

    def _counted(self, level: int) -> Band:
        if level not in self._bands:
            self._bands[level] = self.band(level)
        return self._bands[level]

    def _grid(self) -> list[int]:
        """Levels such that a path is kept often; the blocks that lose most are halved."""
        grid = sorted({self.least, self.most})
        context = _context(_DIGITS)
        while len(self._bands) < MOST_COUNTED:
            shares = self._shares(grid, context)
            sizes = [Decimal(whole(self._counted(level).count)) for level in grid]
            upper = [context.multiply(share, size) for share, size in zip(shares, sizes, strict=True)]
            # All of a block's paths are in its own band, and those of the band before are in every band of the block.
            lower = [upper[0], *(context.multiply(share, size) for share, size in zip(shares[1:], sizes, strict=False))]
            if context.multiply(KEPT, _sum(upper, context)) <= _sum(lower, context):
                break
            losses = [context.subtract(top, bottom) for top, bottom in zip(upper, lower, strict=True)]
            wide = [place for place in range(1, len(grid)) if grid[place] - grid[place - 1] > 1]
            if not wide:
                break
            worst = max(wide, key=lambda place: losses[place])
            grid.insert(worst, (grid[worst - 1] + grid[worst]) // 2)
        return grid

    def _shares(self, grid: Sequence[int], context: Context) -> list[Decimal]:
        """c(i): the exponential at the start of each block, less that of the next one's."""
        powers = [*(self._power(self._start(grid, place), context) for place in range(len(grid))), Decimal(0)]
        return [context.subtract(one, next_one) for one, next_one in pairwise(powers)]

    def _power(self, level: int, context: Context) -> Decimal:
        """exp(-rate (level - least)), which leaves all ratios as they are."""
        exponent = self.rate * (self.least - level)
        return context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))

    def _pick(self, grid: Sequence[int], words: UniformWords) -> int:
        """The place of a level, with probability exactly in proportion to W c."""
        word, drawn, exact = int(words.keys(1)[0]), 64, False
        while True:
            found = self._decided(grid, word, drawn, exact)
            if found is not None:
                return found
            word, drawn, exact = (word << 64) | int(words.keys(1)[0]), drawn + 64, True

    def _decided(self, grid: Sequence[int], word: int, drawn: int, exact: bool) -> int | None:
        """Where a uniform number in [word, word + 1)/2^drawn falls, or None if that is not certain yet."""
        digits = _DIGITS + drawn
        context = _context(digits)
        if exact:
            sizes, off = [self._counted(level).exact_count() for level in grid], Decimal(0)
        else:
            sizes = [whole(self._counted(level).count) for level in grid]
            off = Decimal(max(self._counted(level).slack for level in grid))
        # Sums and products are right to all but the last few digits; a difference of exponentials loses as many as the
        # rate has zeros, at most 20. Half of the digits are claimed, and kept: ordinary sums would round them away.
        claimed = context.add(off, Decimal(10) ** (-(digits // 2)))
        sure = context.add(Decimal(1), context.multiply(Decimal(4), claimed))
        masses = [
            context.multiply(Decimal(size), share)
            for size, share in zip(sizes, self._shares(grid, context), strict=True)
        ]
        total, below = _sum(masses, context), Decimal(0)
        low = context.divide(context.multiply(Decimal(word), total), Decimal(2**drawn))
        high = context.divide(context.multiply(Decimal(word + 1), total), Decimal(2**drawn))
        for place, mass in enumerate(masses):
            above = context.add(below, mass)
            after = place == 0 or context.multiply(below, sure) <= low
            before = place == len(masses) - 1 or context.multiply(high, sure) <= above
            if after and before:
                return place
            below = above
        return None


def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)


def _sum(amounts: Sequence[Decimal], context: Context) -> Decimal:
    total = Decimal(0)
    for amount in amounts:
        total = context.add(total, amount)
    return total
