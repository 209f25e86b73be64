"""The coarse table around a question: what is measured in its place, because it costs the same and teaches more.

A row lies in one group of a table, so all groups together cost what one number does. The question itself stays one
group, and so it is answered with the noise of one number; what is outside of it is cut as finely as `MOST_TABLE`
allows, because where an answer is far off, the whole table of its columns is.
"""

from __future__ import annotations

import math

import numpy as np

from core.base.arrays import Floats, IntArray
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, Measurement
from core.kernel.query import Query
from core.kernel.tables import Marginal
from core.mechanisms.online.reading import MOST_TABLE, one_cell
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import Source
from core.schema.domain import Domain, Integers
from core.table.views import Recoding

LARGEST = 2**17
"""Combinations of the columns of a question; of more, it is measured alone."""


def table_around(question: Query, known: Source) -> GroupedTable | None:
    """The coarse table around a question of which it is one cell; None if it is a cell of none.

    `known` is public: the heaviest groups outside of the question are cut by what it says of single columns.
    """
    if not question.columns or not 1 < question.weights.size <= LARGEST:
        return None
    domain = known.domain
    groups = [_constant(question.weights, axis, domain[name].ordered) for axis, name in enumerate(question.columns)]
    least = GroupedTable(question.columns, tuple(groups))
    if math.prod(least.shape) > MOST_TABLE:
        return None
    inside = least.picked(question.weights)
    if not one_cell(Query(columns=question.columns, weights=inside, denominator=question.denominator)):
        return None
    masses = [np.asarray(known.marginal((name,)), dtype=np.float64) for name in question.columns]
    return GroupedTable(question.columns, tuple(_cut(groups, inside, masses)))


def measure_groups(kernel: Kernel, table: GroupedTable, event: Additive) -> Measurement:
    """All groups of a table at the price of an event: the rows are seen through the groups, which are public."""
    recodings = {name: Recoding(name, each) for name, each in zip(table.columns, table.groups, strict=True)}
    columns = [Integers(name=name, low=0, high=size - 1) for name, size in zip(table.columns, table.shape, strict=True)]
    return kernel.recoded(Domain(tuple(columns)), recodings).measure(Marginal(table.columns), event)


def _constant(weights: IntArray, axis: int, ordered: bool) -> IntArray:
    """Values of a column that the question does not tell apart, as groups; in an ordered one only neighbours."""
    along = np.moveaxis(weights, axis, 0).reshape(weights.shape[axis], -1)
    if ordered:
        changes = (along[1:] != along[:-1]).any(axis=1)
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)
    places: dict[bytes, int] = {}
    return np.array([places.setdefault(line.tobytes(), len(places)) for line in along], dtype=np.int64)


def _cut(groups: list[IntArray], inside: IntArray, masses: list[Floats]) -> list[IntArray]:
    """The groups outside of a question, the heaviest first, cut in two as long as the table may grow."""
    asked = [
        np.flatnonzero(np.moveaxis(inside, axis, 0).reshape(size, -1).any(axis=1)).tolist()
        for axis, size in enumerate(inside.shape)
    ]
    found = [each.copy() for each in groups]
    while True:
        sizes = [int(each.max()) + 1 for each in found]
        heaviest: tuple[float, int, IntArray] | None = None
        for axis, each in enumerate(found):
            if math.prod(sizes) // sizes[axis] * (sizes[axis] + 1) > MOST_TABLE:
                continue
            for group in range(sizes[axis]):
                members = np.flatnonzero(each == group)
                mass = float(masses[axis][members].sum())
                if group not in asked[axis] and members.size > 1 and (heaviest is None or mass > heaviest[0]):
                    heaviest = mass, axis, members
        if heaviest is None:
            return found
        _, axis, members = heaviest
        heights = np.cumsum(masses[axis][members])
        half = int(np.clip(np.searchsorted(heights, heights[-1] / 2) + 1, 1, members.size - 1))
        found[axis][members[half:]] = sizes[axis]
