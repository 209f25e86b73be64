"""What a release can be: a model that answers tables of counts and draws records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from core.base.arrays import Codes, Floats
from core.schema.domain import Domain


class Model(Protocol):
    """A public, non-negative estimate of a table of counts over the whole schema."""

    @property
    def domain(self) -> Domain: ...

    @property
    def total(self) -> float:
        """Estimated number of rows."""

    def marginal(self, columns: Sequence[str]) -> Floats:
        """Estimated counts of shape `domain.shape(columns)`."""

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Synthetic records as codes, one line per record, one column per attribute."""

    def tables(self) -> dict[tuple[str, ...], Floats]:
        """The estimated tables that the release publishes beside its records."""
