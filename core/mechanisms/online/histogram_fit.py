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
from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np

from core.mechanisms.kit.portions import Measurement
from core.models.dense import Dense
from core.models.fitting.consistency import total_of
from core.models.fitting.simplex import simplex
from core.models.fitting.updates import Weights
from core.queries.kit.protocol import Columns
from core.queries.kit.question import WholeTable
from core.schema.domain import Domain

SWEEPS = 4
MOST_PASSED = 4 * 10**8
"""Cells that all sweeps pass over: a second or two."""
MOST_TABLES = 1_000
UNIFORM_MASS = 0.01
"""Part of the rows that is spread evenly first, so that a table can raise cells that the projection emptied."""


def fitted(domain: Domain, measured: Sequence[Measurement], public_rows: int | None) -> Dense:
    """The histogram for a raw one (first) and further tables that were measured beside it."""
    raw = Dense(domain, measured[0].values.astype(np.float64))
    total = total_of(
        {table.columns: table.values for table in measured},
        {table.columns: table.sigma for table in measured},
        public_rows,
    )
    beside = {table.columns: table for table in measured[1:] if table.columns}
    cells = domain.cells()
    even = UNIFORM_MASS * total / cells
    model = Dense(domain, (1 - UNIFORM_MASS) * simplex(raw.cells, total) + even)
    wanted = {}
    for columns in small_tables(domain, 3, MOST_PASSED // (SWEEPS * cells)):
        values, variance = raw.marginal(columns), measured[0].sigma ** 2 * cells / domain.cells(columns)
        if (own := beside.get(columns)) is not None:
            weight = variance / (variance + own.sigma**2)
            values, variance = values + weight * (own.values - values), variance * (1 - weight)
        wanted[columns] = values, math.sqrt(variance)
    update = Weights()
    for _ in range(SWEEPS):
        for columns in reversed(wanted):
            values, sigma = wanted[columns]
            model = update.apply(model, WholeTable(columns), values, sigma)
    return model


def small_tables(domain: Domain, order: int, most: int = MOST_TABLES) -> list[Columns]:
    """Tables of up to `order` columns that are much smaller than the universe, those of few columns first."""
    every = (columns for size in range(1, order + 1) for columns in combinations(domain.names, size))
    fits = (columns for columns in every if 4 * domain.cells(columns) <= domain.cells())
    return list(islice(fits, min(most, MOST_TABLES)))
