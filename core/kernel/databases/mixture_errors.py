"""How wrong a public mixture of databases is about every question, for the exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedScores, own
from core.kernel.query import Totals, check_classes
from core.kernel.remembered import Remembered
from core.kernel.scores import grid_of, private_totals
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.schema.domain import Domain

MOST_WEIGHT = 2**24
"""All weights together: the larger, the finer a mixture, and the smaller the totals that are told apart (2^36)."""


@dataclass(frozen=True, eq=False)
class MixtureErrors(AskedScores):
    """The sum over public databases y of w(y) |q(x) - q(y)|, for every question q; x is the private table.

    q(x) is a total in units of 1/grid rows, q(y) a public number in the same units. The questions need not be sums over
    the rows.

    **Sensitivity** W L grid, W being the sum of all weights, which are at least 0: each total moves by at most L grid
    (`query.Totals`), each absolute value by no more, and W of them add up. Totals are clipped to a public range first,
    so that every sum stays in 64 bits; clipping brings neighbours no further apart.
    """

    queries: tuple[Totals, ...]
    domain: Domain
    believed: IntArray
    """One line per database: its totals on the common grid, class after class."""
    weights: IntArray
    """Of the databases, whole numbers from 0 on."""

    def __post_init__(self) -> None:
        check_classes(self.queries)
        object.__setattr__(self, "believed", own(self.believed, "believed"))
        object.__setattr__(self, "weights", own(self.weights, "weights"))
        if self.believed.ndim != 2 or self.weights.shape != self.believed.shape[:1]:
            raise BadParameter("weights", "must be one for every database.")
        # Python's sum: numpy's would wrap around.
        if self.weights.min(initial=0) < 0 or not 1 <= sum(self.weights.tolist()) <= MOST_WEIGHT:
            raise BadParameter("weights", f"must be at least 0, and from 1 to {MOST_WEIGHT:,} together.")

    @property
    def weight(self) -> int:
        """W."""
        return int(self.weights.sum())

    def scores(self, counts: Remembered) -> IntArray:
        most = LARGEST // MOST_WEIGHT
        target = np.clip(private_totals(counts, self.queries, grid_of(self.queries, self.domain)), -most, most)
        if target.shape != self.believed.shape[1:]:
            raise BadParameter("believed", "must be one number for every question.")
        return np.asarray(self.weights @ np.abs(np.clip(self.believed, -most, most) - target), dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return self.weight * unit.limit * grid_of(self.queries, self.domain)
