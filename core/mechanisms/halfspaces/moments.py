"""A noisy mean and covariance of a few columns of numbers: one table of exact integer sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.halfspaces import GRID, Halfspaces
from core.table.counts import Counts

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

STEPS = 2**8
"""Coordinates between -1 and 1 enter sums as whole multiples of 1/STEPS: far finer than the noise, and 2^38 rows of 255
columns stay below 2^63."""
BLOCK = 2**16
"""Points whose products are held at a time."""
LEAST_SPREAD = 0.02
"""Smallest variance along any axis, as a part of the mean variance: noise must not flatten the support."""
LEAST_VARIANCE = 1e-6
"""Of a column that seems constant: a thousandth of its half range."""


@dataclass(frozen=True)
class Shape:
    """A released mean and covariance, in units of half the public range of each column."""

    rows: float
    """Rows without a missing coordinate; at least 1."""
    mean: Floats
    factor: Floats
    """A matrix A with covariance A A'."""

    def spread(self, directions: Floats) -> Floats:
        """Standard deviation along each direction, one per line."""
        return np.linalg.norm(directions @ self.factor, axis=1)


@dataclass(frozen=True)
class Moments:
    """Sums of z_i z_j over rows, for z = (constant, x_1, .., x_d), where each x_i lies in -1..1.

    With a constant above 1 the count and the mean get less of the noise than the many second moments.

    **Privacy** with c the constant and e = d(d+1)/2 second moments (d if only variances are asked), one row moves the
    sums by at most b1 = c^2 + c d + e in L1 and b2 = c^4 + c^2 d + e in squared L2, both reached at a corner; a row
    with a missing coordinate adds nothing. Adding or removing a unit: limit b1 and limit^2 b2. Replacing one: a pair
    of rows keeps the count, moves each sum of x_i by at most 2, of x_i^2 by 1 and of x_i x_j by 2, so limit times the
    larger of b1 and 2 c d + d + 2 (e - d). In squared L2: 2 limit^2 b2, because the sums of any two rows have a
    non-negative product, ((z . z')^2 + sum z_i^2 z'_i^2)/2, or at least c^4 - c^2 d >= 0 with variances only.
    """

    columns: int
    event: Laplace | Gaussian
    unit: Unit
    cross: bool
    """Whether products of two different columns are asked, or variances only."""

    @property
    def constant(self) -> int:
        """The first coordinate of z: larger ones give the count and the mean more of the budget."""
        if isinstance(self.event, Laplace):
            return round(math.sqrt(self.columns))
        return math.ceil(self.columns ** (0.25 if self.cross else 0.5))

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which products are asked."""
        lines, others = np.triu_indices(self.columns + 1)
        asked = (lines == 0) | (lines == others) | self.cross
        return lines[asked], others[asked]

    @property
    def sensitivity(self) -> int:
        """Largest L1 change of the integer sums between neighbours."""
        first, second = self.constant * self.columns, len(self.places[0]) - 1 - self.columns
        row = self.constant**2 + first + second
        if self.unit.neighbours == "replace":
            row = max(row, 2 * first + 2 * second - self.columns)
        return self.unit.limit * row * STEPS**2

    @property
    def sensitivity_squared(self) -> int:
        """Largest squared L2 change of the integer sums between neighbours."""
        second = len(self.places[0]) - 1 - self.columns
        return self.unit.l2_squared * (self.constant**4 + self.constant**2 * self.columns + second) * STEPS**4

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in a second moment, in rows."""
        if isinstance(self.event, Laplace):
            return math.sqrt(2) * self.sensitivity / float(self.event.epsilon) / STEPS**2
        return math.sqrt(self.sensitivity_squared / (2 * float(self.event.rho))) / STEPS**2

    def ask(self, counts: Counts, query: Halfspaces, noise: NoiseSource, rows: int | None) -> Shape:
        """The noisy shape of the columns of a query class; `rows` without missing coordinates, where that is public."""
        hidden = self.sums(counts, query)
        if isinstance(self.event, Laplace):
            noisy = noise.laplace(hidden, epsilon=self.event.epsilon, sensitivity=self.sensitivity)
        else:
            noisy = noise.gaussian(hidden, rho=self.event.rho, sensitivity_squared=self.sensitivity_squared)
        return self._shaped(noisy / STEPS**2, rows)

    def sums(self, counts: Counts, query: Halfspaces) -> Integers:
        """The exact integer sums that are asked."""
        codes, times = counts.points(query.axes(counts.domain))
        products = np.zeros((self.columns + 1, self.columns + 1), dtype=np.int64)
        for start in range(0, len(codes), BLOCK):
            lines, present = query.points(counts.domain, codes[start : start + BLOCK])
            padded = np.full((len(lines), self.columns + 1), self.constant * STEPS, dtype=np.int64)
            padded[:, 1:] = (lines[:, : self.columns] * STEPS + GRID // 2) // GRID
            products += padded.T @ (padded * (times[start : start + BLOCK] * present)[:, None])
        return products[self.places]

    def _shaped(self, noisy: Floats, public: int | None) -> Shape:
        table = np.zeros((self.columns + 1, self.columns + 1))
        table[self.places] = noisy
        rows = max(1.0, table[0, 0] / self.constant**2 if public is None else float(public))
        error = self.sigma / rows
        mean = _shrunk(np.clip(table[0, 1:] / (rows * self.constant), -1, 1), error / self.constant)
        second = table[1:, 1:] / rows - np.outer(mean, mean)
        variances = np.clip(np.diag(second), 0.0, 1.0)
        middle = max(float(variances.mean()), LEAST_VARIANCE)
        variances = np.maximum(middle + _shrunk(variances - middle, error), LEAST_SPREAD * middle)
        upper = np.triu(second, 1) if self.cross else np.zeros_like(second)
        pairs = np.triu_indices(self.columns, 1)
        upper[pairs] = _shrunk(upper[pairs], error)
        values, vectors = np.linalg.eigh(np.diag(variances) + upper + upper.T)
        # No covariance of coordinates in -1..1 has a larger eigenvalue than their number.
        return Shape(rows, mean, vectors * np.sqrt(np.clip(values, LEAST_SPREAD * middle, self.columns)))


def _shrunk(noisy: Floats, error: float) -> Floats:
    """Numbers drawn towards 0 by the part of their mean square that noise explains (James and Stein 1961)."""
    square = float((noisy**2).mean()) if noisy.size else 0.0
    return noisy * max(0.0, 1 - error**2 / square) if square > 0 else noisy
