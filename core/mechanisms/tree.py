"""The flagship for whole tables: few tables with little noise, a junction tree, and re-weighted records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from core.counts import Counts
from core.domain import Domain
from core.errors import Refused
from core.mechanisms.coarse import Views
from core.mechanisms.compression import Compressed
from core.mechanisms.measurement import wanted
from core.mechanisms.pair_choice import MOST_CLIQUE
from core.mechanisms.protocol import Expected, Progress, silent
from core.mechanisms.purse import Purse
from core.mechanisms.timing import TABLE
from core.mechanisms.tree_steps import (
    Desk,
    Noisy,
    Singles,
    column_share,
    columns_next,
    independent,
    records_next,
    rows_first,
    tree_next,
)
from core.models import tables as limits
from core.models.consistency import settle
from core.models.points import Points
from core.models.tables import Tables
from core.noise import NoiseSource
from core.privacy import Budget, Cost, Unit
from core.queries.protocol import Columns, QueryClass
from core.wording import amount

MOST_TABLE = 2**25
"""Cells of one table that a query class may ask for."""
MOST_SCORED = 20_000
"""Pairs of columns whose distances are asked for."""
MOST_PUBLISHED = 2**20
"""Cells of a table that is published beside the records."""
LEAST_TRUST = 0.05
"""Below this weight a measured table adds nothing to the records."""
# Parts of the budget: the number of rows, each round of distances, and the tree's share of what tables get.
_COUNT = Fraction(1, 100)
_SCORES = Fraction(1, 20)
_IN_TREE = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Measure single columns, then the pairs that matter most, fit a tree of cliques and re-weight its records.

    **Privacy** All noise is paid from one purse whose parts sum to rho = rho_for(epsilon, delta) (or to epsilon where
    delta is 0), whatever the noisy answers are. A table of counts changes by at most unit.l1 in L1 and unit.l2_squared
    in squared L2. The distance of a table from a fixed public table, sum |table - public|, changes by at most the L1
    change of the table (triangle inequality), so P distances change by at most P unit.l1 in L1 and P unit.l1^2 in
    squared L2. The number of rows changes by at most unit.limit. All else is post-processing.

    **Accuracy** Measured tables have error sigma per cell; the others follow by maximum entropy from the measured ones.

    **Runtime** three passes over the rows per pair of columns; then O(cliques' cells x sweeps + points x tables).

    Theorem: Bun and Steinke 2016, lemma 2.3 (adaptive composition of zCDP); Dudík, Phillips and Schapire 2007,
    theorem 1 (maximum entropy within the noise).
    """

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree of cliques with re-weighted records"
    prefer: ClassVar[str] = "Choose it for whole tables with many columns, too large for a histogram."

    queries: tuple[QueryClass, ...]
    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))

    def check(self, domain: Domain, unit: Unit) -> None:
        for columns in (tables := wanted(self.queries, domain)):
            if domain.cells(columns) > MOST_TABLE:
                raise Refused(
                    f"A table of {' x '.join(columns[:5])} has {amount(domain.cells(columns))} cells and 'tree' "
                    f"answers at most {amount(MOST_TABLE)}; choose fewer columns, coarser bins or a lower order."
                )
        if len(pair_weights(tables)) > MOST_SCORED:
            raise Refused(
                f"These query classes need {amount(len(pair_weights(tables)))} pairs of columns and 'tree' scores at "
                f"most {amount(MOST_SCORED)}; choose fewer columns."
            )
        Purse.of(self.budget, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Purse.of(self.budget, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Errors of single-column counts, the one part whose noise is known before anything is measured."""
        purse = Purse.of(self.budget, unit)
        columns = involved(wanted(self.queries, domain), domain)
        parts = purse.split({(name,): domain[name].size**purse.power for name in columns}, Fraction(3, 10))
        cells = [domain.cells(part.columns) for part in parts]
        mean = sum(size * part.mean_error(unit) for size, part in zip(cells, parts, strict=True)) / sum(cells)
        worst = max(part.tail(unit, 0.05 / sum(cells)) for part in parts)
        return Expected(
            mean=mean, worst=worst, about="Each count of a single column, beside the error of tables that are inferred"
        )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Three passes over the rows per pair; the fit and the re-weighting took 3 s for 14 columns, 20 s for 100."""
        pairs = len(pair_weights(wanted(self.queries, domain)))
        return 3 * TABLE * pairs + 1.0 + 0.2 * len(domain)

    def run(self, counts: Counts, noise: NoiseSource, progress: Progress = silent) -> Tables:
        self.check(counts.domain, counts.unit)
        desk = Desk(counts, noise, Purse.of(self.budget, counts.unit))
        tables = wanted(self.queries, counts.domain)
        progress("Measuring single columns", 0.0)
        rows = rows_first(desk, _COUNT)
        names = involved(tables, counts.domain)
        pairs = pair_weights(tables)
        share = column_share(desk.purse, rows[0]) if pairs else 1 - _COUNT
        singles = columns_next(desk, names, rows, share)
        generator = noise.generator()
        size = int(np.clip(4 * singles.total, limits.FEWEST_POINTS, limits.MOST_POINTS))
        merged = singles.compression.domain
        seen = Compressed(counts, singles.compression, merged)
        inner = Desk(seen, noise, desk.purse)
        pairs = {pair: weight for pair, weight in pairs.items() if min(merged.shape(pair)) > 1}
        tree, known = independent(singles, merged), singles.noisy()
        rest = 1 - share - _COUNT - 2 * _SCORES
        if pairs:
            progress("Measuring pairs of columns", 0.1)
            tree, known = tree_next(inner, singles, pairs, _SCORES, rest * _IN_TREE)
        progress("Drawing records", 0.4)
        points = Points(merged, tree.sample(size, generator), np.full(size, singles.total / size))
        if pairs:
            progress("Re-weighting records", 0.5)
            larger = {columns: weight for columns, weight in tables.items() if fits(columns, merged)}
            views = Views.of(counts.domain, merged, singles.shares())
            scored = pairs | larger | views.pairs(pairs)
            wide = Desk(views.counts(seen), noise, desk.purse)
            points, known = records_next(wide, views, points, known, scored, _SCORES, rest * (1 - _IN_TREE))
        return published(singles, points, known, generator)


def pair_weights(tables: Mapping[Columns, float]) -> dict[Columns, float]:
    """How much each pair of columns matters: a table counts for all its pairs."""
    weights: dict[Columns, float] = {}
    for columns, weight in tables.items():
        for pair in combinations(columns, 2):
            weights[pair] = weights.get(pair, 0.0) + weight
    return weights


def fits(columns: Columns, domain: Domain) -> bool:
    """Whether a wanted table of three or more columns is small enough to be measured itself."""
    return len(columns) > 2 and domain.cells(columns) <= MOST_CLIQUE and min(domain.shape(columns)) > 1


def involved(tables: Mapping[Columns, float], domain: Domain) -> list[str]:
    """The columns that any table needs; all of them where no table names one."""
    named = {name for columns in tables for name in columns}
    return [name for name in domain.names if name in named or not named]


def published(singles: Singles, points: Points, known: Noisy, generator: np.random.Generator) -> Tables:
    """Records over the original cells, and measured tables where they know more than the records.

    The records miss a noisy table by its noise and by their own error. What exceeds the noise, as a share of the whole
    squared distance, is how far the records are to be moved towards the table (James and Stein).
    """
    compression, held = singles.compression, {}
    for columns, table in settle(known.tables, known.sigmas, singles.total).items():
        if not all(name in points.domain for name in columns):
            continue
        fitted = points.marginal(columns)
        missed = float(np.mean((known.tables[columns] - fitted) ** 2))
        trust = 1 - known.sigmas[columns] ** 2 / missed if missed > 0 else 0.0
        if (trust > LEAST_TRUST or len(columns) == 1) and compression.original.cells(columns) <= MOST_PUBLISHED:
            mixed = fitted + max(trust, 0.0) * (table - fitted)
            held[columns] = compression.expanded(mixed, columns)
    return Tables(compression.original, held, compression.decoded(points, generator))
