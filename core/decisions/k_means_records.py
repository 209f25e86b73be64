"""Centres of groups of people in a space of up to ten numbers: k-means on synthetic records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats, IntArray
from core.base.wording import figure
from core.decisions.centre_problem import CentreProblem, middles, nearest, placed
from core.decisions.decision import Decided
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.mechanisms.tree.tree import Tree
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.schema.ordered import Integers
from core.table.counts import Counts
from core.table.views import Recoding

MOST_BINS = 16
"""Columns are seen in so many bins of equal width: pairs of finer ones drown in noise where epsilon is small."""
RECORDS = 20_000
"""Synthetic records that are grouped; more no longer move the centres measurably."""


@dataclass(frozen=True, kw_only=True)
class KMeansRecords(CentreProblem):
    """Draw synthetic records of the columns by 'tree', then place k centres by k-means on them.

    **Privacy** that of 'tree' with the whole budget; what is computed from its records is private.

    **Accuracy** groups that can be told apart by pairs of columns are found; nothing is promised. What the centres
    cost is not measured: one number of ten columns would take as much noise as it tells.

    **Runtime** that of 'tree', and O(records k columns) for each of some rounds.

    Theorem: what is computed from what was released is private.
    """

    name: ClassVar[str] = "k-means-records"
    title: ClassVar[str] = "Synthetic records, then k-means"
    known_as: ClassVar[tuple[str, ...]] = ("private clustering", "junction tree", "Lloyd's algorithm")
    prefer: ClassVar[str] = "Choose it for four to ten columns; with two or three a quad tree is finer."
    for_study: ClassVar[bool] = False

    def check(self, domain: Domain, unit: Unit) -> None:
        self.check_columns(domain)
        self._tree().check(self._coarse(domain)[0], unit)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._tree().cost(self._coarse(domain)[0], unit)

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        expected = self._tree().expected(self._coarse(domain)[0], unit)
        return (
            f"Cells of two columns are counted to ±{figure(expected.mean)} on average; of the centres themselves "
            "nothing is promised."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        generator = kernel.generator()
        coarse, recodings = self._coarse(kernel.domain)
        released = self._tree().run(kernel.recoded(coarse, recodings), progress)
        progress("Placing centres", 0.9)
        codes = released.sample(RECORDS, generator)
        ends = [self._ends(kernel.domain[name], recodings[name]) for name in self.columns]
        points = np.stack([end[codes[:, place]] for place, end in enumerate(ends)], axis=1)
        return self.decided(placed(points, np.ones(len(points)), self.k, generator))

    def value(self, decided: Decided, counts: Counts) -> float:
        """The sum of squared distances from the nearest centre; a person is in the middle of a cell."""
        points, often = self._people(counts)
        return float(often @ nearest(points, self.centres_of(decided))[1]) if len(points) else 0.0

    def best(self, counts: Counts) -> float:
        points, often = self._people(counts)
        if not len(points):
            return 0.0
        return float(often @ nearest(points, placed(points, often, self.k, np.random.default_rng(0)))[1])

    def _people(self, counts: Counts) -> tuple[Floats, Floats]:
        """Who is somewhere in all columns, and how many are like it."""
        codes, often = counts.combinations(self.columns)
        points = self._points(counts.domain.project(self.columns), codes)
        there = ~np.isnan(points).any(axis=1) & (np.asarray(often) > 0)
        return points[there], np.asarray(often, dtype=np.float64)[there]

    def _points(self, domain: Domain, codes: IntArray) -> Floats:
        return np.stack(
            [middles(domain[name])[codes[:, place]] for place, name in enumerate(self.columns)], axis=1
        ).astype(np.float64)

    def _coarse(self, domain: Domain) -> tuple[Domain, dict[str, Recoding]]:
        """The columns in few bins, and one more for who is nowhere: a schema without rules."""
        recodings = {}
        for name in self.columns:
            regular = domain[name].regular
            bins = min(regular, MOST_BINS)
            groups = np.full(domain[name].size, bins)
            groups[:regular] = np.arange(regular) * bins // regular
            recodings[name] = Recoding(name, groups)
        columns = (Integers(name=name, low=0, high=int(each.groups.max())) for name, each in recodings.items())
        return Domain(tuple(columns)), recodings

    def _ends(self, attribute: Attribute, recoding: Recoding) -> Floats:
        """The middle of every bin; NaN for who is nowhere."""
        found = np.full(int(recoding.groups.max()) + 1, np.nan)
        there = ~np.isnan(middles(attribute))
        often = np.bincount(recoding.groups[there], minlength=len(found))
        sums = np.bincount(recoding.groups[there], middles(attribute)[there], minlength=len(found))
        found[often > 0] = sums[often > 0] / often[often > 0]
        return found

    def _tree(self) -> Tree:
        return Tree(queries=(Marginals(order=2, columns=self.columns),), budget=self.budget)
