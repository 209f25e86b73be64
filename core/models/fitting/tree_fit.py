"""Fit a junction tree to noisy tables: maximum entropy within the noise.

Tables are fitted in turn, each to within its own noise (`slack.py`). A walk along the tree carries each change
to the next clique by one message (Jensen, Lauritzen and Olesen 1990), so that every table meets an exact marginal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.base.arrays import Columns, Floats
from core.models.fitting.slack import Slack
from core.models.fitting.triangulation import Structure
from core.models.junction_tree import JunctionTree


@dataclass(frozen=True, eq=False)
class _Target:
    """One table inside a clique, as shares."""

    axes: tuple[int, ...]
    """Axes of the clique that the table is summed over."""
    slack: Slack


def fit_tree(
    start: JunctionTree,
    tables: Mapping[Columns, Floats],
    sigmas: Mapping[Columns, float],
    sweeps: int = 30,
    slack: float = 1.0,
) -> JunctionTree:
    """The tree nearest to the start that meets every table to within its noise; each must lie inside a clique.

    **Runtime** O(sweeps x (cells of all cliques) x (tables per clique)).
    """
    structure = start.structure
    beliefs = [belief.copy() for belief in start.beliefs]
    targets: dict[int, list[_Target]] = {}
    for columns, table in tables.items():
        place = structure.holder(columns)
        if place is not None:
            target = _target(structure.cliques[place], columns, table, slack * sigmas[columns], start.total)
            targets.setdefault(place, []).append(target)
    walk = list(_walk(structure))
    axes = [_others(clique, structure.separator(place)) for place, clique in enumerate(structure.cliques)]
    shared = [belief.sum(axis=others) for belief, others in zip(beliefs, axes, strict=True)]

    def send(child: int, source: int) -> None:
        """Carry what `source` now says about a child's overlap across that edge."""
        target = structure.parents[child] if source == child else child
        separator = structure.separator(child)
        told = beliefs[source].sum(axis=_others(structure.cliques[source], separator))
        before = shared[child]
        ratio = np.divide(told, before, out=np.zeros_like(told), where=before > 0)
        beliefs[target] *= _spread(ratio, separator, structure.cliques[target])
        shared[child] = told

    for _ in range(sweeps):
        for place, child, source in walk:
            if child >= 0:
                send(child, source)
            for target in targets.get(place, ()) if source != child or child < 0 else ():
                mass = beliefs[place].sum(axis=target.axes, keepdims=True)
                beliefs[place] *= target.slack.factor(mass)
                beliefs[place] /= beliefs[place].sum()
    for child, parent in enumerate(structure.parents):
        if parent >= 0:
            send(child, parent)
        beliefs[child] /= beliefs[child].sum()
    return replace(start, beliefs=tuple(beliefs))


def _walk(structure: Structure) -> Iterator[tuple[int, int, int]]:
    """Steps (clique arrived at, child end of the edge or -1, clique left) down and up every tree."""
    children: dict[int, list[int]] = {}
    for place, parent in enumerate(structure.parents):
        children.setdefault(parent, []).append(place)

    for root in children.get(-1, ()):
        yield root, -1, -1
        path, ahead = [root], [iter(children.get(root, ()))]
        while path:
            child = next(ahead[-1], None)
            if child is not None:
                yield child, child, path[-1]
                path.append(child)
                ahead.append(iter(children.get(child, ())))
                continue
            left = path.pop()
            ahead.pop()
            if path:
                yield path[-1], left, left


def _target(clique: Columns, columns: Columns, table: Floats, slack: float, total: float) -> _Target:
    ordered = table.transpose([columns.index(name) for name in clique if name in columns])
    sizes = iter(ordered.shape)
    shares = ordered.reshape([next(sizes) if name in columns else 1 for name in clique]) / total
    return _Target(_others(clique, columns), Slack(shares, slack / total))


def _others(clique: Columns, columns: Columns) -> tuple[int, ...]:
    return tuple(axis for axis, name in enumerate(clique) if name not in columns)


def _spread(values: Floats, shared: Columns, clique: Columns) -> Floats:
    """Values over the shared columns (in the schema's order), shaped to multiply a clique."""
    sizes = iter(values.shape)
    return values.reshape([next(sizes) if name in shared else 1 for name in clique])
