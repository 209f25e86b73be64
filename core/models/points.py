"""Weighted points: records with weights that are raked to fit measured tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.domain import Domain
from core.models.consistency import Columns
from core.models.protocol import Codes, Floats
from core.models.rounding import systematic


@dataclass(frozen=True, eq=False)
class Points:
    """Records as codes, each standing for `weights` rows.

    **Runtime** a marginal of any columns is one weighted count, O(points); raking O(points x tables x sweeps).
    """

    domain: Domain
    codes: Codes
    weights: Floats

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        counted = np.bincount(self._flat(columns), weights=self.weights, minlength=self.domain.cells(columns))
        return counted.astype(np.float64, copy=False).reshape(self.domain.shape(columns))

    def rake(self, tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float], sweeps: int = 12) -> Points:
        """Multiply weights, table by table, until each table is met to within its own noise.

        A cell is moved only to the nearer end of [count - sigma, count + sigma]: fitting the noise itself would cost
        accuracy everywhere else (maximum entropy with box constraints, Dudík, Phillips and Schapire 2007).
        """
        flats = {columns: self._flat(columns) for columns in tables}
        weights = self.weights.copy()
        for _ in range(sweeps):
            for columns, table in tables.items():
                target, slack = table.ravel(), sigmas[columns]
                mass = np.bincount(flats[columns], weights=weights, minlength=target.size)
                moved = np.clip(mass, np.maximum(target - slack, 0.0), target + slack)
                factor = np.divide(moved, mass, out=np.ones_like(mass), where=mass > 0)
                weights *= factor[flats[columns]]
        total = weights.sum()
        return replace(self, weights=weights * (self.total / total) if total > 0 else self.weights)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Whole records by systematic rounding along the lexicographic order of the points."""
        order = np.lexsort(self.codes.T[::-1])
        taken = systematic(self.weights[order], rows, generator)
        return np.repeat(self.codes[order], taken, axis=0)

    def tables(self) -> dict[Columns, Floats]:
        return {}

    def _flat(self, columns: Sequence[str]) -> NDArray[np.int64]:
        flat = np.zeros(len(self.codes), dtype=np.int64)
        for column in columns:
            flat = flat * self.domain[column].size + self.codes[:, self.domain.names.index(column)]
        return flat
