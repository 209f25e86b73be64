"""Public rows in the place of a private table: invented ones, a released table, or a demo.

A rehearsal on a stand-in costs nothing, because nothing private is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.base.arrays import Codes, IntArray
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counting import histogram, occurring
from core.table.counts import Projected


@dataclass(frozen=True, eq=False)
class StandIn:
    """Rows as codes, one line per row; implements `counts.Counts`."""

    domain: Domain
    codes: Codes
    unit: Unit

    @classmethod
    def uniform(cls, domain: Domain, unit: Unit, rows: int, generator: np.random.Generator) -> StandIn:
        """Rows that are all chance: the hardest table for whatever relies on structure."""
        columns = [generator.integers(0, size, rows) for size in domain.sizes]
        return cls(domain, np.stack(columns, axis=1).astype(np.int64), unit)

    @classmethod
    def of(cls, frame: pd.DataFrame, domain: Domain, unit: Unit) -> StandIn:
        """The rows of a public table, encoded by the schema."""
        columns = [domain[name].encode(frame[name])[0] for name in domain.names]
        return cls(domain, np.stack(columns, axis=1).astype(np.int64), unit)

    @property
    def public_rows(self) -> int | None:
        return len(self.codes) if self.unit.public_rows else None

    def marginal(self, columns: Sequence[str]) -> IntArray:
        return histogram(self._columns(columns), self.domain.shape(columns), len(self.codes))

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        return occurring(self._columns(columns), self.domain.shape(columns), len(self.codes))

    def project(self, columns: Sequence[str]) -> Projected:
        return Projected(self, self.domain.project(columns))

    def _columns(self, columns: Sequence[str]) -> list[IntArray]:
        return [self.codes[:, self.domain.names.index(name)] for name in columns]
