"""The first steps of the tree mechanism: columns, distances, and tables in the tree.

Each step asks `noise` for integers whose sensitivity `purse.py` and `measurement.py` state; everything else works on
noisy answers. What a step asks depends on the schema and on earlier noisy answers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from core.mechanisms.kit.portions import Measurement, Portion, measure
from core.mechanisms.kit.spending import Purse
from core.mechanisms.tree.compression import Compression, Grouping
from core.mechanisms.tree.pairs import MOST_CLIQUE, Candidates, structured
from core.mechanisms.tree.ranges import Ladder, climb, ladder
from core.mechanisms.tree.workload import Workload
from core.models.denoising.priors import shrunk_counts
from core.models.denoising.smoothing import smooth
from core.models.fitting.consistency import settle
from core.models.fitting.pyramid import Estimate
from core.models.fitting.simplex import simplex
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import Structure, cells_of, join, triangulate
from core.models.junction_tree import JunctionTree
from core.models.protocol import Floats
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.queries.kit.protocol import Columns
from core.schema.domain import Domain
from core.table.counts import Counts

RARE = 2.5
"""Values below this many standard deviations of their noise are merged."""
SMOOTHED = 0.7
"""How much of the noise smoothing leaves, about."""
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


def noted(taken: Iterable[Measurement]) -> Noisy:
    """Measurements by their columns."""
    listed = list(taken)
    return Noisy(
        {table.columns: table.values.astype(np.float64) for table in listed},
        {table.columns: table.sigma for table in listed},
    )


@dataclass(frozen=True, eq=False)
class Desk:
    """What every step needs: the private counts, the noise and the purse."""

    counts: Counts
    noise: NoiseSource
    purse: Purse

    def tables(self, shares: Mapping[Columns, float], part: Fraction) -> Noisy:
        """Noisy tables that together take this part of the purse."""
        return noted([measure(self.counts, portion, self.noise) for portion in self.purse.split(shares, part)])

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


@dataclass(frozen=True, eq=False)
class Singles:
    """Estimated counts of single columns that sum to one total, and how rare values were merged."""

    total: float
    ones: Mapping[str, Floats]
    sigmas: Mapping[str, float]
    compression: Compression
    ladders: Mapping[Columns, Ladder]
    """Ranges that were counted level by level."""

    def noisy(self) -> Noisy:
        """The columns' groups as noisy tables."""
        shares = self.shares()
        return Noisy(
            {(name,): self.total * shares[name] for name in self.sigmas if shares[name].size > 1},
            {(name,): sigma for name, sigma in self.sigmas.items()},
        )

    def ranges(self) -> Noisy:
        """Ranges over two or three columns as tables over groups."""
        wide = {columns: each for columns, each in self.ladders.items() if len(columns) > 1}
        tables = {columns: each.merged(self.compression) for columns, each in wide.items()}
        return Noisy(tables, {columns: wide[columns].sigma(table.size) for columns, table in tables.items()})

    def shares(self) -> dict[str, Floats]:
        """The share of every group of every column."""
        groupings = self.compression.groupings
        merged = {name: groupings[name].merged(counts, 0) for name, counts in self.ones.items()}
        return {name: counts.astype(np.float64) / self.total for name, counts in merged.items()}


def columns_next(
    desk: Desk, workload: Workload, rows: tuple[float, float], events: Mapping[Columns, Laplace | Gaussian]
) -> Singles:
    """Measure single columns and ranges, take noise out of ordered columns, and merge rare values."""
    domain, unit, ladders = desk.counts.domain, desk.counts.unit, workload.ladders()
    taken = [
        measure(desk.counts, Portion(columns, event), desk.noise)
        for columns, event in events.items()
        if columns not in ladders
    ]
    noisy = noted(taken)
    climbed = {
        columns: climb(desk.counts, ladder(domain, columns, events[columns], unit), desk.noise) for columns in ladders
    }
    total = _total(noisy, climbed.values(), rows)
    levels = {columns: Ladder.of(columns, estimate, total) for columns, estimate in climbed.items()}
    ones, groupings, sigmas = {}, {}, {}
    for name in domain.names:
        if (name,) in levels:
            ones[name], groupings[name], sigmas[name] = levels[name,].column(domain[name].regular, total, RARE)
            continue
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
            values = shrunk_counts(values, sigma, total)
            sigmas[name] = sigma
        ones[name] = simplex(values, total)
        groupings[name] = Grouping.rare(ones[name], RARE * sigma)
    return Singles(total, ones, sigmas, Compression(domain, groupings), levels)


def _total(noisy: Noisy, climbed: Iterable[Estimate], rows: tuple[float, float]) -> float:
    """The number of rows from its own noisy count, the tables' sums and those of the levels, by inverse variance."""
    counted, sigma = rows
    if sigma == 0:
        return max(counted, 1.0)
    weight, summed = sigma**-2, counted * sigma**-2
    for columns, table in noisy.tables.items():
        own = 1 / (table.size * noisy.sigmas[columns] ** 2)
        weight, summed = weight + own, summed + own * float(table.sum())
    for estimate in climbed:
        own = 1 / float(estimate.variances[0].sum())
        weight, summed = weight + own, summed + own * float(estimate.values[0].sum())
    return min(max(summed / weight, 1.0), LARGEST_TOTAL)


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree of independent columns in the chosen structure, and the noisy tables that it is to be fitted to."""

    start: JunctionTree
    known: Noisy

    def fitted(self) -> JunctionTree:
        """The tree of maximum entropy within the noise."""
        if all(len(columns) == 1 for columns in self.known.tables):
            return self.start
        settled = settle(self.known.tables, self.known.sigmas, self.start.total)
        return fit_tree(self.start, settled, self.known.sigmas)


def tree_next(
    desk: Desk, singles: Singles, weights: Mapping[Columns, float], scores: Fraction, part: Fraction
) -> Grown:
    """Score all pairs against independence, and measure those worth most in a tree of cliques."""
    domain, total = desk.counts.domain, singles.total
    ones = singles.shares()
    ranges = singles.ranges()
    known = ranges.joined(singles.noisy())
    structure, chosen = join(domain.names, triangulate(dict(zip(domain.names, domain.sizes, strict=True)), ())), []
    if weights:
        pairs = list(weights)
        models = [total * np.multiply.outer(ones[left], ones[right]) for left, right in pairs]
        candidates = desk.distances(pairs, weights, models, scores)

        def sigma_of(shares: Floats) -> Floats:
            return desk.purse.sigmas(shares * float(part))

        best, structure = structured(candidates, ones, desk.purse.power, sigma_of)
        chosen = [pairs[index] for index in best]
        if chosen:
            known = desk.tables(shares_of(candidates, best, desk.purse.power), part).joined(known)
    if ranges.tables:
        structure = _joined(domain, chosen, list(ranges.tables))
    return Grown(JunctionTree.independent(domain, total, structure, ones), known)


def _joined(domain: Domain, chosen: Sequence[Columns], more: Sequence[Columns]) -> Structure:
    """A tree of cliques that holds the chosen pairs, and further tables as long as its cliques stay small."""
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    held = list(chosen)
    for columns in more:
        if columns not in held:
            pairs = [*held, *combinations(columns, 2)]
            if max(cells_of(sizes, clique) for clique in triangulate(sizes, pairs)) <= MOST_CLIQUE:
                held = pairs
    return join(domain.names, triangulate(sizes, held))


def shares_of(candidates: Candidates, chosen: np.ndarray, power: float) -> dict[Columns, float]:
    """What each chosen table gets, in proportion."""
    return {
        candidates.columns[index]: float(candidates.weights[index] * candidates.cells[index]) ** power
        for index in chosen
    }
