"""How many small databases over an ordered column stay within a band around the private table's cumulative counts.

A database of m rows over N cells is a path: Y(j) of its rows lie in the first j cells, Y(0) = 0, Y(N) = m, and Y never
falls. A band says between which two numbers each Y(j) lies, for 0 < j < N. Both its edges never fall.

**Counting** the paths up to (j, y) are those up to (j - 1, y') for all y' <= y: w(j) is the running sum of w(j - 1),
cut to the band. `count` does so in extended floating point: whole numbers up to 2^16383, every one the sum of smaller
positive ones, so that each is off by a factor of at most (1 + u)^(N + m), u = 2^-64: a running sum adds its terms one
by one, and each of a path's steps to the right or up is one addition. `exact_row` does the same in Python's whole
numbers.

**Runtime** O(N (m + 1)) additions for a whole band: about a second for 2^16 cells and 2,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import Refused

Extended = NDArray[np.longdouble]
_INFO = np.finfo(np.longdouble)
MOST_BITS = 16_000
"""Counts of this length still fit; extended numbers end at 2^16384."""
SEGMENT = 256
"""Rows between two that are kept while a band is counted."""


def has_extended() -> bool:
    """The bounds below are those of 80-bit numbers with 64 digits, as processors of the x86 family have them."""
    return _INFO.nmant == 63 and _INFO.maxexp == 16384


def check_platform() -> None:
    if not has_extended():
        raise Refused("This processor has no extended floating point, which counting databases exactly rests on.")


@dataclass(frozen=True, eq=False)
class Band:
    """Lowest and highest Y(j) for 0 < j < N."""

    low: IntArray
    high: IntArray
    rows: int
    """m."""

    @property
    def cells(self) -> int:
        return len(self.low) + 1

    @property
    def empty(self) -> bool:
        """Whether no path stays inside: as both edges never fall, only where they cross."""
        return bool((self.low > self.high).any())

    @property
    def slack(self) -> float:
        """A relative error of no count, nor of a ratio of two, is above this."""
        return 8 * (self.cells + self.rows + 8) * 2.0**-64

    def holds(self, path: IntArray) -> bool:
        return bool(((self.low <= path) & (path <= self.high)).all())

    @cached_property
    def count(self) -> np.longdouble:
        """How many paths there are, to within the slack."""
        if self.empty:
            return np.longdouble(0)
        last = self._kept[0]
        for place, row in self._rows(last, 0, self.cells - 1):
            last = row
            if place % SEGMENT == 0:
                self._kept[place] = row
        return np.longdouble(np.cumsum(last)[-1])

    @cached_property
    def _kept(self) -> dict[int, Extended]:
        """Some rows of the count, from which the others follow."""
        return {0: np.ones(1, dtype=np.longdouble)}

    def segment(self, start: int, stop: int) -> dict[int, Extended]:
        """w(j) for start <= j < stop; the start is a multiple of the segment's length, and `count` was asked before."""
        return {start: self._kept[start], **dict(self._rows(self._kept[start], start, stop - 1))}

    def _rows(self, last: Extended, start: int, stop: int) -> Iterator[tuple[int, Extended]]:
        """w(j) for start < j <= stop, each over its own part of the band."""
        first, end = self.edges(start)
        for place in range(start + 1, stop + 1):
            low, high = self.edges(place)
            sums = np.cumsum(last)
            # Beyond the end of the row before, every path of that row may go on; below its beginning there is none.
            inside = sums[max(low - first, 0) : high - first + 1]
            beyond = min(high - low + 1, high - end)
            last = np.concatenate([inside, np.full(beyond, sums[-1])]) if beyond > 0 else inside
            first, end = low, high
            yield place, last

    def edges(self, place: int) -> tuple[int, int]:
        """Lowest and highest Y(j); the path starts at 0."""
        return (0, 0) if place == 0 else (int(self.low[place - 1]), int(self.high[place - 1]))

    def exact_row(self, stop: int) -> list[int]:
        """w(j) in whole numbers of any length."""
        last, (first, end) = [1], (0, 0)
        for place in range(1, stop + 1):
            low, high = self.edges(place)
            sums = list(accumulate(last))
            beyond = min(high - low + 1, high - end)
            last = sums[max(low - first, 0) : high - first + 1] + [sums[-1]] * max(beyond, 0)
            first, end = low, high
        return last

    def exact_count(self) -> int:
        return 0 if self.empty else sum(self.exact_row(self.cells - 1))


def whole(number: np.longdouble) -> int:
    """An extended number without its fraction, exactly; counts have none."""
    part, exponent = np.frexp(number)
    digits = int(np.ldexp(part, 64))
    shift = int(exponent) - 64
    return digits << shift if shift >= 0 else digits >> -shift
