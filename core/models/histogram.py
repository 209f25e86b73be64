"""A dense histogram: one estimated count for every possible record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Codes, Floats
from core.base.axes import summed
from core.models.drawing.rounding import systematic
from core.models.fitting.partial_sums import marginals
from core.schema.domain import Domain

MOST_CELLS = 2**24
"""128 MB of counts, of which fitting holds several copies: what a small hosted machine can bear."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Non-negative counts over the whole universe of a small schema.

    **Runtime** one tensor sum per marginal, O(cells); sampling O(cells + rows).
    """

    domain: Domain
    cells: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", np.asarray(self.cells, dtype=np.float64).reshape(self.domain.shape()))

    @property
    def total(self) -> float:
        return float(self.cells.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        return summed(self.cells, self.domain.names, columns)

    def marginals(self, sets: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Floats]:
        """Many marginals together, several times faster than one by one."""
        return marginals(self.cells, self.domain.names, sets)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Rows laid out in the order of the cells, so that ranges of the last column keep their share."""
        taken = systematic(self.cells.ravel(), rows, generator)
        flat = np.repeat(np.arange(taken.size), taken)
        return np.stack(np.unravel_index(flat, self.cells.shape), axis=1).astype(np.int64)

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {tuple(self.domain.names): self.cells}
