"""Counting encoded columns: arrays of small integers, one per column, one entry per row.

Everything here is exact and private; noise comes later. No raw value and no id ever reaches this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import Refused

MAX_TABLE = 100_000_000
"""Cells of one table of counts: 800 MB of int64."""
BLOCK = 1 << 17
"""Rows counted at a time: their combined codes (1 MB) stay in the processor's cache; 20 % faster than all at once."""
MOST_KEPT = 1 << 22
"""Cells of all tables of counts that are remembered: 32 MB."""
WORTH = 16
"""Rows per cell from which a table is remembered: with fewer, counting again is nearly as fast as copying."""


def histogram(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> IntArray:
    """Counts of every combination of codes, of shape `sizes`. **Runtime**: O(rows * columns + cells)."""
    cells = check_cells(sizes)
    if not columns:
        return np.array(rows, dtype=np.int64)
    # every block costs one pass over the cells, so large tables are counted in fewer, longer blocks
    block = max(BLOCK, 4 * cells)
    counts = np.zeros(cells, dtype=np.int64)
    buffer = np.empty(min(block, rows), dtype=np.intp)
    for start in range(0, rows, block):
        key = buffer[: min(block, rows - start)]
        key[:] = columns[0][start : start + block]
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            key *= size
            key += column[start : start + block]
        counts += np.bincount(key, minlength=cells)
    return counts.reshape(tuple(sizes))


def check_cells(sizes: Sequence[int]) -> int:
    """The number of cells of a table; refused where they are too many to be held."""
    cells = math.prod(sizes)
    if cells > MAX_TABLE:
        raise Refused(f"A table of {cells:,} cells is too large; use fewer columns or bins, up to {MAX_TABLE:,}.")
    return cells


class CountMemory:
    """Tables of counts by their columns: mechanisms look at most tables two or three times, and a pass over all rows
    is what costs. As private as the rows, and held in memory only; all are forgotten when there are too many."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, ...], IntArray] = {}
        self._cells = 0

    def find(self, columns: Sequence[str]) -> IntArray | None:
        """A copy, which the caller may change."""
        found = self._tables.get(tuple(columns))
        return None if found is None else found.copy()

    def keep(self, columns: Sequence[str], counts: IntArray, rows: int) -> None:
        if counts.size * WORTH > rows or counts.size > MOST_KEPT:
            return
        if self._cells + counts.size > MOST_KEPT:
            self._tables, self._cells = {}, 0
        self._tables[tuple(columns)] = counts.copy()
        self._cells += counts.size


def occurring(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> tuple[IntArray, IntArray]:
    """The combinations that occur, in order, and how often; works for any number of cells.

    **Runtime**: as `histogram` where there are no more cells than rows; otherwise O(rows log rows), and some 40 bytes
    for each row meanwhile.
    """
    if columns and math.prod(sizes) <= rows:
        table = histogram(columns, sizes, rows)
        found = np.argwhere(table)
        return found.astype(np.int64), table[tuple(found.T)]
    key, span = np.zeros(rows, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 2**62:
            # renumbering keeps the order and needs at most one number per row
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = rows
        key = key * size + column
        span *= size
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    codes = np.empty((len(first), len(columns)), dtype=np.int64)
    for place, column in enumerate(columns):
        codes[:, place] = column[first]
    return codes, counts.astype(np.int64)
