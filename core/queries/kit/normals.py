"""A public net of directions: the same for everyone who knows how many columns there are, and never from data."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from core.base.arrays import IntArray

MOST_BITS = 24
"""With coordinates on a grid of 2^-20 and up to 256 of them every dot product is below 2^53: exact in floats."""
_TRIES = 6


@lru_cache(maxsize=32)
def net(columns: int, translated: bool, count: int, bits: int) -> IntArray:
    """At most `count` different normals with coordinates of `bits` bits, one per line; fewer where no more exist.

    The first `count` points of the generalised golden-ratio sequence, which fills the cube evenly at every length, are
    carried to the sphere by the normal quantile function; an offset is uniform between -1 and 1 for a unit normal.
    """
    found = np.zeros((0, columns + translated), dtype=np.int64)
    for double in range(_TRIES):
        even = _even(count << double, columns + translated)
        directions = ndtri(even[:, :columns])
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        offsets = 2 * even[:, columns:] - 1
        rounded = discretised(np.concatenate([directions, offsets], axis=1), bits)
        first = np.sort(np.unique(rounded, axis=0, return_index=True)[1])
        found = rounded[first][:count]
        if len(found) == count:
            break
    found.flags.writeable = False
    return found


def discretised(normals: NDArray[np.float64], bits: int) -> IntArray:
    """Normals whose largest coordinate is 2^(bits-2): b-discretised halfspaces (B definition 6.2).

    A power of two keeps halves and quarters exact, and with its sign it still fits into `bits` bits.
    """
    largest = np.abs(normals).max(axis=-1, keepdims=True)
    return np.rint(normals / np.where(largest > 0, largest, 1.0) * 2 ** (bits - 2)).astype(np.int64)


def _even(count: int, dimension: int) -> NDArray[np.float64]:
    """Points k/g, k/g^2, .. modulo 1, where g^(dimension+1) = g + 1; shifted off the faces of the cube."""
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    points = (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0
    return np.clip(points, 1e-9, 1 - 1e-9)
