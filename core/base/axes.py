"""Arrays whose axes have names: sums over the columns that are not asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats, Number


def summed(table: NDArray[Number], names: Sequence[str], columns: Sequence[str]) -> NDArray[Number]:
    """The table over `names`, summed down to `columns` and laid out in their order.

    >>> summed(np.arange(6).reshape(2, 3), ("a", "b"), ("b",)).tolist()
    [3, 5, 7]
    """
    kept = [names.index(column) for column in columns]
    table = table.sum(axis=tuple(axis for axis in range(len(names)) if axis not in kept))
    ranks = sorted(kept)
    return np.asarray(table).transpose([ranks.index(axis) for axis in kept])


def stretched(values: NDArray[Number], columns: Sequence[str], names: Sequence[str]) -> NDArray[Number]:
    """A table over `columns`, shaped so that it broadcasts against an array whose axes are `names`."""
    ordered = values.transpose([columns.index(name) for name in names if name in columns])
    sizes = iter(ordered.shape)
    return ordered.reshape([next(sizes) if name in columns else 1 for name in names])


def centred(table: Floats) -> Floats:
    """A table without its sums over any axis: what it says beyond all smaller tables of its columns.

    >>> centred(np.array([[3.0, 1.0], [1.0, 3.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
