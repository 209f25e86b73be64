"""Re-weight records so that noisy tables are met to within their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.models.consistency import Columns
from core.models.points import Points
from core.models.protocol import Floats
from core.models.slack import Slack


def rake(
    points: Points,
    tables: Mapping[Columns, Floats],
    sigmas: Mapping[Columns, float],
    sweeps: int = 12,
    slack: float = 1.0,
) -> Points:
    """Weights nearest to the given ones that meet every table to within its noise times `slack`; the total stays.

    Tables may be negative in places, as measured. **Runtime** O(points x tables x sweeps).
    """
    total = points.total
    weights = points.weights.copy()
    slacks = {columns: Slack(table.ravel(), slack * sigmas[columns]) for columns, table in tables.items()}
    places = {columns: _places(points, columns) for columns in tables}
    for _ in range(sweeps):
        for columns, bounds in slacks.items():
            held = np.bincount(places[columns], weights=weights, minlength=bounds.low.size)
            mass = held.astype(np.float64, copy=False)
            factor = bounds.factor(mass)
            factor *= total / (mass @ factor)
            weights *= factor[places[columns]]
    return replace(points, weights=weights)


def _places(points: Points, columns: Columns) -> NDArray[Any]:
    """The cell of a table that each record falls into, in the smallest type that holds it: there are many tables."""
    axes = [points.domain.names.index(column) for column in columns]
    shape = points.domain.shape(columns)
    smallest = np.min_scalar_type(max(points.domain.cells(columns) - 1, 0))
    return np.ravel_multi_index(tuple(points.codes[:, axes].T), shape).astype(smallest)
