"""A model of some columns as a model of the whole schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Codes, Columns, Floats
from core.models.protocol import Model
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Widened:
    """A model of some columns, with all other columns of the schema uniform and independent."""

    domain: Domain
    inner: Model

    @property
    def total(self) -> float:
        return self.inner.total

    def marginal(self, columns: Sequence[str]) -> Floats:
        known = [column for column in columns if column in self.inner.domain]
        free = [column for column in columns if column not in self.inner.domain]
        shape = [self.domain[column].size if column in known else 1 for column in columns]
        table = self.inner.marginal(known).reshape(shape) / self.domain.cells(free)
        return np.broadcast_to(table, self.domain.shape(columns)).astype(np.float64)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        codes = np.stack([generator.integers(0, size, rows) for size in self.domain.sizes], axis=1)
        known = [self.domain.names.index(name) for name in self.inner.domain.names]
        codes[:, known] = self.inner.sample(rows, generator)
        return codes

    def tables(self) -> dict[Columns, Floats]:
        return self.inner.tables()


def widened(domain: Domain, model: Model) -> Model:
    """The model as one of the whole schema."""
    return model if len(model.domain) == len(domain) else Widened(domain, model)
