"""Whole records from weighted ones, such that all tables of two columns stay close to the weighted ones.

Rounding along one order of the records keeps only tables of the first columns of that order. Here chosen records are
exchanged against others as long as that brings all the tables together nearer to their weighted counts, in L1. Many
exchanges are made at a time; where they meet in the same cells and do harm, they are taken back and fewer are made.
Everything here is post-processing.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Floats, IntArray
from core.schema.domain import Domain

MOST_PAIRS = 120
"""Tables that are looked at; of more, a random choice."""
MOST_CELLS = 2**22
"""Cells of all of them."""
PASSES = 2
"""Visits to each record; a third gains less than 1 %."""
TOGETHER = 1_000
"""Records among which exchanges are sought at a time."""
MOVED = 1 / 20
"""Share of those that may be exchanged at a time: with more, exchanges undo each other."""
_BLOCK = 4_000


class Balance:
    """How far the chosen records' tables are from the weighted ones."""

    def __init__(self, domain: Domain, codes: Codes, generator: np.random.Generator) -> None:
        sizes = domain.shape()
        # Of two columns the order of the records keeps every range already; large tables hold hardly a record per cell.
        every = combinations(range(len(sizes)), 2) if len(sizes) > 2 else ()
        pairs = [pair for pair in every if sizes[pair[0]] * sizes[pair[1]] <= len(codes)]
        if len(pairs) > MOST_PAIRS:
            pairs = [pairs[place] for place in generator.choice(len(pairs), MOST_PAIRS, replace=False)]
        cells = np.array([sizes[left] * sizes[right] for left, right in pairs], dtype=np.int64)
        kept = np.flatnonzero(np.cumsum(cells) <= MOST_CELLS)
        self._left = np.array([pairs[place][0] for place in kept], dtype=np.intp)
        self._right = np.array([pairs[place][1] for place in kept], dtype=np.intp)
        self._sizes = np.array(sizes, dtype=np.int32)[self._right] if kept.size else np.zeros(0, dtype=np.int32)
        self._starts = (np.cumsum(cells[kept]) - cells[kept]).astype(np.int32)
        self._codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.off = np.zeros(int(cells[kept].sum()))

    @property
    def tables(self) -> int:
        return self._left.size

    def places(self, records: IntArray) -> NDArray[np.int32]:
        """The cell of every table that each of these records falls into."""
        codes = self._codes[records]
        return codes[:, self._left] * self._sizes + codes[:, self._right] + self._starts

    def add(self, places: NDArray[np.int32], amounts: Floats) -> None:
        weights = np.repeat(amounts, self.tables)
        self.off = self.off + np.bincount(places.ravel(), weights=weights, minlength=self.off.size)


def balanced(domain: Domain, codes: Codes, shares: Floats, taken: IntArray, generator: np.random.Generator) -> IntArray:
    """How often to take each record, near to `shares`, given a first rounding of them with the same sum.

    Each result is the share rounded down or up. **Runtime** O(records x tables x passes).
    """
    least, most = np.floor(shares).astype(np.int64), np.ceil(shares).astype(np.int64)
    open_ = np.flatnonzero(least < most)
    balance = Balance(domain, codes, generator)
    if not balance.tables or not open_.size:
        return taken
    taken = taken.copy()
    for start in range(0, len(codes), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(codes)))
        balance.add(balance.places(block), taken[block] - shares[block])
    moved = MOVED
    for _ in range(PASSES):
        for group in np.array_split(generator.permutation(open_), math.ceil(open_.size / TOGETHER)):
            if not _exchange(balance, group, taken, least, most, moved):
                moved /= 2
    return taken


def _exchange(
    balance: Balance, group: IntArray, taken: IntArray, least: IntArray, most: IntArray, moved: float
) -> bool:
    """Give up some records of the group for others of it where that brings the tables nearer; False if it did not."""
    places = balance.places(group)
    out, in_ = taken[group] > least[group], taken[group] < most[group]
    moves = math.ceil(moved * min(np.count_nonzero(out), np.count_nonzero(in_)))
    before = balance.off
    now = np.abs(before)
    given_up = np.where(out, (now - np.abs(before - 1)).astype(np.float32)[places].sum(axis=1), -np.inf)
    taken_in = np.where(in_, (now - np.abs(before + 1)).astype(np.float32)[places].sum(axis=1), -np.inf)
    old = np.argsort(-given_up, kind="stable")[:moves]
    new = np.argsort(-taken_in, kind="stable")[:moves]
    better = given_up[old] + taken_in[new] > 0
    old, new = old[better], new[better]
    balance.add(places[old], np.full(old.size, -1.0))
    balance.add(places[new], np.ones(new.size))
    if np.abs(balance.off).sum() > now.sum():
        # In small tables exchanges meet in the same cells, and overshoot.
        balance.off = before
        return False
    taken[group[old]] -= 1
    taken[group[new]] += 1
    return True
