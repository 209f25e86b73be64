"""Tables of counts that came from the cluster: a job costs a pass over all rows, so none is asked for twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.base.arrays import Columns, IntArray

MOST_CELLS = 2**24
"""Cells of all tables that are kept: 128 MB. When they are full, all are forgotten."""


class CountStore:
    """As private as the rows, and in memory only. What sums of a known table say is not counted again."""

    def __init__(self) -> None:
        self._tables: dict[frozenset[str], tuple[Columns, IntArray]] = {}
        self._cells = 0

    def find(self, columns: Sequence[str]) -> IntArray | None:
        """A copy, which the caller may change; None where the cluster has to count."""
        wanted = frozenset(columns)
        own = wanted if wanted in self._tables else self._smallest(wanted)
        if own is None:
            return None
        names, table = self._tables[own]
        left = [name for name in names if name in wanted]
        summed = table.sum(axis=tuple(axis for axis, name in enumerate(names) if name not in wanted))
        return np.array(np.transpose(summed, [left.index(name) for name in columns]), dtype=np.int64)

    def lacks(self, columns: Sequence[str]) -> bool:
        wanted = frozenset(columns)
        return wanted not in self._tables and self._smallest(wanted) is None

    def keep(self, tables: Iterable[tuple[Columns, IntArray]]) -> None:
        for columns, table in tables:
            if self._cells + table.size > MOST_CELLS:
                self._tables, self._cells = {}, 0
            if table.size <= MOST_CELLS:
                self._tables[frozenset(columns)] = columns, table
                self._cells += table.size

    def _smallest(self, wanted: frozenset[str]) -> frozenset[str] | None:
        """The smallest known table that has all these columns and more."""
        found = [known for known in self._tables if wanted < known]
        return min(found, key=lambda known: self._tables[known][1].size, default=None)
