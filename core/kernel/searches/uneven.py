"""How unevenly rows lie inside stretches or boxes of a table: one number about all, which a row moves by little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, own
from core.kernel.tables import LARGEST, Blocks
from core.privacy.unit import Unit
from core.table.counts import Counts

HEAVIEST = 2**16
"""The largest weight."""


@dataclass(frozen=True, eq=False)
class Unevenness(Asked):
    """The sum over boxes of weight times (largest - smallest count of a part), each box of a grid being cut into parts.

    `begins` has, for every column, the first cell of each part, rising from 0; `firsts`, for every column, the place in
    `begins` of the first part of each box, rising from 0. So parts are a grid that covers the table once, and boxes one
    that covers all parts once; of a single column boxes are stretches. A box of one part is even.

    **Change** let W be the largest weight. A row lies in one part of one box. If it is added, the largest count of that
    box rises by 0 or 1 and the smallest by 0 or 1, so their difference moves by at most 1 in either direction, and so
    it does if the row is removed: the sum moves by at most W. A unit adds and removes at most `unit.l1` rows, one after
    the other: D = W `unit.l1`, and D^2 squared.
    """

    columns: Columns
    begins: tuple[IntArray, ...]
    firsts: tuple[IntArray, ...]
    weights: IntArray

    def __post_init__(self) -> None:
        for name in ("begins", "firsts"):
            object.__setattr__(self, name, tuple(own(along, name) for along in getattr(self, name)))
        object.__setattr__(self, "weights", own(self.weights, "weights"))
        if not len(self.columns) == len(self.begins) == len(self.firsts) > 0:
            raise BadParameter("columns", "must have parts and boxes along each.")
        Blocks(self.columns, self.begins)
        Blocks(self.columns, self.firsts)
        inside = all(first[-1] < len(begin) for first, begin in zip(self.firsts, self.begins, strict=True))
        if not inside or self.weights.shape != tuple(map(len, self.firsts)):
            raise BadParameter("firsts", "must be places of parts, with one weight for each box.")
        if self.weights.min() < 0 or self.weights.max() > HEAVIEST:
            raise BadParameter("weights", f"must lie between 0 and {HEAVIEST}.")

    def counts(self, counts: Counts) -> IntArray:
        # Clipped where the sum could leave 64 bits, which brings neighbours no further apart.
        most = LARGEST // (max(1, int(self.weights.max())) * self.weights.size)
        largest = smallest = np.clip(Blocks(self.columns, self.begins).counts(counts), 0, most)
        for axis, first in enumerate(self.firsts):
            largest = np.maximum.reduceat(largest, first, axis=axis)
            smallest = np.minimum.reduceat(smallest, first, axis=axis)
        return np.asarray((self.weights * (largest - smallest)).sum(), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        moved = int(self.weights.max()) * unit.l1
        return Change(moved, moved**2)
