"""The flagship for whole tables: few tables with little noise, a junction tree, and re-weighted records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from core.base.options import check_options
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.spending import Spending
from core.mechanisms.kit.timing import TABLE
from core.mechanisms.tree.budget import COUNT, IN_TREE, Split, column_share, foreseen
from core.mechanisms.tree.cliques import fit_junction_tree, measure_pairs
from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.columns import measure_columns
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.planes import measure_planes
from core.mechanisms.tree.records import (
    draw_records,
    measure_worst_tables,
    publish,
    rake_to_everything,
    rake_to_tables,
)
from core.mechanisms.tree.workload import Workload, admit
from core.models.tables import Tables
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Measure single columns, then the pairs that matter most, fit a tree of cliques and re-weight its records.

    One synthetic table serves all classes that are ticked: tables of counts of any order, ranges and rectangles (by
    counts of nested blocks, never cell by cell) and halfspaces (by counts of random planes).

    **Privacy** All noise is paid in parts of rho = rho_for(epsilon, delta) (of epsilon where delta is 0), which sum to
    it whatever the noisy answers are. Asked are the number of rows, tables of counts, levels of blocks
    (`tables.Blocks`), distances of tables from public ones (`tables.Distances`) and, for random planes, rows inside
    minus rows outside (`planes.Balances`), each with noise for its own change. All else is post-processing.

    **Accuracy** Measured tables have error sigma per cell; the others follow by maximum entropy from the measured ones.
    Ranges err as those of 'interval-tree' and 'rectangle-tree' with the same part of the budget, or less.

    **Runtime** one pass over the rows per pair of columns, one more for pairs with a large ordered column; then
    O(cliques' cells x sweeps + points x tables), and O(points x planes^2) for halfspaces.

    Theorem: Bun and Steinke 2016, lemma 2.3 (composition of zCDP), with parts that depend on earlier answers by Feldman
    and Zrnic 2021; Dudík, Phillips and Schapire 2007, theorem 1 (maximum entropy within the noise).
    """

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree of cliques with re-weighted records"
    known_as: ClassVar[tuple[str, ...]] = ("PGM", "junction tree", "select, measure, generate")
    prefer: ClassVar[str] = "Choose it for whole tables with many columns, or for several query classes at once."

    queries: tuple[QueryClass, ...]
    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            admit(query, domain)
        Workload.of(self.queries, domain).check()
        Spending.of(self.budget, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Spending.of(self.budget, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return foreseen(Spending.of(self.budget, unit), Workload.of(self.queries, domain))

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """At most two passes over the rows per pair; fit and re-weighting took 3 s for 14 columns, 20 s for 100."""
        workload = Workload.of(self.queries, domain)
        passes = 2 * len(workload.pairs()) + len(workload.nested())
        return TABLE * passes + 1.0 + 0.2 * len(domain) + 4.0 * len(workload.planes)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Tables:
        self.check(kernel.domain, kernel.unit)
        workload, generator = Workload.of(self.queries, kernel.domain), kernel.generator()
        measuring = Measuring(kernel, Spending.of(self.budget, kernel.unit))

        progress("Measuring single columns", 0.0)
        rows = measuring.rows(COUNT)
        split = Split.of(workload, column_share(measuring.spending, rows[0]))
        columns = measure_columns(measuring, workload, rows, split.events(measuring.spending, workload))
        views = Views.of(columns.compression, columns.shares())
        merged = measuring.through(views)

        pairs = workload.pairs_in(columns.compression.domain)
        if pairs:
            progress("Measuring pairs of columns", 0.1)
        structure, known = measure_pairs(merged, columns, pairs, split.scores, split.rest * IN_TREE)

        progress("Fitting the tree", 0.25)
        tree = fit_junction_tree(columns, structure, known)

        progress("Drawing records", 0.4)
        records = views.points(draw_records(tree, generator))

        progress("Re-weighting records", 0.5)
        if pairs:
            scored = pairs | workload.larger_in(columns.compression.domain) | views.pairs(pairs)
            known = measure_worst_tables(merged, records, known, scored, split.scores, split.rest * (1 - IN_TREE))
            records = rake_to_tables(records, known)
        decoded = columns.compression.decoded(records, generator)

        if workload.planes or columns.nested:
            progress("Re-weighting records to ranges and halfspaces", 0.8)
            part = split.planes / max(len(workload.planes), 1)
            sides = [measure_planes(measuring, query, decoded, part, generator) for query in workload.planes]
            decoded = rake_to_everything(records, decoded, known, columns.nested.values(), sides)
            records = replace(records, weights=decoded.weights)
        return publish(columns, records, decoded, known, list(workload.tables))
