"""The best of several public rules that say by what each cell is covered, group by group of such rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedScores, own
from core.kernel.decisions.covers import MOST_COST, RuleCosts
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit

STEPS = 2**10
"""Steps of one unit of cost, so that public numbers can be added that are no whole costs."""


@dataclass(frozen=True, eq=False)
class BestRules(AskedScores):
    """For each group of public rules the largest of: a public number less what the rule costs, in steps.

    A rule says by which set each cell is covered, or that it need not be (-1), and costs what the sets in use cost
    (`CoverCost`).

    **Sensitivity** L times the largest cost that any rule names, in steps: a row is in one cell, which brings at most
    one set into use, so that what a rule costs rises by 0 to that much where a row is added; the largest of some
    numbers that all fall by no more than that does too. What no rule names brings nothing into use.
    """

    one_sided: ClassVar[bool] = True

    columns: Columns
    rules: IntArray
    """One line per rule, one number per cell of the columns, in their order."""
    costs: IntArray
    offsets: IntArray
    """Public numbers in steps, one for each rule."""
    groups: IntArray
    """The group of each rule; all of 0, 1, ... up to the last."""

    def __post_init__(self) -> None:
        for name in ("rules", "costs", "offsets", "groups"):
            object.__setattr__(self, name, own(getattr(self, name), name))
        if self.rules.ndim != 2 or not self.groups.shape == self.offsets.shape == self.rules.shape[:1]:
            raise BadParameter("rules", "must be one line per rule, with its number and its group beside it.")
        if not len(self.groups) or not np.array_equal(np.unique(self.groups), np.arange(self.groups.max() + 1)):
            raise BadParameter("groups", "must be numbered from 0 without a gap.")
        if self.costs.ndim != 1 or not len(self.costs) or self.costs.min() < 0 or self.costs.max() > MOST_COST:
            raise BadParameter("costs", f"must be whole numbers from 0 to {MOST_COST:,}.")
        if self.rules.max(initial=-1) >= len(self.costs):
            raise BadParameter("rules", "must name what has a cost.")

    def scores(self, counts: Remembered) -> IntArray:
        costs = RuleCosts(self.columns, self.rules, self.costs).scores(counts)
        found = np.full(int(self.groups.max()) + 1, -2 * LARGEST, dtype=np.int64)
        np.maximum.at(found, self.groups, np.clip(self.offsets, -LARGEST, LARGEST) + STEPS * costs)
        return found

    def sensitivity(self, unit: Unit) -> int:
        named = np.unique(self.rules[self.rules >= 0])
        return unit.limit * STEPS * max(1, int(self.costs[named].max(initial=0)))
