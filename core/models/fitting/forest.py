"""A forest of column pairs: the simplest model of a whole table that keeps the strongest dependencies.

Chow and Liu's choice: among all forests the maximum spanning one, here with the distance from independence (beyond
what noise alone would show) as the weight. Used as the starting point from which records are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.axes import summed
from core.models.drawing.rounding import systematic
from core.models.fitting.consistency import noise_floor
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Forest:
    """Columns in an order in which each depends on at most one earlier column."""

    domain: Domain
    order: tuple[str, ...]
    parents: Mapping[str, str]
    tables: Mapping[str, Floats]
    """For a column with a parent its joint counts (parent, column); for a root its own counts."""

    def sample(self, rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Records with every tree edge's joint counts kept to within rounding.

        Rows with the same parent value get that value's share of each child value by systematic rounding, in an order
        that is random within the group, so that siblings stay independent given the parent.
        """
        codes = np.zeros((rows, len(self.domain)), dtype=np.int64, order="F")  # written and read column by column
        place = {name: axis for axis, name in enumerate(self.domain.names)}
        for column in self.order:
            parent = self.parents.get(column)
            groups = codes[:, place[parent]] if parent is not None else np.zeros(rows, dtype=np.int64)
            joint = self.tables[column] if parent is not None else self.tables[column][None, :]
            codes[:, place[column]] = _children(groups, joint, generator)
        return codes


def _children(groups: NDArray[np.int64], joint: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    """One child value per row, drawn from the line of `joint` that its group names."""
    # a stable sort of short codes takes linear time, so the random order within groups comes from shuffling before it
    shuffled = generator.permutation(groups.size)
    short = groups.astype(np.min_scalar_type(joint.shape[0] - 1))
    by_group = shuffled[np.argsort(short[shuffled], kind="stable")]
    sizes = np.bincount(groups, minlength=joint.shape[0])
    own = joint.sum(axis=0)
    drawn = np.empty(groups.size, dtype=np.int64)
    start = 0
    for group in np.flatnonzero(sizes):
        line = joint[group] if joint[group].sum() > 0 else own
        taken = systematic(line, int(sizes[group]), generator)
        stop = start + int(sizes[group])
        drawn[by_group[start:stop]] = np.repeat(np.arange(taken.size), taken)
        start = stop
    return drawn


def fit_forest(domain: Domain, tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float]) -> Forest:
    """The strongest forest that the given tables support; columns in no table are uniform."""
    # Imported here: it takes a while, and a page must not wait for it.
    import networkx as nx

    ones, pairs, noise = _margins(domain, tables, sigmas)
    graph = nx.Graph()
    graph.add_nodes_from(domain.names)
    for (left, right), table in pairs.items():
        total = table.sum()
        independent = np.outer(ones[left], ones[right]) / total if total > 0 else table
        gain = float(np.abs(table - independent).sum()) - noise_floor(table.size, noise[left, right])
        if gain > 0:
            graph.add_edge(left, right, weight=gain)
    forest = nx.maximum_spanning_tree(graph)
    order: list[str] = []
    parents: dict[str, str] = {}
    for component in nx.connected_components(forest):
        root = max(component, key=lambda name: (forest.degree(name), name))
        order.append(root)
        for parent, child in nx.bfs_edges(forest, root):
            order.append(child)
            parents[child] = parent
    joint = {child: _oriented(pairs, parents[child], child) for child in parents}
    return Forest(domain, tuple(order), parents, {**ones, **joint})


def _margins(
    domain: Domain, tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float]
) -> tuple[dict[str, Floats], dict[Columns, Floats], dict[Columns, float]]:
    """Every column's and every pair's counts, each from the table that shows it with the least noise."""
    ones: dict[str, Floats] = {name: np.ones(domain[name].size) for name in domain.names}
    pairs: dict[Columns, Floats] = {}
    noise: dict[Columns, float] = {}
    best: dict[str, float] = {}
    for columns, table in tables.items():
        for axis, name in enumerate(columns):
            sigma = sigmas[columns] * (table.size / table.shape[axis]) ** 0.5
            if sigma < best.get(name, np.inf):
                best[name] = sigma
                ones[name] = summed(table, columns, (name,))
        for key in combinations(columns, 2):
            sigma = sigmas[columns] * (table.size / domain.cells(key)) ** 0.5
            if sigma < noise.get(key, np.inf):
                noise[key], pairs[key] = sigma, summed(table, columns, key)
    return ones, pairs, noise


def _oriented(pairs: Mapping[Columns, Floats], parent: str, child: str) -> Floats:
    return pairs[parent, child] if (parent, child) in pairs else pairs[child, parent].T
