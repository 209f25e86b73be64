"""The shape of the points: a mean and a covariance from noisy sums of products of coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.kernel.halfspaces import STEPS, Moments, Space
from core.kernel.noise_level import Additive, Measurement, NoiseLevel
from core.privacy.events import Laplace

LEAST_SPREAD = 0.02
"""Smallest variance along any axis, as a part of the mean variance: noise must not flatten the support."""
LEAST_VARIANCE = 1e-6
"""Of a column that seems constant: a thousandth of its half range."""


@dataclass(frozen=True)
class PointShape:
    """A released mean and covariance, in units of half the public range of each column."""

    rows: float
    """Rows without a missing coordinate; at least 1."""
    mean: Floats
    factor: Floats
    """A matrix A with covariance A A'."""

    def spread(self, directions: Floats) -> Floats:
        """Standard deviation along each direction, one per line."""
        return np.linalg.norm(directions @ self.factor, axis=1)


def moments(space: Space, event: Additive, cross: bool) -> Moments:
    """The sums that suit an event: a larger constant gives the count and the mean more of the budget.

    With variances only and Gaussian noise its square is at least the number of columns, as the better of the two bounds
    on their change asks for.
    """
    columns = len(space.columns)
    if isinstance(event, Laplace):
        return Moments(space, round(math.sqrt(columns)), cross)
    return Moments(space, math.ceil(columns ** (0.25 if cross else 0.5)), cross)


def noise_in_rows(level: NoiseLevel) -> float:
    """Standard deviation of the noise in a second moment, in rows."""
    return level.sigma / STEPS**2


def shape_of(asked: Moments, measured: Measurement, public: int | None) -> PointShape:
    """The shape that noisy sums tell; `public` is the number of rows without missing coordinates, where it is."""
    columns = len(asked.space.columns)
    table = np.zeros((columns + 1, columns + 1))
    table[asked.places] = measured.values / STEPS**2
    rows = max(1.0, table[0, 0] / asked.constant**2 if public is None else float(public))
    error = noise_in_rows(measured.level) / rows
    mean = _shrunk(np.clip(table[0, 1:] / (rows * asked.constant), -1, 1), error / asked.constant)
    second = table[1:, 1:] / rows - np.outer(mean, mean)
    variances = np.clip(np.diag(second), 0.0, 1.0)
    middle = max(float(variances.mean()), LEAST_VARIANCE)
    variances = np.maximum(middle + _shrunk(variances - middle, error), LEAST_SPREAD * middle)
    upper = np.triu(second, 1) if asked.cross else np.zeros_like(second)
    pairs = np.triu_indices(columns, 1)
    upper[pairs] = _shrunk(upper[pairs], error)
    values, vectors = np.linalg.eigh(np.diag(variances) + upper + upper.T)
    # No covariance of coordinates in -1..1 has a larger eigenvalue than their number.
    return PointShape(rows, mean, vectors * np.sqrt(np.clip(values, LEAST_SPREAD * middle, columns)))


def _shrunk(noisy: Floats, error: float) -> Floats:
    """Numbers drawn towards 0 by the part of their mean square that noise explains (James and Stein 1961)."""
    square = float((noisy**2).mean()) if noisy.size else 0.0
    return noisy * max(0.0, 1 - error**2 / square) if square > 0 else noisy
