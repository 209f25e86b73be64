"""A signed hypothesis: counts over the whole universe that may be negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Codes, Floats
from core.base.axes import stretched, summed
from core.models.fitting.partial_sums import marginals
from core.models.fitting.simplex import simplex
from core.models.histogram import Histogram
from core.schema.domain import Domain

NEGLIGIBLE = 1e-9
"""Share of the rows by which sums of many cells may miss them through rounding."""


@dataclass(frozen=True, eq=False)
class Signed:
    """The perceptron's hypothesis: it answers as it is, and draws records from its projection on the simplex.

    Its cells sum to the number of rows that was paid for (or is public), so that all its answers, those about every row
    and about none among them, are those of one signed table.

    **Runtime** one tensor sum per marginal, one broadcast sum per update, O(cells); sampling O(cells log cells).
    """

    domain: Domain
    cells: Floats

    @classmethod
    def uniform(cls, domain: Domain, rows: float) -> Signed:
        return cls(domain, np.full(domain.shape(), rows / domain.cells()))

    @classmethod
    def nearest(cls, domain: Domain, cells: Floats, rows: float) -> Signed:
        """The nearest signed table with so many rows; cells that sum to them already stay as they are."""
        missing = rows - float(cells.sum())
        return cls(domain, cells if abs(missing) <= NEGLIGIBLE * rows else cells + missing / cells.size)

    @property
    def total(self) -> float:
        return float(self.cells.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        """Counts that may be negative."""
        return summed(self.cells, self.domain.names, columns)

    def marginals(self, sets: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Floats]:
        """Many of them together, several times faster than one by one."""
        return marginals(self.cells, self.domain.names, sets)

    def shifted(self, columns: Sequence[str], amounts: Floats) -> Signed:
        """Every cell plus the amount of its combination of the given columns, less the mean: the rows stay."""
        return Signed(self.domain, self.cells + stretched(amounts - amounts.mean(), columns, self.domain.names))

    def histogram(self) -> Histogram:
        """The nearest histogram without negative counts."""
        return Histogram(self.domain, simplex(self.cells, self.total))

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.histogram().sample(rows, generator)

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {tuple(self.domain.names): self.cells}
