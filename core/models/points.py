"""Weighted points: records with weights that are raked to fit measured tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns, Floats
from core.base.axes import stretched, summed
from core.models.drawing.balancing import balanced
from core.models.drawing.rounding import systematic
from core.models.fitting.bundles import Records
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Points:
    """Records as codes, each standing for `weights` rows.

    **Runtime** a marginal of any columns is one weighted count, O(points); raking O(points x bundles x sweeps), a
    bundle being tables that are counted in one pass.
    """

    domain: Domain
    codes: Codes
    weights: Floats

    def __post_init__(self) -> None:
        # records are counted column by column, which takes a third of the time where a column lies together
        object.__setattr__(self, "codes", np.asfortranarray(self.codes))

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def marginal(self, columns: Sequence[str]) -> Floats:
        counted = np.bincount(self._flat(columns), weights=self.weights, minlength=self.domain.cells(columns))
        return counted.astype(np.float64, copy=False).reshape(self.domain.shape(columns))

    def scaled(self, columns: Sequence[str], factors: Floats) -> Points:
        """Every weight multiplied by the factor of its record's combination of the given columns."""
        return replace(self, weights=self.weights * factors.ravel()[self._flat(columns)])

    def total_of(self, columns: Sequence[str], weights: NDArray[Any]) -> float:
        """The sum of these weights, one for each combination of the columns, over all rows.

        The same as by `marginal`, but in O(points) however many combinations there are.
        """
        return float(weights.ravel()[self._flat(columns)] @ self.weights)

    def marginals(self, tables: Iterable[Columns]) -> dict[Columns, Floats]:
        """The counts of many tables, several in one pass."""
        records = self._records()
        found: dict[Columns, Floats] = {}
        for bundle in records.bundles(tables):
            joint = records.joint(bundle, records.places(bundle), self.weights)
            found |= {columns: summed(joint, bundle.columns, columns) for columns in bundle.tables}
        return found

    def rake(self, tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float], sweeps: int = 12) -> Points:
        """Multiply weights, table by table, until each table is met to within its own noise.

        A cell is moved only to the nearer end of [count - sigma, count + sigma]: fitting the noise itself would cost
        accuracy everywhere else (maximum entropy with box constraints, Dudík, Phillips and Schapire 2007).
        """
        records, weights = self._records(), self.weights.copy()
        bounds = {key: (np.maximum(table - sigmas[key], 0.0), table + sigmas[key]) for key, table in tables.items()}
        bundles = records.bundles(tables)
        for _ in range(sweeps):
            for bundle in bundles:
                places, joint = records.places(bundle), bundle.columns
                held = records.joint(bundle, places, weights)
                # what happens to the joint counts, table after table, is what would happen to the records
                moved = held
                for columns in bundle.tables:
                    mass = summed(moved, joint, columns)
                    near = np.clip(mass, *bounds[columns])
                    factor = np.divide(near, mass, out=np.ones_like(mass), where=mass > 0)
                    moved = moved * stretched(factor, columns, joint)
                factors = np.divide(moved, held, out=np.ones_like(held), where=held > 0)
                weights *= factors.ravel()[places]
        total = weights.sum()
        return replace(self, weights=weights * (self.total / total) if total > 0 else self.weights)

    def combinations(self, columns: Sequence[str]) -> tuple[Codes, Floats]:
        """The records' codes in these columns, and their weights."""
        return self.codes[:, [self.domain.names.index(column) for column in columns]], self.weights

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Whole records, rounded along their lexicographic order and then balanced over all pairs of columns."""
        order = np.lexsort(self._sort_keys()[::-1])
        taken = np.empty(order.size, dtype=np.int64)
        taken[order] = systematic(self.weights[order], rows, generator)
        if (total := self.total) > 0:
            taken = balanced(self.domain, self.codes, self.weights * (rows / total), taken, generator)
        return self.codes.T[:, np.repeat(order, taken[order])].T

    def tables(self) -> dict[Columns, Floats]:
        return {}

    def _records(self) -> Records:
        return Records(self.codes, dict(zip(self.domain.names, self.domain.shape(), strict=True)))

    def _sort_keys(self) -> list[NDArray[np.int64]]:
        """Few numbers that order records as all their codes do: as many columns in each as fit 62 bits."""
        keys: list[NDArray[np.int64]] = []
        room = 0
        for column, size in enumerate(self.domain.shape()):
            if room < size:
                keys.append(np.zeros(len(self.codes), dtype=np.int64))
                room = 2**62
            keys[-1] *= size
            keys[-1] += self.codes[:, column]
            room //= size
        return keys

    def _flat(self, columns: Sequence[str]) -> NDArray[np.int64]:
        places = [self.domain.names.index(column) for column in columns]
        if not places:
            return np.zeros(len(self.codes), dtype=np.int64)
        flat = self.codes[:, places[0]].astype(np.int64)
        for column, place in zip(columns[1:], places[1:], strict=True):
            flat *= self.domain[column].size
            flat += self.codes[:, place]
        return flat
