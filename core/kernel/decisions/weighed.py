"""Scores of public decisions: what each candidate costs the rows of the private table.

All scores are sums over rows, or smallest sums. If every row adds from 0 to W to a score (or takes as much from it),
one unit moves it by at most L W: adding or removing L rows moves it in one direction by at most L W, and a replacement
lowers it by at most L W and raises it by at most L W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedScores, largest_size, own
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit

EXACT = 2**53
"""Whole numbers below this are exact as floats, so products of tables may use the fast arithmetic."""


@dataclass(frozen=True, eq=False)
class Weighed(AskedScores):
    """For each candidate a public number plus the sum over rows of the weight that it gives to the row's cell.

    With `present` a cell counts once if any row is in it.

    **Sensitivity** L W, W the largest weight in size: weights are all of one sign, which is checked. A cell that counts
    once is added or removed by at most one of the rows.
    """

    one_sided: ClassVar[bool] = True

    columns: Columns
    weights: IntArray
    """One line per candidate, one number per cell."""
    offsets: IntArray
    present: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", own(self.weights, "weights"))
        object.__setattr__(self, "offsets", np.clip(own(self.offsets, "offsets"), -LARGEST, LARGEST))
        if self.weights.ndim != 2 or self.offsets.shape != self.weights.shape[:1]:
            raise BadParameter("weights", "must be one line per candidate, with one number beside each.")
        if self.weights.min(initial=0) < 0 < self.weights.max(initial=0):
            raise BadParameter("weights", "must all be of one sign.")

    @property
    def largest(self) -> int:
        return max(1, largest_size(self.weights))

    def scores(self, counts: Remembered) -> IntArray:
        table = counts.marginal(self.columns).ravel()
        if table.size != self.weights.shape[1]:
            raise BadParameter("weights", "must be one for every combination of values of the columns.")
        held = np.minimum(table, 1) if self.present else np.clip(table, 0, LARGEST // (self.largest * table.size))
        if self.largest * int(held.sum()) < EXACT:
            total = (self.weights.astype(np.float64) @ held.astype(np.float64)).astype(np.int64)
        else:
            total = self.weights @ held
        return np.asarray(self.offsets + total, dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * self.largest
