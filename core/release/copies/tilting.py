"""Many covariances of weighted records at once: of all re-weightings that have them about the nearest.

Met one after the other, covariances of columns that hang together closely undo each other for long; so all pushes are
found together, by Newton's method on the dual (weights proportional to exp(scores . push), Csiszár 1975). Two more
scores for each column, its values and their squares, are kept as they are, so that a tilt moves how columns hang
together and not how far each of them spreads. **Runtime** O(records x (pairs + columns)^2 x steps).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import places
from core.models.points import Points

STEPS = 12
FURTHEST = 3.0
"""By what power of e one step changes a record at most."""
GIVEN = 0.0001
"""What a correlation may miss for each unit of its push: covariances that exclude each other meet in the middle."""
MOST_NUMBERS = 2**23
"""Scores of records that are looked at for a step; of more records so many are drawn."""


def tilted(
    points: Points, goals: Sequence[MomentGoal], singles: Mapping[Columns, Floats], generator: np.random.Generator
) -> Points:
    """Records whose scores have about these sums, and single columns about these means and spreads."""
    columns = [_spread(singles[name,]) for name in points.domain.names]
    wanted = np.array([goal.target for goal in goals]) / max(points.total, 1e-9)
    targets = np.concatenate([wanted, np.tile([0.0, 1.0], len(columns))])
    few = _few(points, MOST_NUMBERS // targets.size, generator)
    scores = np.stack(list(_scores(few, goals, columns)), axis=1)
    push = _push(few.weights, scores, targets)
    power = np.zeros(len(points.codes))
    for share, each in zip(push, _scores(points, goals, columns), strict=True):
        power += share * each
    weights = points.weights * np.exp(power - power.max())
    return replace(points, weights=weights * (points.total / float(weights.sum())))


def _few(points: Points, most: int, generator: np.random.Generator) -> Points:
    """So many of the records, or all where there are no more."""
    if len(points.codes) <= most:
        return points
    taken = generator.choice(len(points.codes), most, replace=False)
    return replace(points, codes=points.codes[taken], weights=points.weights[taken])


def _scores(points: Points, goals: Sequence[MomentGoal], columns: Sequence[Floats]) -> list[Floats]:
    pairs = [goal.scores.ravel()[places(points, goal.columns)] for goal in goals]
    return pairs + [each[points.codes[:, place]] for place, both in enumerate(columns) for each in both]


def _spread(counts: Floats) -> Floats:
    """Distances of a column's values from their mean, in standard deviations, and the squares of these."""
    shares, values = counts / max(float(counts.sum()), 1e-9), np.arange(counts.size)
    apart = values - shares @ values
    apart = apart / max(float(np.sqrt(shares @ apart**2)), 1e-9)
    return np.stack([apart, apart**2])


def _push(weights: Floats, scores: Floats, targets: Floats) -> NDArray[np.float64]:
    """The push of each score, with which their means are about as wanted."""
    push, tilt = np.zeros(targets.size), weights / float(weights.sum())
    start = tilt
    for _ in range(STEPS):
        means = tilt @ scores
        spread = (scores * tilt[:, None]).T @ scores - np.outer(means, means)
        step = np.linalg.solve(spread + GIVEN * np.eye(targets.size), targets - means - GIVEN * push)
        push = push + step * min(1.0, FURTHEST / max(float(np.abs(scores @ step).max()), 1e-9))
        power = scores @ push
        tilt = start * np.exp(power - power.max())
        tilt = tilt / float(tilt.sum())
    return push
