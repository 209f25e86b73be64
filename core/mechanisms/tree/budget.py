"""How the tree mechanism divides its budget, and which errors are known before anything is measured.

Parts are exact fractions that sum to at most 1, whatever the noisy answers are; they depend on the query classes, the
schema and the noisy number of rows only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns
from core.kernel.measurement import Additive
from core.mechanisms.kit.portions import Portion
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.spending import Spending
from core.mechanisms.ranges.levels import range_errors
from core.mechanisms.tree.planes import balance_level, plane_count
from core.mechanisms.tree.ranges import nested_blocks
from core.mechanisms.tree.workload import Workload

COUNT = Fraction(1, 100)
"""The part that buys the number of rows."""
SCORES = Fraction(1, 20)
"""Each of two rounds of distances."""
IN_TREE = Fraction(1, 2)
"""The tree's part of what tables of several columns get; the records get the other."""
COLUMNS, MORE_COLUMNS = Fraction(3, 10), Fraction(11, 20)
"""What single columns get where tables are all that is asked, and what they get of a small table or budget."""
FEW_ROWS = 1_500
"""Below this n sqrt(rho) single columns get a larger share: pairs can hardly be measured."""
NESTED = 64
"""A column that is counted level by level gets as much as a column of so many cells: a few levels of 16 parts each."""


@dataclass(frozen=True)
class Split:
    """Parts of the budget."""

    columns: Fraction
    ranges: Fraction
    planes: Fraction
    scores: Fraction
    """Each of two rounds of distances."""
    rest: Fraction
    """What tables of several columns get."""

    @classmethod
    def of(cls, workload: Workload, columns: Fraction) -> Split:
        """`columns` is what single columns get where tables are all that is asked."""
        parts = workload.parts(1 - COUNT)
        if not workload.pairs():
            return cls(parts["tables"], parts["ranges"], parts["planes"], Fraction(0), Fraction(0))
        scale = parts["tables"] / (1 - COUNT)
        rest = parts["tables"] - (columns + 2 * SCORES) * scale
        return cls(columns * scale, parts["ranges"], parts["planes"], SCORES * scale, rest)

    def events(self, spending: Spending, workload: Workload) -> dict[Columns, Additive]:
        """What each single column, and each set of columns whose ranges are counted, gets in all."""
        domain, nested = workload.domain, workload.nested()
        sizes: dict[Columns, float] = {}
        for name in workload.involved():
            cells = domain[name].size
            sizes[name,] = float(min(cells, NESTED) if (name,) in nested else cells) ** spending.power
        portions: list[Portion] = []
        if self.columns:
            portions += spending.split(sizes, self.columns)
        if self.ranges:
            portions += spending.split(workload.ranges, self.ranges)
        return spending.together(portions)


def column_share(spending: Spending, rows: float) -> Fraction:
    """The part of the budget that single columns get where tables are all that is asked."""
    reach = rows / (float(spending.sigmas(np.ones(1))[0]) * math.sqrt(2))
    return COLUMNS if reach > FEW_ROWS else MORE_COLUMNS


def foreseen(spending: Spending, workload: Workload) -> Expected:
    """The noise of everything that is measured; what follows from it by inference is not known in advance.

    Which pairs are measured is decided by noisy distances. The figures are those for all pairs, with no rare values
    merged; the fewer are measured, the less noise each of them has.
    """
    unit, split = spending.unit, Split.of(workload, COLUMNS)
    events, nested = split.events(spending, workload), workload.nested()
    about, means, tails = [], [], []
    if workload.tables or not workload.ranges:
        portions = [Portion(columns, event) for columns, event in events.items() if columns not in nested]
        words = "each count of a single column"
        if split.rest:
            sizes = {pair: _size(workload, pair, weight, spending) for pair, weight in workload.pairs().items()}
            portions += spending.split(sizes, split.rest * IN_TREE)
            words = "each count of a single column, and of a pair if all pairs are measured (less if fewer are)"
        counted = [(portion, workload.domain.cells(portion.columns)) for portion in portions]
        if counted:
            every = sum(cells for _, cells in counted)
            about.append(words)
            means.append(sum(cells * portion.level(unit).mean_error for portion, cells in counted) / every)
            tails.append(max(portion.level(unit).tail(0.05 / every) for portion, _ in counted))
    if nested:
        blocks = [nested_blocks(workload.domain, columns, events[columns], unit) for columns in nested]
        found = [range_errors(each, unit) for each in blocks]
        about.append("a random range")
        means.append(sum(mean for mean, _ in found) / len(found))
        tails.append(max(worst for _, worst in found))
    for query in workload.planes:
        planes = plane_count(query, workload.domain)
        level = balance_level(query, workload.domain, spending, split.planes / len(workload.planes))
        about.append("a counted halfspace")
        means.append(level.mean_error / 2)
        tails.append(level.tail(0.05 / planes) / 2)
    listed = ", in ".join(dict.fromkeys(about))
    return Expected(
        mean=sum(means) / len(means),
        worst=max(*tails, *means),
        about=f"Noise in {listed}; what is only inferred may be off by more",
    )


def _size(workload: Workload, pair: Columns, weight: float, spending: Spending) -> float:
    return float(weight * workload.domain.cells(pair)) ** spending.power
