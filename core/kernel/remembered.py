"""Private counts that are counted once, because many steps of one run look at the same tables. Private itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.base.arrays import Columns, IntArray
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts, prepare

MOST_CELLS = 2**24
"""Cells of all tables that are kept: 128 MB. When they are full, all are forgotten."""


@dataclass(eq=False)
class Remembered:
    """The same counts with a memory."""

    counts: Counts
    tables: dict[tuple[str, Any], IntArray] = field(default_factory=dict, repr=False)
    cells: int = 0
    """How many are kept."""

    @property
    def domain(self) -> Domain:
        return self.counts.domain

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        return self.counts.public_rows

    def marginal(self, columns: Sequence[str]) -> IntArray:
        key = "table", tuple(columns)
        known = self.tables.get(key)
        return self._keep(key, self.counts.marginal(columns)) if known is None else known

    def prepare(self, tables: Sequence[Sequence[str]]) -> None:
        prepare(self.counts, [columns for columns in tables if ("table", tuple(columns)) not in self.tables])

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        return self.counts.combinations(columns)

    def project(self, columns: Sequence[str]) -> Counts:
        return self.counts.project(columns)

    def totals_for(self, query: Any) -> IntArray:
        """All totals of a query class."""
        # By the object itself, which is kept with its totals: two classes may be equal and count in another order.
        key = "totals", id(query)
        known = self.tables.get(key)
        if known is not None:
            return known
        totals = self._keep(key, np.asarray(query.totals(self)))
        self.tables["class", id(query)] = query
        return totals

    def corners(self, columns: Columns) -> IntArray:
        """`corners_of` some columns."""
        key = "corners", columns
        known = self.tables.get(key)
        return self._keep(key, corners_of(self, columns)) if known is None else known

    def _keep(self, key: tuple[str, Any], table: IntArray) -> IntArray:
        if self.cells + table.size > MOST_CELLS:
            self.tables.clear()
            self.cells = 0
        self.tables[key] = table
        self.cells += table.size
        return table


def corners_of(counts: Counts, columns: Columns) -> IntArray:
    """Summed-area table: the count of all cells before each corner."""
    table = counts.marginal(columns)
    sums = np.pad(table, [(1, 0)] * table.ndim)
    for axis in range(table.ndim):
        sums = np.cumsum(sums, axis=axis)
    return np.asarray(sums)
