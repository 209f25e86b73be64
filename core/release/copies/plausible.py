"""Tables that the private one may be: records of a release with all that is not known of them drawn.

A release leaves open what was not measured, and its records are bent towards independence by the noise of what was.
A plausible table is drawn from public numbers only:

- it is a sample of the records, so that counts which nobody measured differ by chance;
- a pair that was not measured may be off by so many rows (`Tables.missed`): it gets a covariance of that size;
- of a pair that was measured the noisy table tells a covariance without the bias of records that fit noisy counts
  (`Tables.told`): it gets one about that, with the noise that it has, and more where the table sees groups of values.

Records then meet single columns as they are released, the counts of pairs as far as noise lets them speak, and at last
these covariances: met before the counts they would be lost again, because all cells may be off by their noise to the
same side. On tables whose columns hang together closely that made origins as bent as the records. Everything here is
post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.base.arrays import Codes, Columns, Floats
from core.models.fitting.moments import MomentGoal, standard
from core.models.fitting.raking import Pull, TableGoal, places, pulled
from core.models.points import Points
from core.models.protocol import Model
from core.models.tables import Tables
from core.release.copies.possible import Either, possible
from core.release.copies.tilting import tilted

FURTHEST = 3.0
"""A value's distance from the middle of its column, in standard deviations, counts as this much at most."""
LOOSE = 2.0
"""Standard deviations to which counts of pairs are met: those of the table are seldom further from the noisy ones."""
ROUNDS, SWEEPS = 5, 3
"""Times that covariances and counts are met in turn, and passes over the counts each time."""
BENT = 0.3
"""How far a correlation of the records is from the table's as a rule, before the noisy covariance is looked at."""
LEAST_SEEN = 0.05
"""Part of a covariance that a table over groups has to see; of less it tells nothing."""
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
    about = [_about(goal, points, generator) for goal in told if isinstance(goal, MomentGoal)]
    moments = [goal for goal in about if goal is not None][:MOST_PAIRS]
    worst = sorted(missed, key=lambda pair: -missed[pair])[: MOST_PAIRS - len(moments)]
    either = [_beside(pair, missed[pair], points, generator) for pair in worst]
    moments = possible(points, moments, either, generator)
    pulls = [_loosely(goal, records) for goal in told if isinstance(goal, TableGoal)]
    pulls += Pull.all_of(records, singles, dict.fromkeys(singles, 0.0))
    for _ in range(ROUNDS):
        records = replace(records, weights=pulled(records.weights, pulls, SWEEPS))
        records = tilted(records, moments, singles, generator)
    return records


def _loosely(goal: TableGoal, records: Points) -> Pull:
    shape = records.domain.shape(goal.columns)
    return Pull(places(records, goal.columns), goal.columns, shape, (replace(goal, sigma=LOOSE * goal.sigma),))


def _about(goal: MomentGoal, points: Points, generator: np.random.Generator) -> MomentGoal | None:
    """A covariance of values that the table may have: about the noisy one, nearer to the records' where noise is large.

    Of a table over groups it is that of the groups' means, divided by the part that they have of the values' spread.
    """
    counts = [points.marginal((name,)) for name in goal.columns]
    (left, right), seen = (standard(each) for each in counts), goal.seen(counts)
    if left is None or right is None or not seen > LEAST_SEEN:
        return None
    table, total, scores = points.marginal(goal.columns), max(points.total, 1e-9), np.multiply.outer(left, right)
    held, apart = float((table * scores).sum()), (goal.target - float((table * goal.scores).sum())) / seen
    noise = goal.unclear(total, counts)
    trust = 1 / (1 + (noise / (BENT * total)) ** 2)
    wanted = float(generator.normal(held + trust * apart, noise * math.sqrt(trust)))
    return MomentGoal(goal.columns, scores, wanted, noise)


def _beside(pair: Columns, rows: float, points: Points, generator: np.random.Generator) -> Either:
    """The covariance of a pair that is off by so many rows, in either direction."""
    (left, one), (right, two) = (_ranks(points, name, generator) for name in pair)
    scores = np.multiply.outer(left, right)
    held = float((points.marginal(pair) * scores).sum())
    moved = rows / (one * two) if one * two > 0 else 0.0
    return MomentGoal(pair, scores, held + moved, moved), MomentGoal(pair, scores, held - moved, moved)


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
