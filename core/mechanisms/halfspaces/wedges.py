"""Planes counted in groups: a row lies in one wedge between the planes of a group, so a group costs what one does.

For each pair of opposite wedges, rows in one minus rows in the other are asked (`halfspaces.Wedges`). From these
differences follows, for every plane of the group, rows inside minus rows outside: the sum of all differences with a
sign of their own.

**Accuracy** with Laplace noise, three planes asked one by one have noise of variance 18/epsilon^2 each (a third of
epsilon for each); the four differences of their group have 2/epsilon^2 each, so the planes 8/epsilon^2. Groups of two,
four or five gain less. In two dimensions m planes make m differences only, and a plane has 2 m/epsilon^2 instead of
2 m^2/epsilon^2. Gaussian noise on K planes grows with sqrt(K) only: groups of one are best there.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import IntArray
from core.kernel.halfspaces import Space, Wedges
from core.models.fitting.halfspace_weights import Signs


def grouped(space: Space, normals: IntArray, groups: int) -> Wedges:
    """Planes in so many groups of equal size; in two dimensions they are turned to a half circle and sorted."""
    if space.dimensions == 2:
        angles = np.arctan2(normals[:, 1], normals[:, 0])
        normals = np.where(((angles < 0) | (angles == np.pi))[:, None], -normals, normals)
        normals = normals[np.argsort(angles % np.pi, kind="stable")]
    return Wedges(space, normals.reshape(groups, -1, space.dimensions))


def features(wedges: Wedges, lines: IntArray) -> Signs:
    """What each point adds to each difference, group after group, one point per column: 1, -1 or 0."""
    found = np.zeros((len(wedges.normals) * wedges.width, len(lines)), dtype=np.float32)
    places, signs = wedges.placed(lines)
    np.put_along_axis(found, places, signs.astype(np.float32), axis=0)
    return found
