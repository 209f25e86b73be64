"""Halfspaces inside the tree mechanism: noisy counts of random planes, and records re-weighted to fit them.

**Privacy** planes are drawn from records that are public already; for each plane, rows inside minus rows outside is
asked (`core.kernel.halfspaces.Balances`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats
from core.kernel.halfspaces import SCALE, Balances
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.halfspaces.halfspace_fit import planes_like
from core.mechanisms.halfspaces.moments import PointShape
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.measuring import Measuring
from core.models.fitting.halfspace_weights import Signs, fitted
from core.models.points import Points
from core.queries.halfspaces import Halfspaces
from core.schema.domain import Domain

PLANES = 128
"""Planes that are counted: fewer leave directions unseen, more take memory and time in proportion."""
BLOCK = 2**15
"""Records whose sides are computed at a time."""


@dataclass(frozen=True, eq=False)
class Sides:
    """On which side of each plane every record lies (1, -1, or 0 if a coordinate is missing), and what was counted."""

    signs: Signs
    counted: Floats
    """Noisy rows inside minus rows outside of each plane."""
    sigma: float

    def fit(self, weights: Floats) -> Floats:
        """Weights near the given ones that meet the counts as far as the noise lets them speak; the total stays."""
        total = float(weights.sum())
        wanted = np.clip(self.counted / total, -1.0, 1.0)
        return total * fitted(self.signs, wanted, self.sigma / total, base=weights / total)


def measure_planes(
    measuring: Measuring, query: Halfspaces, points: Points, part: Fraction, generator: np.random.Generator
) -> Sides:
    """Count both sides of random planes that cut through the records."""
    normals = planes_like(query, plane_count(query, points.domain), shape_of(query, points), generator)
    asked = Balances(query.space(points.domain), normals)
    measured = measuring.kernel.measure(asked, measuring.spending.event(part))
    return Sides(_signs(query, points, normals), measured.values.astype(np.float64), measured.sigma)


def balance_level(query: Halfspaces, domain: Domain, spending: Spending, part: Fraction) -> NoiseLevel:
    """How large the noise of one balance is: it depends on the number of planes only."""
    space = query.space(domain)
    normals = np.zeros((plane_count(query, domain), space.dimensions), dtype=np.int64)
    return NoiseLevel.of(Balances(space, normals), spending.event(part), spending.unit)


def plane_count(query: Halfspaces, domain: Domain) -> int:
    """Two on one column without an offset, where there are no more."""
    return 2 if len(query.axes(domain)) == 1 and not query.translated else PLANES


def shape_of(query: Halfspaces, points: Points) -> PointShape:
    """Mean and covariance of the records, where no coordinate is missing."""
    lines, present = _lines(query, points)
    weights = points.weights * present
    rows = max(float(weights.sum()), 1.0)
    coordinates = lines[:, : len(query.axes(points.domain))] / SCALE
    mean = weights @ coordinates / rows
    centred = coordinates - mean
    values, vectors = np.linalg.eigh((centred * weights[:, None]).T @ centred / rows)
    return PointShape(rows, mean, vectors * np.sqrt(np.maximum(values, 0.0)))


def _lines(query: Halfspaces, points: Points) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    places = [points.domain.names.index(name) for name in query.axes(points.domain)]
    return query.space(points.domain).points(points.codes[:, places])


def _signs(query: Halfspaces, points: Points, normals: NDArray[np.int64]) -> Signs:
    lines, present = _lines(query, points)
    signs = np.empty((len(normals), len(lines)), dtype=np.float32)
    for start in range(0, len(lines), BLOCK):
        some = slice(start, start + BLOCK)
        # Products stay below 2^53, so floats are exact here.
        inside = normals.astype(np.float64) @ lines[some].T.astype(np.float64) >= 0
        signs[:, some] = np.where(inside, 1, -1) * present[some]
    return signs
