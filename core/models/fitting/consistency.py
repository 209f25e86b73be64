"""Make noisy tables agree with each other, and keep them non-negative.

Two tables that share columns tell two stories about those columns. For every shared set of columns, smallest first, the
tables' sums are averaged by inverse variance and each table is shifted evenly to the average. A shift for a set of
columns leaves the sums over smaller, already agreed sets unchanged, so one pass makes all tables consistent, and it is
the least-squares estimate when every table has the same noise. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Flags, Floats
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
    tables: Mapping[Columns, NDArray[np.number]],
    sigmas: Mapping[Columns, float],
    total: float,
    residual: Collection[Columns] = (),
    allowed: Mapping[Columns, Flags] | None = None,
) -> dict[Columns, Floats]:
    """Tables shifted so that they agree on every shared set of columns and on the total.

    Cells that are not `allowed` hold nothing, and a shift goes to the others.
    """
    masks = allowed or {}
    shifted = {columns: np.asarray(table, dtype=np.float64).copy() for columns, table in tables.items()}
    for columns, table in shifted.items():
        if columns in masks:
            held = np.where(masks[columns], table, 0.0)
            shifted[columns] = held + masks[columns] * ((total - held.sum()) / max(np.count_nonzero(masks[columns]), 1))
        else:
            shifted[columns] = table + (total - table.sum()) / table.size
    for shared, holders in _shared(tables):
        sums = {columns: summed(shifted[columns], columns, shared) for columns in holders}
        weights = {columns: sums[columns].size / (shifted[columns].size * sigmas[columns] ** 2) for columns in holders}
        telling = [columns for columns in holders if columns == shared or columns not in residual]
        if not telling:
            continue
        average = sum(weights[columns] * sums[columns] for columns in telling) / sum(weights[key] for key in telling)
        for columns in holders:
            if columns in masks:
                room = summed(masks[columns].astype(np.float64), columns, shared)
                correction = np.divide(average - sums[columns], room, out=np.zeros_like(room), where=room > 0)
                shifted[columns] = shifted[columns] + masks[columns] * stretched(correction, shared, columns)
                continue
            spread = shifted[columns].size // sums[columns].size
            correction = (average - sums[columns]) / spread
            shifted[columns] = shifted[columns] + stretched(correction, shared, columns)
    return shifted


def settle(
    tables: Mapping[Columns, NDArray[np.number]],
    sigmas: Mapping[Columns, float],
    total: float,
    residual: Collection[Columns] = (),
    rounds: int = 3,
    allowed: Mapping[Columns, Flags] | None = None,
) -> dict[Columns, Floats]:
    """Consistent and non-negative tables: agreement and projection in turn, ending with non-negativity.

    Cells that are not `allowed` are empty. An interaction is first made a table, without them in mind.
    """
    masks = allowed or {}
    settled = {columns: np.asarray(table, dtype=np.float64) for columns, table in tables.items()}
    for done in range(rounds):
        now = {columns: mask for columns, mask in masks.items() if done or columns not in residual}
        agreed = agree(settled, sigmas, total, residual, now)
        settled = {columns: _projected(table, total, now.get(columns)) for columns, table in agreed.items()}
    return settled


def _projected(table: Floats, total: float, allowed: Flags | None) -> Floats:
    if allowed is None or not allowed.any():
        return simplex(table, total)
    found = np.zeros_like(table)
    found[allowed] = simplex(table[allowed], total)
    return found


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
