"""Sums of the blocks of a pyramid, for tests and benchmarks that start from a whole table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray, Number
from core.models.fitting.pyramid import Pyramid


def block_sums(pyramid: Pyramid, table: NDArray[Number]) -> tuple[NDArray[Number], ...]:
    """The sum of every block, level by level; whole numbers stay whole numbers."""
    return tuple(_added(table, starts) for starts in pyramid.starts)


def _added(table: NDArray[Number], starts: tuple[IntArray, ...]) -> NDArray[Number]:
    for axis, places in enumerate(starts):
        table = np.add.reduceat(table, places, axis=axis)
    return table
