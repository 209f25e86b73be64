"""How unevenly rows lie inside stretches of a column: one number about all of them, which a row moves by little."""

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
    """The sum over stretches of weight times (largest - smallest count of a part), each stretch being cut into parts.

    `begins` has the first cell of each part, rising from 0; `firsts` the place in `begins` of the first part of each
    stretch, rising from 0; so parts cover the column once, and stretches all parts once. A stretch of one part is even.

    **Change** let W be the largest weight. A row lies in one part of one stretch. If it is added, the largest count of
    that stretch rises by 0 or 1 and the smallest by 0 or 1, so their difference moves by at most 1 in either direction,
    and so it does if the row is removed: the sum moves by at most W. A unit adds and removes at most `unit.l1` rows,
    one after the other: D = W `unit.l1`, and D^2 squared.
    """

    columns: Columns
    begins: IntArray
    firsts: IntArray
    weights: IntArray

    def __post_init__(self) -> None:
        for name in ("begins", "firsts", "weights"):
            object.__setattr__(self, name, own(getattr(self, name), name))
        if len(self.columns) != 1:
            raise BadParameter("columns", "must be one.")
        Blocks(self.columns, (self.begins,))
        Blocks(self.columns, (self.firsts,))
        if self.firsts[-1] >= len(self.begins) or self.weights.shape != self.firsts.shape:
            raise BadParameter("firsts", "must be places of parts, with one weight for each.")
        if self.weights.min() < 0 or self.weights.max() > HEAVIEST:
            raise BadParameter("weights", f"must lie between 0 and {HEAVIEST}.")

    def counts(self, counts: Counts) -> IntArray:
        # Clipped where the sum could leave 64 bits, which brings neighbours no further apart.
        most = LARGEST // (max(1, int(self.weights.max())) * len(self.firsts))
        held = np.clip(Blocks(self.columns, (self.begins,)).counts(counts), 0, most)
        apart = np.maximum.reduceat(held, self.firsts) - np.minimum.reduceat(held, self.firsts)
        return np.asarray((self.weights * apart).sum(), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        moved = int(self.weights.max()) * unit.l1
        return Change(moved, moved**2)
