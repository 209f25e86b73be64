"""Noisy counts of canonical halfspaces in a few random projections, and records that were fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Floats, IntArray
from core.models.points import Points
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Projections:
    """Answers a halfspace by the median, over all projections, of the canonical halfspace nearest to it (B section 6).

    Everything else is answered by the records, which fit the same noisy counts as well as non-negative weights can.
    """

    domain: Domain
    matrices: IntArray
    """Shape (projections, dimensions of the points, dimensions projected to)."""
    canonical: IntArray
    """The canonical normals of every projection, one per line."""
    counts: Floats
    """Noisy counts, one line per projection."""
    points: Points

    @property
    def total(self) -> float:
        return self.points.total

    def halfspaces(self, normals: IntArray) -> Floats:
        """Estimated counts of the halfspaces with these normals, one per line."""
        unit = self.canonical / np.linalg.norm(self.canonical, axis=1, keepdims=True)
        nearest = np.argmax((normals @ self.matrices) @ unit.T, axis=2)
        found = np.take_along_axis(self.counts, nearest, axis=1)
        return np.clip(np.median(found, axis=0), 0.0, self.total)

    def marginal(self, columns: Sequence[str]) -> Floats:
        return self.points.marginal(columns)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.points.sample(rows, generator)

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {}


def weigh(inside: NDArray[np.bool_], shares: Floats, steps: int = 200) -> Floats:
    """Non-negative weights with sum 1 on public points whose shares inside each halfspace come close to the given ones.

    Exponentiated gradient descent on the mean squared difference, from equal weights: of all weights that fit equally
    well it stays near the smoothest. With a step of 4 the mean squared difference never rises: where weights change by
    w in all, half of it down and half up, no share changes by more than w/2, so the curvature is at most 1/4.
    """
    members, wanted = inside.astype(np.float32), shares.astype(np.float32)
    heights = np.zeros(members.shape[1], dtype=np.float32)
    weights = np.full(heights.size, 1 / heights.size, dtype=np.float32)
    for _ in range(steps):
        heights -= 4 * (members @ weights - wanted) @ members / len(wanted)
        weights = np.exp(heights - heights.max())
        weights /= weights.sum()
    return weights.astype(np.float64)
