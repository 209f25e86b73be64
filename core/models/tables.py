"""A set of released tables of counts, with records that fit them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns, Floats
from core.base.axes import stretched, summed
from core.models.column_counts import ColumnCounts
from core.models.fitting.consistency import settle, total_of
from core.models.fitting.forest import fit_forest
from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import TableGoal
from core.models.points import Points
from core.schema.domain import Domain

MOST_POINTS = 200_000
"""Points that are raked; more no longer improve 2-way tables measurably and cost time in proportion."""
FEWEST_POINTS = 20_000
HALF_NORMAL = math.sqrt(2 / math.pi)
"""The mean size of noise of standard deviation 1; that of Laplace noise is smaller."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Consistent, non-negative tables that answer directly, and weighted points for every other question.

    A table that was measured answers better than any records drawn from it, so `marginal` uses the smallest table that
    holds the asked columns and falls back on the points.
    """

    domain: Domain
    counts: Mapping[Columns, Floats]
    points: Points
    measured: Mapping[Columns, float] = field(default_factory=dict)
    """Which tables were measured, and the standard deviation of the noise in each cell; NaN where it is not one number
    for the whole table."""
    expected: Mapping[Columns, float] = field(default_factory=dict)
    """The mean error of a count of a table, in rows, as far as the mechanism can tell."""
    missed: Mapping[Columns, float] = field(default_factory=dict)
    """Pairs that were not measured, and by how many rows they may be off beyond chance."""
    told: Sequence[TableGoal | MomentGoal] = ()
    """What was measured of pairs, before anything was cut off or shrunk, over the values of the schema: counts of cells
    or of groups of them, and covariances; noisy, but not biased."""
    columns: Mapping[str, ColumnCounts] = field(default_factory=dict)
    """Single columns as they were measured with Gaussian noise, before anything was made to agree."""

    @property
    def total(self) -> float:
        return self.points.total

    def marginal(self, columns: Sequence[str]) -> Floats:
        found = lookup(self.counts, columns)
        return self.points.marginal(columns) if found is None else found

    def scaled(self, columns: Sequence[str], factors: Floats) -> Tables:
        """Records and all tables that hold these columns, multiplied by the factor of each combination of them.

        Totals stay. Weights that would leave the range of numbers stay as they were.
        """
        held = {key: table * stretched(factors, columns, key) for key, table in self._holding(columns).items()}
        counts = {key: _same_total(held.get(key, table), table) for key, table in self.counts.items()}
        weights = _same_total(self.points.scaled(columns, factors).weights, self.points.weights)
        return replace(self, counts=counts, points=replace(self.points, weights=weights))

    def _holding(self, columns: Sequence[str]) -> dict[Columns, Floats]:
        return {key: table for key, table in self.counts.items() if set(columns) <= set(key)}

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.points.sample(rows, generator)

    def tables(self) -> dict[Columns, Floats]:
        return dict(self.counts)


def _same_total(moved: Floats, before: Floats) -> Floats:
    """Weights scaled to the total of earlier ones; the earlier ones where that is no number or nothing is left."""
    total = float(moved.sum())
    return moved * (float(before.sum()) / total) if 0 < total < math.inf else before


def lookup(counts: Mapping[Columns, Floats], columns: Sequence[str]) -> Floats | None:
    """Counts over the columns, summed from the smallest table that holds them all; None if there is none."""
    if (own := tuple(columns)) in counts:
        return summed(counts[own], own, columns)
    wanted = set(columns)
    holders = [key for key in counts if wanted.issubset(key)]
    if not holders:
        return None
    key = min(holders, key=lambda candidate: counts[candidate].size)
    return summed(counts[key], key, columns)


def fit(
    domain: Domain,
    tables: Mapping[Columns, NDArray[Any]],
    sigmas: Mapping[Columns, float],
    public_total: int | None,
    generator: np.random.Generator,
) -> Tables:
    """From noisy tables to a model: agree, fit a forest, draw points, rake them to every table."""
    total = total_of(tables, sigmas, public_total)
    settled = settle(tables, sigmas, total)
    forest = fit_forest(domain, settled, sigmas)
    size = int(np.clip(4 * total, FEWEST_POINTS, MOST_POINTS))
    drawn = Points(domain, forest.sample(size, generator), np.full(size, total / size))
    points = drawn.rake(settled, sigmas)
    smooth = points.marginals(settled)
    published = {columns: _mixed(table, smooth[columns], sigmas[columns]) for columns, table in settled.items()}
    expected = {columns: sigma * HALF_NORMAL for columns, sigma in sigmas.items()}
    return Tables(domain, published, points, sigmas, expected)


def _mixed(table: Floats, smooth: Floats, sigma: float) -> Floats:
    """A mean of the table and the points' counts, as far as noise can explain the difference between them.

    Tables are unbiased but noisy, points are smooth but biased, so their mean beats the better of the two (2-way tables
    of census data, epsilon 1: .073 and .052 become .058 in mean total variation, .0065 and .0172 become .0074 in the
    largest cell). Where noise is low the bias is what is left: with a weight of sigma^2/distance^2 for the points the
    error follows the table's (25 columns, epsilon 10: .0026 and .0091 become .0027, where halves would give .0051).
    """
    apart = float(((table - smooth) ** 2).sum())
    noise = sigma**2 * np.count_nonzero(table) / 2
    share = 0.5 if apart <= 2 * noise else noise / apart
    return (1 - share) * table + share * smooth
