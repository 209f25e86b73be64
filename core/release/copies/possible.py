"""Covariances that one table can have all at once.

What is known of covariances is known pair by pair: of some a noisy number, of those that were missed a size without its
sign. Where columns hang together closely such numbers exclude each other: if a follows b and c, the sign of b with c is
settled. Records that are to meet them all meet each of them half, as if hardly anything hung together. Therefore signs
are drawn several times and turned one by one as long as that brings the correlations nearer to some that can be; then
the nearest such are taken (alternating projections, Dykstra 1983, Higham 2002). No direction gets less spread than a
part of what is not known of a correlation: noise makes the smallest spreads too small, and often negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.models.fitting.moments import MomentGoal
from core.models.points import Points

Either = tuple[MomentGoal, MomentGoal]
"""A covariance in one direction and in the other."""
Matrix = NDArray[np.float64]
Place = tuple[int, int]
DRAWN, TURNED = 8, 60
"""How often signs are drawn, and how many of them are turned at most each time."""
MANY = 40
"""Columns above which signs are drawn but once."""
LEAST_SPREAD, ROUNDS = 0.25, 40
"""The least variance of a direction, in standard deviations of a correlation, and rounds to find what is nearest."""


def possible(
    points: Points, sure: Sequence[MomentGoal], either: Sequence[Either], generator: np.random.Generator
) -> list[MomentGoal]:
    """All these covariances, of each two one, moved as far as it takes for one table to have them.

    Columns without an order have other values in each pair, so their covariances stay as they are. **Runtime**
    O(columns^3 x signs turned).
    """
    first = [*sure, *(each[int(generator.integers(2))] for each in either)]
    names = [name for name in _ordered(points) if any(name in goal.columns for goal in first)]
    places = {
        at: (names.index(goal.columns[0]), names.index(goal.columns[1]))
        for at, goal in enumerate(first)
        if all(name in names for name in goal.columns)
    }
    if not places:
        return first
    total, start = max(points.total, 1e-9), correlations(points, names)
    free = {at: each for at, each in enumerate(either, len(sure)) if at in places}
    least = LEAST_SPREAD * math.sqrt(float(np.mean([(first[at].sigma / total) ** 2 for at in places])))
    found: list[MomentGoal] = []
    nearest = math.inf
    for again in range(DRAWN if len(names) <= MANY else 1):
        drawn = dict(enumerate(first)) | _drawn(free, places, len(names), bool(again % 2), generator)
        matrix = start.copy()
        for at, place in places.items():
            _put(matrix, place, drawn[at].target / total)
        beyond = _turn(matrix, drawn, free, places, total)
        if beyond < nearest:
            found, nearest, best = list(drawn.values()), beyond, matrix
        if not beyond > 0:
            break
    best = nearest_possible(best, least)
    return [
        replace(goal, target=float(best[places[at]]) * total) if at in places else goal for at, goal in enumerate(found)
    ]


def nearest_possible(matrix: Matrix, least: float) -> Matrix:
    """The nearest correlations with which every direction has at least this variance."""
    if np.linalg.eigvalsh(matrix)[0] >= least:
        return matrix
    found, left = matrix, np.zeros_like(matrix)
    for _ in range(ROUNDS):
        levels, axes = np.linalg.eigh(found - left)
        spread: Matrix = (axes * np.maximum(levels, least)) @ axes.T
        left = spread - (found - left)
        found = spread.copy()
        np.fill_diagonal(found, 1.0)
    return found


def correlations(points: Points, names: Sequence[str]) -> Matrix:
    """Correlations of the records' values; 0 where a column has but one."""
    values = points.codes[:, [points.domain.names.index(name) for name in names]].astype(np.float64)
    shares = points.weights / max(points.total, 1e-9)
    values -= shares @ values
    spread = np.sqrt(shares @ values**2)
    values = np.divide(values, spread, out=np.zeros_like(values), where=spread > 0)
    found: Matrix = (values * shares[:, None]).T @ values
    np.fill_diagonal(found, 1.0)
    return found


def _ordered(points: Points) -> list[str]:
    return [each.name for each in points.domain if each.ordered or each.size == 2]


def _drawn(
    free: Mapping[int, Either], places: Mapping[int, Place], columns: int, alone: bool, generator: np.random.Generator
) -> dict[int, MomentGoal]:
    """Signs of each pair, or of each column, of which a pair has the product."""
    signs = generator.choice((-1.0, 1.0), columns)
    found = {}
    for at, both in free.items():
        one, two = places[at]
        up = generator.random() < 0.5 if alone else signs[one] * signs[two] > 0
        found[at] = max(both, key=lambda each: each.target) if up else min(both, key=lambda each: each.target)
    return found


def _turn(
    matrix: Matrix, drawn: dict[int, MomentGoal], free: Mapping[int, Either], places: Mapping[int, Place], total: float
) -> float:
    """Turn signs for the better, in the matrix and in the covariances, and say how far it then is from possible."""
    left, now = set(free), _beyond(matrix)
    for _ in range(min(TURNED, len(free))):
        if not now > 0:
            break
        levels, axes = np.linalg.eigh(matrix)
        slope = (axes * np.minimum(levels, 0.0)) @ axes.T
        others = {at: _other(free[at], drawn[at]) for at in left}
        at = min(left, key=lambda at: float(slope[places[at]]) * (others[at].target - drawn[at].target))
        before = float(matrix[places[at]])
        _put(matrix, places[at], others[at].target / total)
        turned = _beyond(matrix)
        if not turned < now:
            _put(matrix, places[at], before)
            break
        drawn[at], now = others[at], turned
        left.remove(at)
    return now


def _other(both: Either, one: MomentGoal) -> MomentGoal:
    return both[1] if one is both[0] else both[0]


def _put(matrix: Matrix, place: Place, value: float) -> None:
    one, two = place
    matrix[one, two] = matrix[two, one] = value


def _beyond(matrix: Matrix) -> float:
    """How far correlations are from any that can be: the squared size of what has a negative variance."""
    return float((np.minimum(np.linalg.eigvalsh(matrix), 0.0) ** 2).sum())
