"""Re-weight records so that noisy tables are met to within their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.models.consistency import Columns
from core.models.points import Points
from core.models.protocol import Floats
from core.models.slack import Slack


def rake(points: Points, tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float], sweeps: int = 12) -> Points:
    """Weights nearest to the given ones that meet every table to within its noise; the total stays.

    Tables may be negative in places, as measured. **Runtime** O(points x tables x sweeps).
    """
    total = points.total
    weights = points.weights.copy()
    slacks = {columns: Slack(table.ravel(), sigmas[columns]) for columns, table in tables.items()}
    places = {columns: _places(points, columns) for columns in tables}
    for _ in range(sweeps):
        for columns, slack in slacks.items():
            held = np.bincount(places[columns], weights=weights, minlength=slack.low.size)
            mass = held.astype(np.float64, copy=False)
            factor = slack.factor(mass)
            factor *= total / (mass @ factor)
            weights *= factor[places[columns]]
    return replace(points, weights=weights)


def _places(points: Points, columns: Columns) -> np.ndarray:
    """The cell of a table that each record falls into."""
    axes = [points.domain.names.index(column) for column in columns]
    return np.ravel_multi_index(tuple(points.codes[:, axes].T), points.domain.shape(columns)).astype(np.int32)
