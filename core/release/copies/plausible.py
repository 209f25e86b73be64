"""Tables that the private one may be: records of a release with all that is not known of them drawn.

A release leaves open what was not measured, and its records are bent towards independence by the noise of what was.
A plausible table is drawn from public numbers only:

- it is a sample of the records, so that counts which nobody measured differ by chance;
- a pair that was not measured may be off by so many rows (`Tables.missed`): it gets a covariance of that size;
- of a pair that was measured the noisy table tells a covariance without the bias of records that fit noisy counts
  (`Tables.told`): it gets one about that, with the noise that it has.

Records then meet these covariances, the counts of pairs as far as noise lets them speak, and single columns as they are
released. Everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.base.arrays import Codes, Columns, Floats
from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import Pull, TableGoal, places, pulled
from core.models.points import Points
from core.models.protocol import Model
from core.models.tables import Tables
from core.release.copies.tilting import tilted

FURTHEST = 3.0
"""A value's distance from the middle of its column, in standard deviations, counts as this much at most."""
LOOSE = 2.0
"""Standard deviations to which counts of pairs are met: those of the table are seldom further from the noisy ones."""
ROUNDS, SWEEPS = 5, 3
"""Times that covariances and counts are met in turn, and passes over the counts each time."""
BENT = 0.3
"""How far a correlation of the records is from the table's as a rule, before the noisy covariance is looked at."""
MOST_PAIRS = 200
"""Pairs whose covariances are drawn: those that were measured first, then those that may be off most. Tables of up to
20 columns have no more."""


def plausible(released: Model, rows: int, generator: np.random.Generator) -> Codes:
    """So many records of a table that a released model leaves possible."""
    if not isinstance(released, Tables) or not (released.missed or released.told):
        return released.sample(rows, generator)
    return redrawn(released.points, released.missed, released.told, rows, generator).sample(rows, generator)


def redrawn(
    points: Points,
    missed: Mapping[Columns, float],
    told: Sequence[TableGoal | MomentGoal],
    rows: int,
    generator: np.random.Generator,
) -> Points:
    """A sample of so many of the records, with other covariances, and with all else as it was measured."""
    total = max(points.total, 1e-9)
    times = generator.poisson(points.weights * (rows / total))
    if not times.any():
        return points
    records = Points(points.domain, points.codes[times > 0], times[times > 0] * (total / times.sum()))
    singles = points.marginals([(name,) for name in points.domain.names])
    moments = [_about(goal, points, generator) for goal in told if isinstance(goal, MomentGoal)]
    moments += [
        _beside(pair, missed[pair], points, generator) for pair in sorted(missed, key=lambda pair: -missed[pair])
    ]
    pulls = [_loosely(goal, records) for goal in told if isinstance(goal, TableGoal)]
    pulls += Pull.all_of(records, singles, dict.fromkeys(singles, 0.0))
    for _ in range(ROUNDS):
        records = tilted(records, moments[:MOST_PAIRS], singles, generator)
        records = replace(records, weights=pulled(records.weights, pulls, SWEEPS))
    return records


def _loosely(goal: TableGoal, records: Points) -> Pull:
    shape = records.domain.shape(goal.columns)
    return Pull(places(records, goal.columns), goal.columns, shape, (replace(goal, sigma=LOOSE * goal.sigma),))


def _about(goal: MomentGoal, points: Points, generator: np.random.Generator) -> MomentGoal:
    """A covariance that the table may have: about the noisy one, and nearer to the records' where noise is large."""
    held = float((points.marginal(goal.columns) * goal.scores).sum())
    trust = 1 / (1 + (goal.sigma / (BENT * max(points.total, 1e-9))) ** 2)
    middle, spread = held + trust * (goal.target - held), goal.sigma * math.sqrt(trust)
    return replace(goal, target=float(generator.normal(middle, spread)))


def _beside(pair: Columns, rows: float, points: Points, generator: np.random.Generator) -> MomentGoal:
    """The covariance of a pair that is off by so many rows, in a direction that is drawn."""
    (left, one), (right, two) = (_ranks(points, name, generator) for name in pair)
    scores = np.multiply.outer(left, right)
    held = float((points.marginal(pair) * scores).sum())
    moved = rows / (one * two) if one * two > 0 else 0.0
    return MomentGoal(pair, scores, held + float(generator.choice((-1.0, 1.0))) * moved, 0.0)


def _ranks(points: Points, name: str, generator: np.random.Generator) -> tuple[Floats, float]:
    """How far each value lies from the middle of its column by ranks, and how far those of records do on average.

    A column without an order is given any.
    """
    counts = points.marginal((name,))
    order = np.arange(counts.size) if points.domain[name].ordered else generator.permutation(counts.size)
    shares = counts / max(points.total, 1e-9)
    scores = np.empty(counts.size)
    scores[order] = np.cumsum(shares[order]) - shares[order] / 2
    scores -= shares @ scores
    spread = float(np.sqrt(shares @ scores**2))
    if not spread > 0:
        return np.zeros(counts.size), 0.0
    scores = np.clip(scores / spread, -FURTHEST, FURTHEST)
    return scores, float(shares @ np.abs(scores))
