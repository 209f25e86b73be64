"""The last steps of the tree mechanism: records are re-weighted to more tables, to ranges and to halfspaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.pairs import MOST_CLIQUE, by_value
from core.mechanisms.tree.planes import Sides
from core.mechanisms.tree.ranges import Ladder
from core.mechanisms.tree.steps import Desk, Noisy, Singles, shares_of
from core.models.fitting.consistency import settle
from core.models.fitting.raking import Pull, places, pulled, rake
from core.models.points import Points
from core.models.protocol import Floats
from core.models.tables import Tables
from core.queries.kit.protocol import Columns
from core.schema.domain import Domain

CLOSE = 0.7
"""Standard deviations to which records meet a table; the tree, which has to generalise more, keeps a whole one."""
ROUNDS, SWEEPS = 2, 6
"""Times that halfspaces and tables are met in turn, and sweeps over the tables each time."""
MOST_PUBLISHED = 2**20
"""Cells of a table that is published beside the records, and of all that were asked but not measured."""
MOST_ASKED = 500
"""Tables that were asked but not measured are published up to this number: each is one more pass over the records."""
LEAST_TRUST = 0.05
"""Below this weight a measured table adds nothing to the records."""


def records_next(
    desk: Desk,
    views: Views,
    points: Points,
    known: Noisy,
    weights: Mapping[Columns, float],
    scores: Fraction,
    part: Fraction,
) -> tuple[Points, Noisy]:
    """Score all tables against the records, also in bins; measure the worst, and re-weight the records."""
    wide = views.points(points)
    tables = [columns for columns in weights if min(wide.domain.shape(columns)) > 1]
    candidates = desk.distances(tables, weights, [wide.marginal(columns) for columns in tables], scores)

    def sigma_of(shares: Floats) -> Floats:
        return desk.purse.sigmas(shares * float(part))

    chosen = by_value(candidates, desk.purse.power, sigma_of)
    if chosen.size:
        known = known.joined(desk.tables(shares_of(candidates, chosen, desk.purse.power), part))
    raked = rake(wide, settle(known.tables, known.sigmas, points.total), known.sigmas, slack=CLOSE)
    return replace(points, weights=raked.weights), known


def all_together(
    wide: Points, decoded: Points, known: Noisy, ladders: Iterable[Ladder], sides: Sequence[Sides]
) -> Points:
    """Re-weight records to halfspaces and ranges, while they keep meeting the tables.

    `wide` are the records as the tables see them, `decoded` the same records in the cells of the schema.
    """
    settled = settle(known.tables, known.sigmas, decoded.total)
    pulls = [Pull.of(places(wide, columns), table, known.sigmas[columns]) for columns, table in settled.items()]
    for each in ladders:
        pulls += each.pulls(decoded)
    weights = decoded.weights
    for _ in range(ROUNDS if sides else 1):
        for side in sides:
            weights = side.fit(weights)
        weights = pulled(weights, pulls, SWEEPS, CLOSE)
    return replace(decoded, weights=weights)


def fits(columns: Columns, domain: Domain) -> bool:
    """Whether a wanted table of three or more columns is small enough to be measured itself."""
    return len(columns) > 2 and domain.cells(columns) <= MOST_CLIQUE and min(domain.shape(columns)) > 1


def published(
    singles: Singles, points: Points, decoded: Points, known: Noisy, wanted: Sequence[Columns]
) -> Tables:
    """Records over the original cells, and tables that know more than whole rows drawn from those records.

    The records miss a noisy table by its noise and by their own error. What exceeds the noise, as a share of the whole
    squared distance, is how far the records are to be moved towards the table (James and Stein). Tables that are asked
    but were not measured are those of the weighted records, if they are few: rounding to whole rows adds an error
    (census data at epsilon 10: mean total variation .0128 from tables, .0141 from rows). Of ranges that were counted
    level by level the mean of counts and records is published: on columns of 65,536 cells and on pairs of 256 x 256 it
    errs as little as the better of the two, or less.
    """
    original, held = singles.compression.original, {}
    settled = settle(known.tables, known.sigmas, singles.total)
    asked = [columns for columns in wanted if columns]
    if len(asked) > MOST_ASKED or sum(original.cells(columns) for columns in asked) > MOST_PUBLISHED:
        asked = []
    for columns in dict.fromkeys((*settled, *asked)):
        if not all(name in original for name in columns) or original.cells(columns) > MOST_PUBLISHED:
            continue
        fitted, trust = points.marginal(columns), 0.0
        if columns in settled:
            missed = float(np.mean((known.tables[columns] - fitted) ** 2))
            trust = max(1 - known.sigmas[columns] ** 2 / missed, 0.0) if missed > 0 else 0.0
            fitted = fitted + trust * (settled[columns] - fitted)
        if trust > LEAST_TRUST or len(columns) == 1 or columns in asked:
            held[columns] = singles.compression.expanded(fitted, columns)
    for columns, ladder in singles.ladders.items():
        if ladder.cells.size <= MOST_PUBLISHED:
            held[columns] = (ladder.cells + decoded.marginal(columns)) / 2
    return Tables(original, held, decoded)
