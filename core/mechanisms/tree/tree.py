"""The flagship for whole tables: few tables with little noise, a junction tree, and re-weighted records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.spending import Purse
from core.mechanisms.kit.timing import TABLE
from core.mechanisms.tree.budget import COUNT, IN_TREE, Split, column_share, foreseen
from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.compression import Compressed
from core.mechanisms.tree.planes import planes_next
from core.mechanisms.tree.records import all_together, fits, published, records_next
from core.mechanisms.tree.steps import Desk, columns_next, rows_first, tree_next
from core.mechanisms.tree.workload import Workload, admit
from core.models import tables as limits
from core.models.points import Points
from core.models.tables import Tables
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain
from core.table.counts import Counts


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Measure single columns, then the pairs that matter most, fit a tree of cliques and re-weight its records.

    One synthetic table serves all classes that are ticked: tables of counts of any order, ranges and rectangles (by
    counts of nested blocks, never cell by cell) and halfspaces (by counts of random planes).

    **Privacy** All noise is paid from one purse whose parts sum to rho = rho_for(epsilon, delta) (or to epsilon where
    delta is 0), whatever the noisy answers are. A table of counts changes by at most unit.l1 in L1 and unit.l2_squared
    in squared L2. The distance of a table from a fixed public table, sum |table - public|, changes by at most the L1
    change of the table (triangle inequality), so P distances change by at most P unit.l1 in L1 and P unit.l1^2 in
    squared L2. The number of rows changes by at most unit.limit. A level of blocks is a table (`tree_ranges.py`). For K
    planes, rows inside minus rows outside change by at most K unit.l1 in L1 and K unit.l1^2 in squared L2
    (`tree_planes.py`). All else is post-processing.

    **Accuracy** Measured tables have error sigma per cell; the others follow by maximum entropy from the measured ones.
    Ranges err as those of 'interval-tree' and 'rectangle-tree' with the same part of the budget, or less.

    **Runtime** three passes over the rows per pair of columns; then O(cliques' cells x sweeps + points x tables), and
    O(points x planes^2) for halfspaces.

    Theorem: Bun and Steinke 2016, lemma 2.3 (composition of zCDP), with parts that depend on earlier answers by Feldman
    and Zrnic 2021; Dudík, Phillips and Schapire 2007, theorem 1 (maximum entropy within the noise).
    """

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree of cliques with re-weighted records"
    prefer: ClassVar[str] = "Choose it for whole tables with many columns, or for several query classes at once."

    queries: tuple[QueryClass, ...]
    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            admit(query, domain)
        Workload.of(self.queries, domain).check()
        Purse.of(self.budget, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Purse.of(self.budget, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return foreseen(Purse.of(self.budget, unit), Workload.of(self.queries, domain), unit)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Three passes over the rows per pair; the fit and the re-weighting took 3 s for 14 columns, 20 s for 100."""
        workload = Workload.of(self.queries, domain)
        passes = 3 * len(workload.pairs()) + len(workload.ladders())
        return TABLE * passes + 1.0 + 0.2 * len(domain) + 4.0 * len(workload.planes)

    def run(self, counts: Counts, noise: NoiseSource, progress: Progress = silent) -> Tables:
        self.check(counts.domain, counts.unit)
        desk = Desk(counts, noise, Purse.of(self.budget, counts.unit))
        workload = Workload.of(self.queries, counts.domain)
        progress("Measuring single columns", 0.0)
        rows = rows_first(desk, COUNT)
        split = Split.of(workload, column_share(desk.purse, rows[0]))
        singles = columns_next(desk, workload, rows, split.events(desk.purse, workload))
        generator = noise.generator()
        size = int(np.clip(4 * singles.total, limits.FEWEST_POINTS, limits.MOST_POINTS))
        merged = singles.compression.domain
        seen = Compressed(counts, singles.compression, merged)
        pairs = {pair: weight for pair, weight in workload.pairs().items() if min(merged.shape(pair)) > 1}
        if pairs:
            progress("Measuring pairs of columns", 0.1)
        grown = tree_next(Desk(seen, noise, desk.purse), singles, pairs, split.scores, split.rest * IN_TREE)
        progress("Fitting the tree", 0.25)
        tree, known = grown.fitted(), grown.known
        progress("Drawing records", 0.4)
        points = Points(merged, tree.sample(size, generator), np.full(size, singles.total / size))
        views = Views.of(counts.domain, merged, singles.shares())
        progress("Re-weighting records", 0.5)
        if pairs:
            larger = {columns: weight for columns, weight in workload.tables.items() if fits(columns, merged)}
            scored = pairs | larger | views.pairs(pairs)
            wide = Desk(views.counts(seen), noise, desk.purse)
            points, known = records_next(wide, views, points, known, scored, split.scores, split.rest * (1 - IN_TREE))
        decoded = singles.compression.decoded(points, generator)
        if workload.planes or singles.ladders:
            progress("Re-weighting records to ranges and halfspaces", 0.8)
            part = split.planes / max(len(workload.planes), 1)
            sides = [planes_next(desk, query, decoded, part, generator) for query in workload.planes]
            decoded = all_together(views.points(points), decoded, known, singles.ladders.values(), sides)
        return published(singles, replace(points, weights=decoded.weights), decoded, known, list(workload.tables))
