"""The steps of the tree mechanism: columns, distances, tables in the tree, tables of the records.

Each step asks `noise` for integers whose sensitivity `purse.py` and `measurement.py` state; everything else works on
noisy answers. What a step asks depends on the schema and on earlier noisy answers only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from core.counts import Counts
from core.domain import Domain
from core.mechanisms.coarse import Views
from core.mechanisms.compression import Compression, Grouping
from core.mechanisms.measurement import measure
from core.mechanisms.pair_choice import Candidates, by_value, structured
from core.mechanisms.purse import Purse
from core.models.consistency import settle
from core.models.points import Points
from core.models.projection import simplex
from core.models.protocol import Floats
from core.models.raking import rake
from core.models.smoothing import smooth
from core.models.tree import JunctionTree
from core.models.tree_fit import fit_tree
from core.models.triangulation import join
from core.noise import NoiseSource
from core.queries.protocol import Columns

RARE = 2.5
"""Values below this many standard deviations of their noise are merged."""
SMOOTHED = 0.7
"""How much of the noise smoothing leaves, about."""
FEW_ROWS = 1_500
"""Below this n sqrt(rho) single columns get a larger share: pairs can hardly be measured."""
CLOSE = 0.7
"""Standard deviations to which records meet a table; the tree, which has to generalise more, keeps a whole one."""
LARGEST_TOTAL = 2.0**50


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy tables, each with the standard deviation of its cells."""

    tables: Mapping[Columns, Floats]
    sigmas: Mapping[Columns, float]

    def joined(self, other: Noisy) -> Noisy:
        """Both; a table measured twice is averaged by inverse variance."""
        tables, sigmas = dict(self.tables), dict(self.sigmas)
        for columns, table in other.tables.items():
            if columns not in tables:
                tables[columns], sigmas[columns] = table, other.sigmas[columns]
                continue
            mine, theirs = sigmas[columns] ** -2, other.sigmas[columns] ** -2
            tables[columns] = (mine * tables[columns] + theirs * table) / (mine + theirs)
            sigmas[columns] = (mine + theirs) ** -0.5
        return Noisy(tables, sigmas)


@dataclass(frozen=True, eq=False)
class Desk:
    """What every step needs: the private counts, the noise and the purse."""

    counts: Counts
    noise: NoiseSource
    purse: Purse

    def tables(self, shares: Mapping[Columns, float], part: Fraction) -> Noisy:
        """Noisy tables that together take this part of the purse."""
        taken = [measure(self.counts, portion, self.noise) for portion in self.purse.split(shares, part)]
        return Noisy(
            {table.columns: table.values.astype(np.float64) for table in taken},
            {table.columns: table.sigma for table in taken},
        )

    def distances(
        self, columns: Sequence[Columns], weights: Mapping[Columns, float], models: Sequence[Floats], part: Fraction
    ) -> Candidates:
        """Noisy distances of all these tables from the model's, which are rounded to whole rows first."""
        exact = np.array(
            [
                np.abs(self.counts.marginal(key) - np.rint(model).astype(np.int64)).sum()
                for key, model in zip(columns, models, strict=True)
            ],
            dtype=np.int64,
        )
        noisy, sigma = self.purse.scores(self.noise, exact, part)
        return Candidates.of(columns, weights, models, noisy, sigma)


def rows_first(desk: Desk, part: Fraction) -> tuple[float, float]:
    """The number of rows and its standard deviation: public, or bought with a small part."""
    if desk.counts.public_rows is not None:
        return float(desk.counts.public_rows), 0.0
    rows, sigma = desk.purse.total(desk.noise, int(desk.counts.marginal(())), part)
    return min(max(rows, 1.0), LARGEST_TOTAL), sigma


def column_share(purse: Purse, rows: float) -> Fraction:
    """The part of the purse that single columns get."""
    reach = rows / (float(purse.sigmas(np.ones(1))[0]) * math.sqrt(2))
    return Fraction(3, 10) if reach > FEW_ROWS else Fraction(11, 20)


@dataclass(frozen=True, eq=False)
class Singles:
    """Estimated counts of single columns that sum to one total, and how rare values were merged."""

    total: float
    ones: Mapping[str, Floats]
    sigmas: Mapping[str, float]
    compression: Compression

    def noisy(self) -> Noisy:
        """The columns' groups as noisy tables."""
        shares = self.shares()
        return Noisy(
            {(name,): self.total * shares[name] for name in self.sigmas if shares[name].size > 1},
            {(name,): sigma for name, sigma in self.sigmas.items()},
        )

    def shares(self) -> dict[str, Floats]:
        """The share of every group of every column."""
        groupings = self.compression.groupings
        merged = {name: groupings[name].merged(counts, 0) for name, counts in self.ones.items()}
        return {name: counts.astype(np.float64) / self.total for name, counts in merged.items()}


def independent(singles: Singles, domain: Domain) -> JunctionTree:
    """Independent columns."""
    structure = join(domain.names, [frozenset([name]) for name in domain.names])
    return JunctionTree.independent(domain, singles.total, structure, singles.shares())


def columns_next(desk: Desk, names: Sequence[str], rows: tuple[float, float], part: Fraction) -> Singles:
    """Measure the single columns, take noise out of ordered ones, and merge rare values."""
    domain = desk.counts.domain
    noisy = desk.tables({(name,): domain[name].size ** desk.purse.power for name in names}, part)
    total = _total(noisy, rows)
    ones, groupings, sigmas = {}, {}, {}
    for name in domain.names:
        if (name,) not in noisy.tables:
            groupings[name] = Grouping.rare(np.ones(domain[name].size), math.inf)
            ones[name] = np.full(domain[name].size, total / domain[name].size)
            continue
        values, sigma = noisy.tables[name,], noisy.sigmas[name,]
        if domain[name].ordered:
            regular = domain[name].regular
            values = np.concatenate([smooth(values[:regular], sigma), values[regular:]])
            sigmas[name] = SMOOTHED * sigma
        else:
            sigmas[name] = sigma
        ones[name] = simplex(values, total)
        groupings[name] = Grouping.rare(ones[name], RARE * sigma)
    return Singles(total, ones, sigmas, Compression(domain, groupings))


def _total(noisy: Noisy, rows: tuple[float, float]) -> float:
    """The number of rows from its own noisy count and the tables' sums, by inverse variance."""
    counted, sigma = rows
    if sigma == 0:
        return max(counted, 1.0)
    weight, summed = sigma**-2, counted * sigma**-2
    for columns, table in noisy.tables.items():
        own = 1 / (table.size * noisy.sigmas[columns] ** 2)
        weight, summed = weight + own, summed + own * float(table.sum())
    return min(max(summed / weight, 1.0), LARGEST_TOTAL)


def tree_next(
    desk: Desk, singles: Singles, weights: Mapping[Columns, float], scores: Fraction, part: Fraction
) -> tuple[JunctionTree, Noisy]:
    """Score all pairs against independence, measure those worth most in a tree of cliques, and fit it."""
    domain, total = desk.counts.domain, singles.total
    ones = singles.shares()
    pairs = [pair for pair in weights if min(domain.shape(pair)) > 1]
    models = [total * np.multiply.outer(ones[left], ones[right]) for left, right in pairs]
    candidates = desk.distances(pairs, weights, models, scores)

    def sigma_of(shares: Floats) -> Floats:
        return desk.purse.sigmas(shares * float(part))

    chosen, structure = structured(candidates, ones, desk.purse.power, sigma_of)
    start = JunctionTree.independent(domain, total, structure, ones)
    if not chosen.size:
        return start, singles.noisy()
    noisy = desk.tables(_shares(candidates, chosen, desk.purse.power), part).joined(singles.noisy())
    return fit_tree(start, settle(noisy.tables, noisy.sigmas, total), noisy.sigmas), noisy


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
        known = known.joined(desk.tables(_shares(candidates, chosen, desk.purse.power), part))
    raked = rake(wide, settle(known.tables, known.sigmas, points.total), known.sigmas, slack=CLOSE)
    return replace(points, weights=raked.weights), known


def _shares(candidates: Candidates, chosen: np.ndarray, power: float) -> dict[Columns, float]:
    return {
        candidates.columns[index]: float(candidates.weights[index] * candidates.cells[index]) ** power
        for index in chosen
    }
