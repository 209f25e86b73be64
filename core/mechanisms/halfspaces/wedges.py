"""Planes counted in groups: a row lies in one wedge between the planes of a group, so a group costs what one does.

Take the planes of a group through the origin. A row is on the positive or negative side of each; rows whose sides are
all opposite lie in opposite wedges. For each pair of opposite wedges, rows in one minus rows in the other are asked.
From these differences follows, for every plane of the group, rows inside minus rows outside: the sum of all differences
with a sign of their own.

**Privacy** a row adds 1 or -1 to one difference of a group and nothing to the others (nothing at all if a coordinate is
missing), so a unit moves a group's differences by at most unit.l1 in L1, hence also in L2.

**Accuracy** with Laplace noise, three planes asked one by one have noise of variance 18/epsilon^2 each (a third of
epsilon for each); the four differences of their group have 2/epsilon^2 each, so the planes 8/epsilon^2. Groups of two,
four or five gain less. In two dimensions m planes make m differences only, and a plane has 2 m/epsilon^2 instead of
2 m^2/epsilon^2. Gaussian noise on K planes grows with sqrt(K) only: groups of one are best there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.models.fitting.halfspace_weights import Signs
from core.models.protocol import Floats
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.table.counts import Counts

Integers = NDArray[np.int64]

BLOCK = 2**21
"""Products held at a time."""


@dataclass(frozen=True, eq=False)
class Wedges:
    """Normals of planes: shape (groups, planes of a group, dimensions); sorted by angle in two dimensions."""

    normals: Integers

    @classmethod
    def of(cls, normals: Integers, groups: int) -> Wedges:
        """Planes in so many groups of equal size; in two dimensions they are turned to a half circle and sorted."""
        if normals.shape[1] == 2:
            angles = np.arctan2(normals[:, 1], normals[:, 0])
            normals = np.where(((angles < 0) | (angles == np.pi))[:, None], -normals, normals)
            normals = normals[np.argsort(angles % np.pi, kind="stable")]
        return cls(normals.reshape(groups, -1, normals.shape[1]))

    @property
    def width(self) -> int:
        """Pairs of opposite wedges in a group."""
        planes, dimensions = self.normals.shape[1:]
        return planes if dimensions == 2 else 2 ** (planes - 1)

    def ask(
        self, counts: Counts, query: Halfspaces, noise: NoiseSource, event: Laplace | Gaussian, unit: Unit
    ) -> Floats:
        """Noisy differences, group after group; each group costs one event."""
        return np.concatenate([_noisy(noise, event, unit, group) for group in self.differences(counts, query)])

    def differences(self, counts: Counts, query: Halfspaces) -> Integers:
        """For each group and pair of opposite wedges, rows in the first minus rows in the second; exact."""
        codes, times = counts.points(query.axes(counts.domain))
        found = np.zeros(len(self.normals) * self.width, dtype=np.int64)
        step = max(1, BLOCK // self.normals[..., 0].size)
        for start in range(0, len(codes), step):
            lines, present = query.points(counts.domain, codes[start : start + step])
            places, signs = self._placed(lines[present])
            weights = signs * times[start : start + step][present]
            # Sums of counts stay below 2^53, so floats are exact here.
            found += np.bincount(places.ravel(), weights.ravel(), minlength=found.size).astype(np.int64)
        return found.reshape(len(self.normals), self.width)

    def features(self, lines: Integers) -> Signs:
        """What each point adds to each difference, one point per column: 1, -1 or 0."""
        features = np.zeros((len(self.normals) * self.width, len(lines)), dtype=np.float32)
        places, signs = self._placed(lines)
        np.put_along_axis(features, places, signs.astype(np.float32), axis=0)
        return features

    def _placed(self, lines: Integers) -> tuple[Integers, Integers]:
        """For every group (lines) and point (columns): which difference the point belongs to, and with which sign."""
        groups, planes, dimensions = self.normals.shape
        # Products stay below 2^53, so floats are exact here.
        heights = self.normals.reshape(-1, dimensions).astype(np.float64) @ lines.T.astype(np.float64)
        inside = (heights >= 0).reshape(groups, planes, len(lines))
        agrees = inside[:, 1:] == inside[:, :1]
        # Planes in two dimensions are sorted by angle: how many agree with the first says where a point is.
        powers = np.ones(planes - 1) if dimensions == 2 else 2.0 ** np.arange(planes - 1)
        place = np.einsum("p,gpn->gn", powers, agrees).astype(np.int64)
        first = np.arange(groups)[:, None] * self.width
        return place + first, np.where(inside[:, 0], 1, -1)


def _noisy(noise: NoiseSource, event: Laplace | Gaussian, unit: Unit, differences: Integers) -> Floats:
    if isinstance(event, Laplace):
        found = noise.laplace(differences, epsilon=event.epsilon, sensitivity=unit.l1)
    else:
        found = noise.gaussian(differences, rho=event.rho, sensitivity_squared=unit.l1**2)
    return found.astype(np.float64)
