"""From pairs of columns to a tree of cliques: the least filling-in that makes exact inference possible.

Columns are nodes, wanted pairs are edges. Eliminating the columns one by one, each time the one whose neighbourhood
has the fewest cells, turns the graph into a chordal one (Kjaerulff 1990, minimum weight); its maximal cliques, joined
along their largest overlaps, form a junction tree (Jensen and Jensen 1994).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Clique = frozenset[str]


@dataclass(frozen=True)
class Structure:
    """Cliques of columns, each after its parent; a clique without a parent starts a tree of its own."""

    cliques: tuple[tuple[str, ...], ...]
    parents: tuple[int, ...]
    """Place of the parent, or -1."""

    def separator(self, place: int) -> tuple[str, ...]:
        """The columns that a clique shares with its parent."""
        parent = self.parents[place]
        above = self.cliques[parent] if parent >= 0 else ()
        return tuple(column for column in self.cliques[place] if column in above)

    def holder(self, columns: Iterable[str]) -> int | None:
        """The clique that holds all these columns, if there is one."""
        wanted = set(columns)
        return next((place for place, clique in enumerate(self.cliques) if wanted <= set(clique)), None)


def triangulate(sizes: Mapping[str, int], edges: Iterable[tuple[str, ...]]) -> list[Clique]:
    """Maximal cliques of a chordal graph that holds all edges; every column is in at least one."""
    near: dict[str, set[str]] = {name: set() for name in sizes}
    for left, right in edges:
        near[left].add(right)
        near[right].add(left)
    logs = {name: math.log(size) for name, size in sizes.items()}
    weight = {name: logs[name] + sum(map(logs.__getitem__, near[name])) for name in sizes}
    cliques: list[Clique] = []
    while weight:
        _, column = min(zip(weight.values(), weight, strict=True))
        around = near.pop(column)
        del weight[column]
        clique = frozenset(around | {column})
        if not any(clique <= larger for larger in cliques):
            cliques.append(clique)
        for other in around:
            near[other] |= around
            near[other] -= {other, column}
        for other in around:
            weight[other] = logs[other] + sum(map(logs.__getitem__, near[other]))
    return cliques


def cells_of(sizes: Mapping[str, int], clique: Iterable[str]) -> int:
    return math.prod(sizes[column] for column in clique)


def join(names: Sequence[str], cliques: Sequence[Clique]) -> Structure:
    """The junction tree of maximal cliques of a chordal graph: a maximum spanning tree by size of the overlap."""
    place = {name: axis for axis, name in enumerate(names)}
    left = list(range(len(cliques)))
    overlap = [0] * len(cliques)
    towards = [-1] * len(cliques)
    order: list[int] = []
    while left:
        chosen = max(left, key=lambda index: (overlap[index], len(cliques[index]), -index))
        left.remove(chosen)
        order.append(chosen)
        for index in left:
            shared = len(cliques[index] & cliques[chosen])
            if shared > overlap[index]:
                overlap[index], towards[index] = shared, chosen
    rank = {index: position for position, index in enumerate(order)}
    return Structure(
        tuple(tuple(sorted(cliques[index], key=place.__getitem__)) for index in order),
        tuple(rank[towards[index]] if towards[index] >= 0 else -1 for index in order),
    )
