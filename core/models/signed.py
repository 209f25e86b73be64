"""A signed hypothesis: counts over the whole universe that may be negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Codes, Floats
from core.base.axes import stretched, summed
from core.models.fitting.simplex import simplex
from core.models.histogram import Histogram
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Signed:
    """The perceptron's hypothesis: it answers as it is, and draws records from its projection on the simplex.

    `rows` is the number of rows that was paid for (or is public); the cells need not sum to it.

    **Runtime** one tensor sum per marginal, one broadcast sum per update, O(cells); sampling O(cells log cells).
    """

    domain: Domain
    cells: Floats
    rows: float

    @classmethod
    def zero(cls, domain: Domain, rows: float) -> Signed:
        return cls(domain, np.zeros(domain.shape()), rows)

    @classmethod
    def uniform(cls, domain: Domain, rows: float) -> Signed:
        return cls(domain, np.full(domain.shape(), rows / domain.cells()), rows)

    @property
    def total(self) -> float:
        return self.rows

    def marginal(self, columns: Sequence[str]) -> Floats:
        """Counts that may be negative; no columns gives the number of rows, which shares are taken of."""
        return summed(self.cells, self.domain.names, columns) if columns else np.asarray(self.rows)

    def shifted(self, columns: Sequence[str], amounts: Floats) -> Signed:
        """Every cell plus the amount of its combination of the given columns."""
        return Signed(self.domain, self.cells + stretched(amounts, columns, self.domain.names), self.rows)

    def histogram(self) -> Histogram:
        """The nearest histogram without negative counts."""
        return Histogram(self.domain, simplex(self.cells, self.rows))

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.histogram().sample(rows, generator)

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {tuple(self.domain.names): self.cells}
