"""The last steps of the tree mechanism: records are re-weighted to more tables, to ranges and to halfspaces."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.axes import centred
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.tree.coarse import Views, coarse_sums
from core.mechanisms.tree.columns import OneWay, slacks
from core.mechanisms.tree.lawfulness import MergedRules
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.noisy_halfspaces import Sides
from core.mechanisms.tree.pairs import Candidates, by_value
from core.mechanisms.tree.ranges import NestedCounts
from core.models import tables as limits
from core.models.fitting.consistency import agree, settle
from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import Goal, Pull, TableGoal, pulled
from core.models.junction_tree import JunctionTree
from core.models.points import Points
from core.models.tables import Tables
from core.queries.kit.grouped import GroupedTable

CLOSE = 0.9
"""Standard deviations to which records meet a table; the tree keeps a whole one. On a census table at epsilon 1, with
paired noise, pairs err by .0288 with .7, .0282 with .9 and .0283 with 1.1."""
ROUNDS, SWEEPS, ONLY_SWEEPS = 2, 6, 12
"""Times that halfspaces and tables are met in turn, and sweeps over the tables each time; and sweeps where they are
met but once. Sessions whose tables are met again later do with few sweeps before: on 14 census columns (epsilon 1,
three sessions) the mean error is .00073 with 6 and .00076 with 12, and opening takes 1.5 s instead of 2.0."""
MOST_PUBLISHED = 2**20
"""Cells of a table that is published beside the records, and of all that were asked but not measured."""
MOST_ASKED = 500
"""Tables that were asked but not measured are published up to this number: each is one more pass over the records."""
FEW_MOVED = 0.002
"""Share of the records that may be mended without being re-weighted again."""
LEAST_TRUST = 0.05
"""Below this weight a measured table adds nothing to the records."""

UNKNOWN = 0.4
"""Of the rows: how far two columns of which nothing is known are taken to be from independent: as with a correlation of
about a half, which lies as near to none as to a full one."""
MOST_UNSCORED = 100
"""Columns of which all pairs are taken to be unknown where none has a score."""


def draw_records(tree: JunctionTree, rules: MergedRules, most: int, generator: np.random.Generator) -> Points:
    """Several records for every row, of equal weight; at most so many."""
    size = int(np.clip(4 * tree.total, min(limits.FEWEST_POINTS, most), most))
    return rules.draw(tree, size, generator)


def measure_worst_tables(
    measuring: Measuring,
    records: Points,
    known: Noisy,
    weights: Mapping[Columns, float],
    scores: Fraction,
    part: Fraction,
) -> tuple[Noisy, Candidates]:
    """Score all tables against the records, also in bins, and measure those worth most; and how far each was off."""
    tables = [columns for columns in weights if min(records.domain.shape(columns)) > 1]
    fitted = records.marginals(tables)
    candidates = measuring.distances(tables, weights, [fitted[columns] for columns in tables], scores)
    power = measuring.spending.power

    def sigma_of(amounts: Floats) -> Floats:
        return measuring.spending.sigmas(amounts * float(part))

    chosen = by_value(candidates, power, sigma_of)
    if chosen.size:
        known = known.joined(measuring.tables(candidates.shares(chosen, power), part))
    return known, candidates


def measure_coarse(measuring: Measuring, views: Views, known: Noisy, pairs: Iterable[Columns], part: Fraction) -> Noisy:
    """Every pair that was not measured cell by cell, in a few parts by a few: some numbers each, which tell what ranges
    and frequent values of the two have to do with each other, however many cells they have."""
    asked = [
        pair for pair in views.in_parts(pair for pair in pairs if pair not in known.tables) if pair not in known.tables
    ]
    return known.joined(measuring.tables(dict.fromkeys(asked, 1.0), part)) if part and asked else known


def rake_to_tables(
    records: Points, known: Noisy, rules: MergedRules, ordered: Collection[str] = (), sweeps: int = ONLY_SWEEPS
) -> Points:
    """Re-weight records until they meet all tables as far as the noise lets them speak, and their sums over parts of
    these columns."""
    return replace(records, weights=pulled(records.weights, _pulls(records, known, rules, ordered), sweeps, CLOSE))


def _pulls(records: Points, known: Noisy, rules: MergedRules, ordered: Collection[str]) -> list[Pull]:
    masks, total = rules.masks(known.tables), records.total
    settled = settle(known.tables, known.sigmas, total, known.residual, allowed=masks)
    # an interaction is first made a table, without the cells that rules exclude in mind
    first = {columns: mask for columns, mask in masks.items() if columns not in known.residual}
    agreed = agree(known.tables, known.sigmas, total, known.residual, first)
    agreed = agree(agreed, known.sigmas, total, known.residual, masks) if masks else agreed
    sums = coarse_sums(agreed, known.sigmas, ordered) if ordered else {}
    more: dict[Columns, list[Goal]] = {columns: [goal] for columns, goal in sums.items()}
    for columns, goal in covariances(agreed, known.sigmas, rules).items():
        more.setdefault(columns, []).append(goal)
    return Pull.all_of(records, settled, slacks(known), more)


def covariances(
    tables: Mapping[Columns, Floats], sigmas: Mapping[Columns, float], rules: MergedRules
) -> dict[Columns, MomentGoal]:
    """What measured pairs of columns with an order, or with two values, say about how these move together.

    With them correlations err less, by .0557, .0167 and .0093 instead of .0641, .0200 and .0105 at epsilon .1, 1 and 10
    (a payroll that was looked at afterwards), .0196 instead of .0223 (census, 1), .0550, .0103 and .0040 instead of
    .0530, .0123 and .0053 (stays in hospital), and pairs by 0 to 3 % (three releases each, paired noise). Of an
    interaction they are met to within the noise of a cell, which is less than theirs (`_crowding`): with all of theirs
    pairs of yes/no columns err 3 % less at epsilon .1, but 5 and 10 % more at 1 and 10, and those of other tables as
    much as they do.
    """
    original = rules.compression.original
    found: dict[Columns, MomentGoal] = {}
    for columns, table in tables.items():
        sources = [original[rules.sources.get(name, name)] for name in columns]
        if len(columns) == 2 and all(each.ordered or each.size == 2 for each in sources) and min(table.shape) > 1:
            goal = MomentGoal.of(columns, table, sigmas[columns])
            if goal is not None:
                found[columns] = goal
    return found


def obey(
    records: Points, decoded: Points, known: Noisy, rules: MergedRules, views: Views, generator: np.random.Generator
) -> tuple[Points, Points]:
    """Decoded records that keep every rule, and the same as the tables see them; weights meet tables and known counts.

    Without rules nothing changes.
    """
    if not rules.lawfulness:
        return records, decoded
    settled = rules.settled(records, decoded, generator)
    moved = float(decoded.weights[(settled.codes != decoded.codes).any(axis=1)].sum())
    records = views.points(rules.merged(settled))
    if moved > FEW_MOVED * decoded.total:
        records = rake_to_tables(records, known, rules, views.ordered)
    decoded = rules.meet_counts(replace(settled, weights=records.weights))
    return replace(records, weights=decoded.weights), decoded


def rake_to_everything(
    records: Points,
    decoded: Points,
    known: Noisy,
    rules: MergedRules,
    nested: Iterable[NestedCounts],
    sides: Sequence[Sides],
    ordered: Collection[str] = (),
) -> Points:
    """Re-weight records to halfspaces and ranges, while they keep meeting the tables.

    `records` are seen as the tables see them, `decoded` are the same in the cells of the schema.
    """
    pulls = _pulls(records, known, rules, ordered)
    for each in nested:
        pulls += each.pulls(decoded)
    weights = decoded.weights
    pulls += rules.pulls(decoded)
    for _ in range(ROUNDS if sides else 1):
        for side in sides:
            weights = side.fit(weights)
        weights = pulled(weights, pulls, SWEEPS, CLOSE)
    return rules.meet_counts(replace(decoded, weights=weights))


def publish(
    one_way: OneWay,
    points: Points,
    decoded: Points,
    known: Noisy,
    rules: MergedRules,
    wanted: Sequence[Columns],
    scored: Candidates | None,
) -> Tables:
    """Records over the original cells, and tables that know more than whole rows drawn from those records.

    The records miss a noisy table by its noise and by their own error. What exceeds the noise, as a share of the whole
    squared distance, is how far the records are to be moved towards the table (James and Stein). Tables that are asked
    but were not measured are those of the weighted records, if they are few: rounding to whole rows adds an error
    (census data at epsilon 10: mean total variation .0118 from tables, .0122 from rows). Of ranges that were counted
    level by level the mean of counts and records is published: on columns of 65,536 cells and on pairs of 256 x 256 it
    errs as little as the better of the two, or less.
    """
    original, released = one_way.compression.original, {}
    masks = rules.masks(known.tables)
    settled = settle(known.tables, known.sigmas, one_way.total, known.residual, allowed=masks)
    asked = [columns for columns in wanted if columns]
    if len(asked) > MOST_ASKED or sum(original.cells(columns) for columns in asked) > MOST_PUBLISHED:
        asked = []
    tables = [
        columns
        for columns in dict.fromkeys((*settled, *asked))
        if all(name in original for name in columns) and original.cells(columns) <= MOST_PUBLISHED
    ]
    counted = points.marginals(tables)
    for columns in tables:
        fitted, trust = counted[columns], 0.0
        if columns in settled:
            told = columns not in known.residual
            missed = float(np.mean((known.tables[columns] - (fitted if told else centred(fitted))) ** 2))
            trust = max(1 - known.sigmas[columns] ** 2 / missed, 0.0) if missed > 0 else 0.0
            fitted = fitted + trust * (settled[columns] - fitted)
        if trust > LEAST_TRUST or len(columns) == 1 or columns in asked:
            released[columns] = one_way.compression.expanded(fitted, columns)
    for columns, nested in one_way.nested.items():
        if nested.cells.size <= MOST_PUBLISHED:
            released[columns] = (nested.cells + decoded.marginal(columns)) / 2
    if rules.lawfulness:
        released = {columns: rules.lawfulness.tables.applied(columns, table) for columns, table in released.items()}
    noted = rules.lawfulness.unknown(_measured(one_way, known))
    expected = _expected(one_way, known, scored.off() if scored else {})
    unsure, said = _missed(one_way, known, rules, scored), _told(one_way, known, rules)
    return Tables(original, released, decoded, noted, expected, unsure, said, one_way.measured)


def _told(one_way: OneWay, known: Noisy, rules: MergedRules) -> list[TableGoal | MomentGoal]:
    """What measured pairs say, over the values of the schema: counts, and covariances as the clearest view has them."""
    agreed = agree(known.tables, known.sigmas, one_way.total, known.residual, {})
    original, singles = rules.compression.original, one_way.counts
    counts: list[TableGoal | MomentGoal] = []
    clearest: dict[Columns, MomentGoal] = {}
    for columns, table in agreed.items():
        if len(columns) != 2 or min(table.shape) < 2:
            continue
        pair, sigma = tuple(rules.sources.get(name, name) for name in columns), known.sigmas[columns]
        groups = tuple(rules.groups_of(name) for name in columns)
        counts.append(TableGoal(pair, table, sigma, GroupedTable(pair, groups)))
        if all(original[name].ordered or original[name].size == 2 for name in pair):
            ones = [singles[name] for name in pair]
            noise = sigma * (_crowding(table.shape) if columns in known.residual else 1.0)
            goal = MomentGoal.of_groups(pair, table, noise, ones, groups)
            others = [each for each in (goal, clearest.get(pair)) if each is not None]
            if others:
                clearest[pair] = min(others, key=lambda each: each.unclear(one_way.total, ones))
    return [*counts, *clearest.values()]


def _crowding(shape: Sequence[int]) -> float:
    """A cell of an interaction has less noise than one of a table, but all of it lies where covariances do."""
    return 1 / math.sqrt(math.prod(1 - 1 / size for size in shape))


def _missed(one_way: OneWay, known: Noisy, rules: MergedRules, scored: Candidates | None) -> dict[Columns, float]:
    """Pairs of which neither the table nor a view in bins was measured, and by how many rows they may be off.

    A view in bins tells it better than the table itself, where chance alone makes most of the distance. What a score
    over groups of values tells is in proportion to what the groups show of the values; of a pair without a score, as
    where all values of a column were merged, nothing is known.
    """
    order, counts = rules.compression.original.names, one_way.counts
    if scored is None and len(order) > MOST_UNSCORED:
        return {}
    measured = {_pair_of(columns, rules) for columns in known.tables}
    found = {} if scored is None else {key: rows for key, rows in scored.missed().items() if len(key) == 2}
    in_bins = sorted(found, key=lambda columns: sum(name in rules.sources for name in columns))
    coarsest = {_pair_of(columns, rules): columns for columns in in_bins}
    typical = math.sqrt(sum(found[columns] ** 2 for columns in coarsest.values()) / max(len(coarsest), 1))
    every: dict[Columns, float] = {}
    for pair in combinations(order, 2):
        if pair in measured:
            continue
        # of columns without an order many such dependences at once exclude each other
        lined = all(rules.compression.original[name].ordered or counts[name].size == 2 for name in pair)
        most = UNKNOWN * one_way.total if lined else 0.0
        if (columns := coarsest.get(pair)) is None:
            every[pair] = max(typical, most)
            continue
        shown = math.prod(_shown(counts[rules.sources.get(name, name)], rules.groups_of(name)) for name in columns)
        every[pair] = max(found[columns], min(found[columns] / max(shown, 1e-9), most))
    return every


def _pair_of(columns: Columns, rules: MergedRules) -> Columns:
    """The columns of the schema behind merged ones or views, in its order."""
    return tuple(
        sorted((rules.sources.get(name, name) for name in columns), key=rules.compression.original.names.index)
    )


def _shown(counts: Floats, groups: NDArray[np.int64]) -> float:
    """How far groups of values lie from the middle of a column by ranks, where values by themselves would by 1."""
    held = np.maximum(counts, 0.0)
    if not held.sum() > 0:
        return 0.0
    shares = held / held.sum()
    ranks = np.cumsum(shares) - shares / 2 - 0.5
    among = np.bincount(groups, weights=shares * ranks)
    apart = float(shares @ np.abs(ranks))
    return float(np.abs(among).sum()) / apart if apart > 0 else 0.0


def _expected(one_way: OneWay, known: Noisy, off: Mapping[Columns, float]) -> dict[Columns, float]:
    """The mean error of a count: by the noise of what was measured, and by how far the records were found to be off.

    Errors of parts are taken as independent: an interaction is off by its own noise and by that of its single columns,
    and where rare values were merged the single column's noise stands for what is not known inside the group. The
    number of rows is off as well, in every table; all rows in wrong cells is the most there is.
    """
    original, groups = one_way.compression.original, one_way.compression.domain
    ones = {
        name: min(original[name].size * sigma * limits.HALF_NORMAL, 2 * one_way.total)
        for name, sigma in one_way.sigmas.items()
    }
    found: dict[Columns, float] = {(name,): rows for name, rows in ones.items()}
    for columns, nested in one_way.nested.items():
        found[columns] = nested.cells.size * nested.sigma(nested.cells.size) * limits.HALF_NORMAL
    for columns in (*known.sigmas, *off):
        if columns in found or not all(name in original for name in columns):
            continue
        noise = groups.cells(columns) * known.sigmas[columns] * limits.HALF_NORMAL if columns in known.sigmas else None
        if noise is not None and columns in known.residual:
            noise = math.hypot(noise, *(ones.get(name, 0.0) for name in columns))
        rows = min(each for each in (noise, off.get(columns)) if each is not None)
        merged = [ones.get(name, 0.0) for name in columns if not one_way.compression.groupings[name].trivial]
        found[columns] = math.hypot(rows, *merged)
    whole, most = one_way.total_sigma * limits.HALF_NORMAL, 2 * one_way.total
    return {columns: math.hypot(min(rows, most), whole) / original.cells(columns) for columns, rows in found.items()}


def _measured(one_way: OneWay, known: Noisy) -> dict[Columns, float]:
    """The tables over columns of the schema that were measured, with the noise in each cell where that is one number.

    It is not where rare values were merged, where ranges were counted level by level, or where a single ordered column
    was smoothed, which trades noise for bias. Of a pair whose interaction was measured, the noise of its single columns
    comes on top, spread over the cells under each of their values.
    """
    original, groupings = one_way.compression.original, one_way.compression.groupings
    nested, found = one_way.nested, dict.fromkeys(one_way.nested, math.nan)
    sigmas: dict[Columns, float] = {**known.sigmas, **{(name,): sigma for name, sigma in one_way.sigmas.items()}}
    for columns, sigma in sigmas.items():
        if columns in nested or not all(name in original for name in columns):
            continue
        variance = sigma**2
        if columns in known.residual:
            sizes = {name: original[name].size / original.cells(columns) for name in columns}
            variance += sum((one_way.sigmas.get(name, math.nan) * size) ** 2 for name, size in sizes.items())
        whole = all(groupings[name].trivial and (name,) not in nested for name in columns)
        smoothed = len(columns) == 1 and original[columns[0]].ordered
        found[columns] = math.sqrt(variance) if whole and not smoothed else math.nan
    return found
