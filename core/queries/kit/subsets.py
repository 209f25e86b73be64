"""Subsets of {0, .., n-1} with a given number of elements, in lexicographic order, and their places in it."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import chain, combinations
from math import comb

import numpy as np

from core.base.arrays import IntArray


def listed(n: int, size: int) -> IntArray:
    """All subsets, one per line.

    >>> listed(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    flat = np.fromiter(chain.from_iterable(combinations(range(n), size)), dtype=np.int64, count=comb(n, size) * size)
    return flat.reshape(comb(n, size), size)


def places(n: int, chosen: IntArray) -> IntArray:
    """The place of each line, whose elements ascend.

    Mirrored (c -> n-1-c) the order is the combinatorial number system, in which a subset's place is the sum of
    binomials of its elements.

    >>> places(3, listed(3, 2)).tolist()
    [0, 1, 2]
    """
    size = chosen.shape[1]
    if not size:
        return np.zeros(len(chosen), dtype=np.int64)
    binomials = np.array([[min(comb(m, j), 2**62) for j in range(size, 0, -1)] for m in range(n)], dtype=np.int64)
    return comb(n, size) - 1 - binomials[n - 1 - chosen, np.arange(size)].sum(axis=1)


def at(n: int, size: int, index: int) -> tuple[int, ...]:
    """The subset at a place.

    >>> at(3, 2, 1)
    (0, 2)
    """
    left = comb(n, size) - 1 - index
    found = []
    for remaining in range(size, 0, -1):
        largest = bisect_right(range(n), left, key=partial(_comb, remaining)) - 1
        found.append(n - 1 - largest)
        left -= comb(largest, remaining)
    return tuple(found)


def _comb(size: int, n: int) -> int:
    return comb(n, size)
