"""The last steps of the tree mechanism: records are re-weighted to more tables, to ranges and to halfspaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns, Floats
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.tree.columns import OneWay
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.pairs import by_value
from core.mechanisms.tree.planes import Sides
from core.mechanisms.tree.ranges import NestedCounts
from core.models import tables as limits
from core.models.fitting.consistency import settle
from core.models.fitting.raking import Pull, places, pulled, rake
from core.models.junction_tree import JunctionTree
from core.models.points import Points
from core.models.tables import Tables

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


def draw_records(tree: JunctionTree, generator: np.random.Generator) -> Points:
    """Several records for every row, of equal weight."""
    size = int(np.clip(4 * tree.total, limits.FEWEST_POINTS, limits.MOST_POINTS))
    return Points(tree.domain, tree.sample(size, generator), np.full(size, tree.total / size))


def measure_worst_tables(
    measuring: Measuring,
    records: Points,
    known: Noisy,
    weights: Mapping[Columns, float],
    scores: Fraction,
    part: Fraction,
) -> Noisy:
    """Score all tables against the records, also in bins, and measure those worth most."""
    tables = [columns for columns in weights if min(records.domain.shape(columns)) > 1]
    candidates = measuring.distances(tables, weights, [records.marginal(columns) for columns in tables], scores)
    power = measuring.spending.power

    def sigma_of(amounts: Floats) -> Floats:
        return measuring.spending.sigmas(amounts * float(part))

    chosen = by_value(candidates, power, sigma_of)
    return known.joined(measuring.tables(candidates.shares(chosen, power), part)) if chosen.size else known


def rake_to_tables(records: Points, known: Noisy) -> Points:
    """Re-weight records until they meet all tables as far as the noise lets them speak."""
    return rake(records, settle(known.tables, known.sigmas, records.total), known.sigmas, slack=CLOSE)


def rake_to_everything(
    records: Points, decoded: Points, known: Noisy, nested: Iterable[NestedCounts], sides: Sequence[Sides]
) -> Points:
    """Re-weight records to halfspaces and ranges, while they keep meeting the tables.

    `records` are seen as the tables see them, `decoded` are the same in the cells of the schema.
    """
    settled = settle(known.tables, known.sigmas, decoded.total)
    pulls = [Pull.of(places(records, columns), table, known.sigmas[columns]) for columns, table in settled.items()]
    for each in nested:
        pulls += each.pulls(decoded)
    weights = decoded.weights
    for _ in range(ROUNDS if sides else 1):
        for side in sides:
            weights = side.fit(weights)
        weights = pulled(weights, pulls, SWEEPS, CLOSE)
    return replace(decoded, weights=weights)


def publish(one_way: OneWay, points: Points, decoded: Points, known: Noisy, wanted: Sequence[Columns]) -> Tables:
    """Records over the original cells, and tables that know more than whole rows drawn from those records.

    The records miss a noisy table by its noise and by their own error. What exceeds the noise, as a share of the whole
    squared distance, is how far the records are to be moved towards the table (James and Stein). Tables that are asked
    but were not measured are those of the weighted records, if they are few: rounding to whole rows adds an error
    (census data at epsilon 10: mean total variation .0128 from tables, .0141 from rows). Of ranges that were counted
    level by level the mean of counts and records is published: on columns of 65,536 cells and on pairs of 256 x 256 it
    errs as little as the better of the two, or less.
    """
    original, released = one_way.compression.original, {}
    settled = settle(known.tables, known.sigmas, one_way.total)
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
            released[columns] = one_way.compression.expanded(fitted, columns)
    for columns, nested in one_way.nested.items():
        if nested.cells.size <= MOST_PUBLISHED:
            released[columns] = (nested.cells + decoded.marginal(columns)) / 2
    return Tables(original, released, decoded)
