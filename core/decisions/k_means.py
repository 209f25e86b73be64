"""Centres of groups of people in a space of two or three numbers: k-means."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats
from core.base.errors import Refused
from core.base.options import option
from core.base.wording import amount, figure
from core.decisions.centre_problem import CentreProblem, middles, nearest, placed
from core.decisions.decision import ESTIMATE, Decided, measured
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.kit.protocol import Progress, silent
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain
from core.table.counts import Counts
from core.table.views import Recoding

STEPS = 2**14
"""Squared distances are whole parts of the largest one."""
MOST_CELLS = 2**18


@dataclass(frozen=True, kw_only=True)
class KMeans(CentreProblem):
    """Count people in the blocks of a noisy quad tree, then place k centres by weighted k-means on its counts.

    **Privacy** that of `rectangle-tree`, with nine tenths of epsilon, and one number: epsilon-differentially private.

    **Accuracy** where groups are wider than the finest blocks whose counts stand out from the noise, centres are nearly
    those without privacy; nothing is promised.

    **Runtime** O(cells k) for each of some rounds.

    Theorem: what is computed from released counts is private; consistency in the tree (Hay et al. 2010).
    """

    name: ClassVar[str] = "k-means"
    title: ClassVar[str] = "Noisy quad tree, then k-means"
    known_as: ClassVar[tuple[str, ...]] = ("private clustering", "Lloyd's algorithm", "quad tree")
    prefer: ClassVar[str] = "Choose it to find the middles of groups; declare bins that are finer than the groups."
    for_study: ClassVar[bool] = False

    columns: tuple[str, ...] = option("columns", "Columns of numbers", low=2, high=3, only="numeric", start=2)

    def check(self, domain: Domain, unit: Unit) -> None:
        self.check_columns(domain)
        cells = domain.cells(self.columns)
        if cells > MOST_CELLS:
            raise Refused(f"'k-means' holds {amount(MOST_CELLS)} cells, not {amount(cells)}; use coarser bins.")
        self._tree().check(domain.project(self.columns), unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._tree().cost(domain.project(self.columns), unit) + Cost.of([self._estimating])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        expected = self._tree().expected(domain.project(self.columns), unit)
        return (
            f"People in a random box are counted to ±{figure(expected.mean)} on average before empty places are "
            "emptied; of the centres themselves nothing is promised."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        domain = kernel.domain.project(self.columns)
        progress("Counting people in blocks", 0.1)
        same = {name: Recoding(name, np.arange(domain[name].size)) for name in self.columns}
        counts = self._tree().run(kernel.recoded(domain, same)).marginal(self.columns)
        progress("Placing centres", 0.4)
        centres = placed(self._points(domain), counts.ravel(), self.k, kernel.generator())
        squares, step = self._squares(domain, centres)
        asked = Query(columns=self.columns, weights=squares, denominator=STEPS)
        estimate = measured(kernel, asked, self._estimating, "Sum of squared distances", step)
        return self.decided(centres, estimate)

    def value(self, decided: Decided, counts: Counts) -> float:
        """The sum of squared distances from the nearest centre; a person is in the middle of a cell."""
        return self._sum(counts, self.centres_of(decided))

    def best(self, counts: Counts) -> float:
        domain = counts.domain.project(self.columns)
        table = counts.marginal(self.columns).ravel().astype(np.float64)
        return self._sum(counts, placed(self._points(domain), table, self.k, np.random.default_rng(0)))

    def _sum(self, counts: Counts, centres: Floats) -> float:
        points = self._points(counts.domain.project(self.columns))
        there = ~np.isnan(points).any(axis=1)
        table = counts.marginal(self.columns).ravel()
        return float(table[there] @ nearest(points[there], centres)[1])

    def _points(self, domain: Domain) -> Floats:
        """The middle of every cell; NaN where a coordinate is missing."""
        ends = [middles(domain[name]) for name in self.columns]
        return np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))

    def _squares(self, domain: Domain, centres: Floats) -> tuple[np.ndarray, float]:
        """Squared distances of all cells in whole steps, and what a step is; nothing for a cell that is nowhere."""
        points = self._points(domain)
        there, squares = ~np.isnan(points).any(axis=1), np.zeros(len(points))
        squares[there] = nearest(points[there], centres)[1]
        largest = max(float(squares.max()), 1e-12)
        steps = np.minimum(np.rint(squares / largest * STEPS), STEPS).astype(np.int64)
        return steps.reshape(domain.shape(self.columns)), largest / STEPS

    def _tree(self) -> RectangleTree:
        part = Budget(pure_for(self.budget) * (1 - ESTIMATE))
        return RectangleTree(queries=(Rectangles(columns=self.columns),), budget=part)

    @property
    def _estimating(self) -> Laplace:
        return Laplace(pure_for(self.budget) * Fraction(ESTIMATE))
