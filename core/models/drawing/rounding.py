"""Whole records from fractional weights, losing as little as possible.

Independent draws add sampling noise of order sqrt(count) to every cell. Systematic sampling takes one uniform offset
and then every (total/rows)-th unit of mass along a line, so that any contiguous stretch of the line holds its exact
share of rows, give or take one. Laying neighbouring cells side by side makes sums over neighbours nearly exact too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def systematic(weights: NDArray[np.float64], rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """How often each item is taken when `rows` items are drawn in proportion to `weights`.

    Each result is the exact share rounded down or up, and its expectation is the exact share. Where nothing has weight
    (noise can swallow a small table whole) all items are equal, so that the number of rows never depends on the data.
    """
    cumulative = np.cumsum(weights)
    if not cumulative[-1] > 0:
        cumulative = np.arange(1.0, cumulative.size + 1)
    ticks = np.floor(cumulative * (rows / cumulative[-1]) + generator.random()).astype(np.int64)
    # The last tick is rows up to rounding of the division; state it, so that exactly `rows` items are taken.
    ticks[cumulative >= cumulative[-1]] = rows
    return np.diff(np.minimum(ticks, rows), prepend=0)
