"""Make noisy tables agree with each other, and keep them non-negative.

Two tables that share columns tell two stories about those columns. For every shared set of columns, smallest first, the
tables' sums are averaged by inverse variance and each table is shifted evenly to the average. A shift for a set of
columns leaves the sums over smaller, already agreed sets unchanged, so one pass makes all tables consistent, and it is
the least-squares estimate when every table has the same noise. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.axes import stretched, summed
from core.models.fitting.simplex import simplex

MOST_SETS = 4_000
"""Shared column sets that are reconciled; beyond this only single columns and the total are."""


def total_of(tables: Mapping[Columns, NDArray[Any]], sigmas: Mapping[Columns, float], public: int | None) -> float:
    """The number of rows: the public one, else the tables' sums weighted by inverse variance."""
    if public is not None:
        return float(public)
    weights = {columns: 1 / (table.size * sigmas[columns] ** 2) for columns, table in tables.items()}
    summed = sum(weights[columns] * float(table.sum()) for columns, table in tables.items())
    return max(summed / sum(weights.values()), 0.0)


def agree(
    tables: Mapping[Columns, NDArray[np.number]], sigmas: Mapping[Columns, float], total: float
) -> dict[Columns, Floats]:
    """Tables shifted so that they agree on every shared set of columns and on the total."""
    shifted = {columns: np.asarray(table, dtype=np.float64).copy() for columns, table in tables.items()}
    for columns, table in shifted.items():
        shifted[columns] = table + (total - table.sum()) / table.size
    for shared, holders in _shared(tables):
        sums = {columns: summed(shifted[columns], columns, shared) for columns in holders}
        weights = {columns: sums[columns].size / (shifted[columns].size * sigmas[columns] ** 2) for columns in holders}
        average = sum(weights[columns] * sums[columns] for columns in holders) / sum(weights.values())
        for columns in holders:
            spread = shifted[columns].size // sums[columns].size
            correction = (average - sums[columns]) / spread
            shifted[columns] = shifted[columns] + stretched(correction, shared, columns)
    return shifted


def settle(
    tables: Mapping[Columns, NDArray[np.number]], sigmas: Mapping[Columns, float], total: float, rounds: int = 3
) -> dict[Columns, Floats]:
    """Consistent and non-negative tables: agreement and projection in turn, ending with non-negativity."""
    settled = {columns: np.asarray(table, dtype=np.float64) for columns, table in tables.items()}
    for _ in range(rounds):
        settled = {columns: simplex(table, total) for columns, table in agree(settled, sigmas, total).items()}
    return settled


def _shared(sets: Iterable[Columns]) -> list[tuple[Columns, list[Columns]]]:
    """Column sets that at least two tables share, smallest first, each with the tables that hold it."""
    tables = list(sets)
    found: dict[Columns, list[Columns]] = {}
    for size in range(1, max(map(len, tables), default=0)):
        level: dict[Columns, list[Columns]] = {}
        for columns in tables:
            for part in combinations(sorted(columns), size):
                level.setdefault(part, []).append(columns)
        if size > 1 and len(found) + len(level) > MOST_SETS:
            break
        found |= level
    shared = ((part, holders) for part, holders in found.items() if len(holders) > 1)
    return sorted(shared, key=lambda each: (len(each[0]), each[0]))


def noise_floor(cells: int, sigma: float) -> float:
    """L1 distance that noise alone would put between a table and the truth."""
    return cells * sigma * math.sqrt(2 / math.pi)
