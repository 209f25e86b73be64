"""A path of a band, each with the same probability, drawn exactly.

From the last step backwards: given Y(j) = y, Y(j - 1) is y' <= y with probability w(j - 1, y')/(their sum). Each step
compares a uniform number, of which 64 binary digits are drawn, with sums of counts that are known to within the band's
slack. Where that does not decide, which happens about once in 10^7 databases, the counts are worked out in whole
numbers and more digits are drawn until it does. So no rounding reaches the distribution.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.kernel.databases.bands import SEGMENT, Band, Extended

_WORD = 2.0**64


class UniformWords(Protocol):
    """The one thing that is drawn: independent uniform 64-bit words."""

    def keys(self, count: int) -> NDArray[np.uint64]: ...


def draw_path(band: Band, words: UniformWords) -> IntArray:
    """Y(j) for 0 < j < N of a uniformly random path; the band must hold one."""
    assert band.count > 0
    steps = band.cells - 1
    path, drawn = np.empty(steps, dtype=np.int64), words.keys(steps)
    above = band.rows
    for start in range((steps // SEGMENT) * SEGMENT, -1, -SEGMENT):
        rows = band.segment(start, min(start + SEGMENT, steps + 1))
        for place in range(min(start + SEGMENT, steps + 1) - 1, max(start, 1) - 1, -1):
            low, high = band.edges(place)
            width = min(above, high) - low + 1
            above = low
            if width > 1:
                above += _step(band, place, rows[place][:width], int(drawn[place - 1]), words)
            path[place - 1] = above
    return path


def _step(band: Band, place: int, weights: Extended, word: int, words: UniformWords) -> int:
    """An index with probability in proportion to its weight."""
    sums = np.cumsum(weights)
    least = np.longdouble(word) / np.longdouble(_WORD) * sums[-1]
    most = np.longdouble(word + 1) / np.longdouble(_WORD) * sums[-1]
    found = int(np.searchsorted(sums, least, side="right"))
    slack = np.longdouble(4 * band.slack)
    # The last index has nothing above it, the first nothing below.
    sure_below = found == 0 or sums[found - 1] * (1 + slack) <= least
    sure_above = found >= len(sums) - 1 or sums[found] * (1 - slack) >= most
    if sure_below and sure_above:
        return min(found, len(sums) - 1)
    return exact_step(band.exact_row(place)[: len(sums)], word, words)


def exact_step(weights: list[int], word: int, words: UniformWords) -> int:
    """The same in whole numbers, with as many further digits as it takes."""
    sums, digits = list(accumulate(weights)), 64
    while True:
        low, high = word * sums[-1], (word + 1) * sums[-1]
        found = bisect_right(sums, low >> digits)
        # The uniform number lies in [word, word + 1)/2^digits; found is the first sum above word/2^digits of the whole.
        if high <= sums[found] << digits:
            return found
        word, digits = (word << 64) | int(words.keys(1)[0]), digits + 64
