"""A noisy histogram whose small tables are kept right.

Removing negative counts cell by cell pulls large sums off: a thousand nearly empty cells are all raised a little, and
the full ones pay for it. The sums themselves are known well, though. So the projected histogram is multiplied, table by
table, until each table of up to three columns is within one standard deviation of what was measured.

A table is the sum of what each set of its columns adds to the smaller ones (its effect), and effects of independent
noise are uncorrelated. So each effect is told by the raw histogram and by what was measured beside it, joined by
inverse variance, and tables are made of joined effects. All of it is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np

from core.base.arrays import Columns, Floats
from core.base.axes import centred, stretched, summed
from core.kernel.tables import Marginal
from core.mechanisms.kit.portions import Noisy
from core.models.dense import Dense
from core.models.fitting.consistency import total_of
from core.models.fitting.simplex import simplex
from core.models.fitting.updates import Weights
from core.schema.domain import Domain

SWEEPS = 4
MOST_PASSED = 4 * 10**8
"""Cells that all sweeps pass over: a second or two."""
MOST_TABLES = 1_000
LEAST = 1e-12
"""Variance of what is known exactly, and of the effect of a column of one value."""
UNIFORM_MASS = 0.01
"""Part of the rows that is spread evenly first, so that a table can raise cells that the projection emptied."""


def fit_histogram(domain: Domain, noisy: Noisy, public_rows: int | None) -> Dense:
    """The histogram for a raw one, over all columns, and further tables that were measured beside it."""
    raw = Dense(domain, noisy.tables[domain.names])
    telling = {columns: table for columns, table in noisy.tables.items() if columns not in noisy.residual}
    total = total_of(telling, noisy.sigmas, public_rows)
    cells = domain.cells()
    even = UNIFORM_MASS * total / cells
    model = Dense(domain, (1 - UNIFORM_MASS) * simplex(raw.cells, total) + even)
    wanted = joined_tables(domain, noisy, small_tables(domain, 3, MOST_PASSED // (SWEEPS * cells)), total)
    update = Weights()
    for _ in range(SWEEPS):
        for columns in reversed(wanted):
            values, slack = wanted[columns]
            model = update.apply(model, Marginal(columns), values, slack)
    return model


def joined_tables(
    domain: Domain, noisy: Noisy, wanted: Sequence[Columns], total: float
) -> dict[Columns, tuple[Floats, float]]:
    """Each wanted table, all of whose smaller ones are wanted too, with the standard deviation of its cells."""
    effects: dict[Columns, tuple[Floats, float]] = {(): (np.asarray(total), 0.0)}
    found = {}
    for columns in wanted:
        effects[columns] = _effect(domain, noisy, columns)
        parts = [part for size in range(len(columns) + 1) for part in combinations(columns, size)]
        spread = {part: domain.cells(part) / domain.cells(columns) for part in parts}
        table = sum(spread[part] * stretched(effects[part][0], part, columns) for part in parts)
        deviation = math.sqrt(sum(spread[part] ** 2 * effects[part][1] for part in parts))
        found[columns] = np.asarray(table, dtype=np.float64), deviation
    return found


def _effect(domain: Domain, noisy: Noisy, columns: Columns) -> tuple[Floats, float]:
    """What these columns say beyond any fewer of them, and the variance of each cell of it."""
    left = math.prod(1 - 1 / size for size in domain.shape(columns))
    values, precision = np.zeros(domain.shape(columns)), 0.0
    for key, table in noisy.tables.items():
        if key == columns and key in noisy.residual:
            told, variance = table, noisy.sigmas[key] ** 2
        elif key in noisy.residual or not set(columns) <= set(key):
            continue
        else:
            told = centred(summed(table, key, columns))
            variance = noisy.sigmas[key] ** 2 * left * table.size / told.size
        values, precision = values + told / max(variance, LEAST), precision + 1 / max(variance, LEAST)
    return values / precision, 1 / precision


def small_tables(domain: Domain, order: int, most: int = MOST_TABLES) -> list[Columns]:
    """Tables of up to `order` columns that are much smaller than the universe, those of few columns first."""
    every = (columns for size in range(1, order + 1) for columns in combinations(domain.names, size))
    fits = (columns for columns in every if 4 * domain.cells(columns) <= domain.cells())
    return list(islice(fits, min(most, MOST_TABLES)))
