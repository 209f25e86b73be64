"""Cells that no record can have: taken out of a junction tree, which stays one, and of a start of two columns.

A model times a table of zeros and ones over the columns of one clique is the model under the condition that no record
has such a cell. One walk towards the roots and one back carry what that says to all other cliques (Jensen, Lauritzen
and Olesen 1990).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.base.arrays import Columns, Flags, Floats
from core.base.axes import stretched
from core.models.junction_tree import JunctionTree

SWEEPS = 30


def without_cells(tree: JunctionTree, allowed: Mapping[Columns, Flags]) -> JunctionTree:
    """The tree under the condition that only allowed cells occur; tables that lie in no clique are left aside.

    A tree in which nothing would be left stays as it is.
    """
    structure = tree.structure
    beliefs = [belief.copy() for belief in tree.beliefs]
    shared = [_summed(beliefs[place], place, tree) for place in range(len(beliefs))]
    for columns, mask in allowed.items():
        place = structure.holder(columns)
        if place is not None:
            beliefs[place] *= stretched(mask.astype(np.float64), columns, structure.cliques[place])

    def send(child: int, source: int, target: int) -> None:
        separator = structure.separator(child)
        told = _onto(beliefs[source], structure.cliques[source], separator)
        ratio = np.divide(told, shared[child], out=np.zeros_like(told), where=shared[child] > 0)
        beliefs[target] *= stretched(ratio, separator, structure.cliques[target])
        shared[child] = told

    for child, parent in reversed(list(enumerate(structure.parents))):
        if parent >= 0:
            send(child, child, parent)
    for child, parent in enumerate(structure.parents):
        if parent >= 0:
            send(child, parent, child)
    if any(not belief.sum() > 0 for belief in beliefs):
        return tree
    return replace(tree, beliefs=tuple(belief / belief.sum() for belief in beliefs))


def quasi_independent(left: Floats, right: Floats, allowed: Flags) -> Floats:
    """The table of two columns with these shares that is nearest to independence where only some cells can occur."""
    table = np.multiply.outer(left, right) * allowed
    for _ in range(SWEEPS):
        for axis, shares in ((1, left), (0, right)):
            held = table.sum(axis=axis)
            factor = np.divide(shares, held, out=np.zeros_like(held), where=held > 0)
            table = table * np.expand_dims(factor, axis)
    return table


def _summed(belief: Floats, place: int, tree: JunctionTree) -> Floats:
    return _onto(belief, tree.structure.cliques[place], tree.structure.separator(place))


def _onto(belief: Floats, clique: Columns, columns: Columns) -> Floats:
    return np.asarray(belief.sum(axis=tuple(axis for axis, name in enumerate(clique) if name not in columns)))
