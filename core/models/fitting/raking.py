"""Re-weight records so that noisy tables are met to within their noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.models.fitting.slack import Slack
from core.models.points import Points


@dataclass(frozen=True, eq=False)
class Pull:
    """Noisy counts of the parts into which the records fall: the cells of a table, or any other partition."""

    places: NDArray[Any]
    """The part of each record."""
    target: Floats
    sigma: float

    @classmethod
    def of(cls, places: NDArray[np.int64], target: Floats, sigma: float) -> Pull:
        """Places are held in the smallest type that fits: there are many tables."""
        return cls(places.astype(np.min_scalar_type(max(target.size - 1, 0))), target.ravel(), sigma)


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
    pulls = [Pull.of(places(points, columns), table, sigmas[columns]) for columns, table in tables.items()]
    return replace(points, weights=pulled(points.weights, pulls, sweeps, slack))


def pulled(weights: Floats, pulls: Sequence[Pull], sweeps: int = 12, slack: float = 1.0) -> Floats:
    """Weights nearest to the given ones that meet all these counts to within their noise times `slack`."""
    total = float(weights.sum())
    weights = weights.copy()
    slacks = [(pull.places, Slack(pull.target, slack * pull.sigma)) for pull in pulls]
    for _ in range(sweeps):
        for parts, bounds in slacks:
            held = np.bincount(parts, weights=weights, minlength=bounds.low.size)
            mass = held.astype(np.float64, copy=False)
            factor = bounds.factor(mass)
            factor *= total / (mass @ factor)
            weights *= factor[parts]
    return weights


def places(points: Points, columns: Columns) -> NDArray[np.int64]:
    """The cell of a table that each record falls into."""
    axes = [points.domain.names.index(column) for column in columns]
    return np.ravel_multi_index(tuple(points.codes[:, axes].T), points.domain.shape(columns)).astype(np.int64)
