"""The flagship for whole tables: few tables with little noise, a junction tree, and re-weighted records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from core.base.errors import BadParameter
from core.base.options import option
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.settings import settle
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.budget import COUNT, IN_TREE, foreseen, split_for
from core.mechanisms.tree.cliques import fit_junction_tree, measure_pairs
from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.columns import measure_columns
from core.mechanisms.tree.lawfulness import MergedRules
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.noisy_halfspaces import measure_planes
from core.mechanisms.tree.pairs import Candidates
from core.mechanisms.tree.records import (
    ONLY_SWEEPS,
    SWEEPS,
    draw_records,
    measure_coarse,
    measure_worst_tables,
    obey,
    publish,
    rake_to_everything,
    rake_to_tables,
)
from core.mechanisms.tree.workload import Workload, admit
from core.models import tables as limits
from core.models.tables import Tables
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.rules.contradictions import check_rules
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Measure single columns, then the pairs that matter most, fit a tree of cliques and re-weight its records.

    One synthetic table serves all classes that are ticked: tables of counts of any order, ranges and rectangles (by
    counts of nested blocks, never cell by cell) and halfspaces (by counts of random planes).

    **Privacy** All noise is paid in parts of rho = rho_for(epsilon, delta) (of epsilon where delta is 0), which sum to
    it whatever the noisy answers are. Asked are the number of rows, tables of counts, interactions of columns
    (`interactions.Interaction`), levels of blocks (`tables.Blocks`), distances of tables from public ones
    (`tables.Distances`) and, for random planes, rows inside minus rows outside (`halfspaces.Balances`), each with noise
    for its own change. Pure noise of all distances of a round is drawn together (`cube.py`). Where delta is 0, it is
    also asked where rows of a column of more than 256 cells crowd (`Crowding`), with 0.16 of what its blocks get, and
    whether they do so inside what was found (`Unevenness`), if ranges of it are asked and no table with it
    (`Workload.searched`). All else is post-processing, the rules of the schema too (`lawfulness.py`).

    **Accuracy** Measured tables have error sigma per cell, less where only the interaction of a pair has to be measured
    because its single columns are known: for two yes/no columns a quarter, with Gaussian noise and one row per person.
    Other tables follow by maximum entropy from the measured ones. Cells that rules exclude are empty, and known counts
    are met. Where delta is 0 and no table with a column is asked, its ranges err about as much as those of
    'interval-tree' with the same part of the budget; else nothing looks where rows crowd, blocks go down to every cell,
    and they err 1.2 to 1.4 times as much on average.

    **Runtime** one pass over the rows per pair of columns, one more for pairs with a large ordered column; then
    O(cliques' cells x sweeps + points x tables), and O(points x planes^2) for halfspaces.

    Theorem: Bun and Steinke 2016, lemma 2.3 (composition of zCDP), with parts that depend on earlier answers by Feldman
    and Zrnic 2021; Dudík, Phillips and Schapire 2007, theorem 1 (maximum entropy within the noise).
    """

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree of cliques with re-weighted records"
    known_as: ClassVar[tuple[str, ...]] = ("Private-PGM", "junction tree", "select, measure, generate")
    prefer: ClassVar[str] = "Choose it for whole tables with many columns, or for several query classes at once."
    for_study: ClassVar[bool] = False
    uses_rules: ClassVar[bool] = True
    """Whether the rules of the schema are part of the model, so that they make answers more exact."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    target: str | None = option(
        "column",
        "Column to predict",
        default=None,
        help="Its tables with one and two other columns get more of the budget, so that models trained on the records "
        "predict it better; other tables get less.",
    )
    groups: tuple[str, ...] = option(
        "columns",
        "Columns to compare groups by",
        default=(),
        start=0,
        help="Their tables with other columns get more of the budget.",
    )

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "groups", tuple(self.groups))

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            admit(query, domain)
        check_rules(domain)
        for name in (self.target, *self.groups):
            if name is not None and name not in domain:
                raise BadParameter("target" if name == self.target else "groups", "must be columns of the schema.")
        workload = self._workload(domain)
        workload.check()
        if not workload.planes:
            workload.lawfulness.tables.check_asked([*workload.tables, *workload.ranges])
        Spending.of(self.budget, unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Spending.of(self.budget, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return foreseen(Spending.of(self.budget, unit), self._workload(domain))

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """At most two passes over the rows per pair; fit and re-weighting took 3 s for 14 columns, 20 s for 100."""
        workload = self._workload(domain)
        passes = 2 * len(workload.pairs()) + len(workload.nested())
        return TABLE * passes + 1.0 + 0.2 * len(domain) + 4.0 * len(workload.planes)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Tables:
        self.check(kernel.domain, kernel.unit)
        workload, spending = self._workload(kernel.domain), Spending.of(self.budget, kernel.unit)
        return synthesise(Measuring(kernel, spending), workload, limits.MOST_POINTS, progress)

    def _workload(self, domain: Domain) -> Workload:
        return Workload.of(self.queries, domain).favouring(self.target, self.groups)


def synthesise(measuring: Measuring, workload: Workload, most: int, progress: Progress = silent) -> Tables:
    """Spend all that is given to measure with on a synthetic table of at most so many records."""
    generator = measuring.kernel.generator()
    progress("Measuring single columns", 0.0)
    lawfulness = workload.lawfulness
    rows = (float(lawfulness.rows), 0.0) if lawfulness.rows else measuring.rows(COUNT)
    split = split_for(measuring.spending, workload, rows[0] - rows[1])
    columns = measure_columns(measuring, workload, rows, split)
    views = Views.of(columns.compression, columns.shares(), coarsest=workload.coarse > 0)
    rest, coarse = split.rest * (1 - workload.coarse), split.rest * workload.coarse
    rules = MergedRules(lawfulness, columns.compression, views.sources, views.bins)
    merged = measuring.through(views)

    pairs = lawfulness.weighed(lawfulness.unknown(workload.pairs_in(columns.compression.domain)))
    if pairs:
        progress("Measuring pairs of columns", 0.1)
    structure, known = measure_pairs(merged, columns, rules, pairs, split.scores, rest * IN_TREE)

    progress("Fitting the tree", 0.25)
    tree = fit_junction_tree(columns, structure, known, rules)

    progress("Drawing records", 0.4)
    records = views.points(draw_records(tree, rules, most, generator))

    progress("Re-weighting records", 0.5)
    candidates: Candidates | None = None
    if pairs:
        scored = pairs | workload.larger_in(columns.compression.domain) | views.pairs(pairs)
        known = known.joined(views.columns(columns.noisy()))
        part = rest * (1 - IN_TREE)
        known, candidates = measure_worst_tables(merged, records, known, scored, split.scores, part)
        known = measure_coarse(merged, views, known, pairs, coarse)
        sweeps = SWEEPS if views.ordered and (workload.planes or columns.nested) else ONLY_SWEEPS
        records = rake_to_tables(records, known, rules, views.ordered, sweeps)
    records, decoded = obey(records, columns.compression.decoded(records, generator), known, rules, views, generator)

    if workload.planes or columns.nested:
        progress("Re-weighting records to ranges and halfspaces", 0.8)
        part = split.planes / max(len(workload.planes), 1)
        sides = [measure_planes(measuring, query, decoded, part, generator) for query in workload.planes]
        decoded = rake_to_everything(records, decoded, known, rules, columns.nested.values(), sides, views.ordered)
        records = replace(records, weights=decoded.weights)
    return publish(columns, records, decoded, known, rules, workload.asked(), candidates)
