"""Columns with few groups of cells, so that every pair of columns has a table that fits a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Floats, IntArray
from core.queries.kit.protocol import Source
from core.schema.domain import Attribute

MOST_RANGES, MOST_NAMED = 16, 32
"""Groups of an ordered column, and of a list of values; 'other' and 'missing' stay groups of their own."""


def groups_of(attribute: Attribute) -> IntArray:
    """The group of every cell: neighbouring cells of an ordered column together, the last values of a long list.

    The schema alone decides, so two tables are always compared by the same groups.
    """
    regular, most = attribute.regular, MOST_RANGES if attribute.ordered else MOST_NAMED
    cells = np.arange(regular, dtype=np.int64)
    if attribute.ordered and regular > most:
        cells = cells * most // regular
    inside = np.minimum(cells, most - 1)
    rest = np.arange(attribute.size - regular, dtype=np.int64) + int(inside[-1]) + 1
    return np.concatenate([inside, rest])


def labels_of(attribute: Attribute) -> list[str]:
    """What each group is called."""
    groups = groups_of(attribute)
    found = []
    for group in range(int(groups[-1]) + 1):
        cells = np.flatnonzero(groups == group)
        first, last = attribute.label(int(cells[0])), attribute.label(int(cells[-1]))
        if len(cells) == 1:
            found.append(first)
        else:
            found.append(f"{first} … {last}" if attribute.ordered else f"{len(cells):,} other values")
    return found


def shares(source: Source, columns: Sequence[str]) -> Floats:
    """The share of the rows in every group of one or two columns; what noise made negative counts as nothing."""
    table = np.maximum(np.asarray(source.marginal(columns), dtype=np.float64), 0.0)
    for axis, name in enumerate(columns):
        groups = groups_of(source.domain[name])
        table = np.add.reduceat(table, np.flatnonzero(np.diff(groups, prepend=-1)), axis=axis)
    return table / max(float(table.sum()), 1e-300)
