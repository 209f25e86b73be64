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
from core.kernel.noise_level import Additive
from core.mechanisms.kit.portions import Portion
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.spending import Spending
from core.mechanisms.ranges.range_errors import range_errors
from core.mechanisms.tree.interactions import BestAsked
from core.mechanisms.tree.noisy_halfspaces import balance_level, plane_count
from core.mechanisms.tree.ranges import foreseen_ranges, nested_blocks
from core.mechanisms.tree.workload import WIDE, Workload

COUNT = Fraction(1, 100)
"""The part that buys the number of rows."""
SCORES, PURE_SCORES = Fraction(1, 40), Fraction(1, 80)
"""Each of two rounds of distances; the second where noise is pure, which then is drawn for all of them together: 14
census columns at epsilon 10 err .0160 with 1/80 and .0162 with 1/40 (paired noise)."""
FAINT_SCORES, FAINT, PURE_FAINT = Fraction(1, 20), 5.0, 100.0
"""What each round gets instead where there are fewer rows to a cell (`split_for`), because distances are hard to tell
there. Without delta the census columns err .0359 with 1/20, .0367 with 1/12 or 1/32 and .0377 with 1/60 at epsilon 1,
.0984 with 1/20 and .0993 with 1/14 at .1 (4 to 6 releases, paired noise)."""
IN_TREE = Fraction(1, 2)
"""The tree's part of what tables of several columns get; the records get the other."""
COLUMNS = Fraction(3, 10)
"""What single columns get where tables are all that is asked, as far as it is foreseen before the rows are counted."""
AT_ONE, FALLING = 0.65, 0.2
FEWEST, MOST = Fraction(1, 5), Fraction(2, 3)
"""What they get then: AT_ONE where there is one row to a cell, less by the power FALLING of those rows, within bounds.
Measured with parts from 1/4 to 3/4 in mean total variation: best at 13/20 with 1 row to a cell (14 census columns,
epsilon .1; with 3/4 strong pairs stay unmeasured), at 2/5 with 10 (the same, epsilon 1), and at 1/4 to 2/5 with 110
(seven of the columns)."""
PURE_AT_ONE, PURE_FALLING = 0.85, 0.26
"""The same with Laplace noise, which grows with the inverse of a part and not with its root, so that columns with few
rows to a cell need more: with them instead of the other two, in mean total variation (paired noise), 14 census columns
err .1053 instead of .1110 at epsilon .1 and .0390 instead of .0399 at 1, and a table of 1,300 rows that was looked at
afterwards only .1147 instead of .1245 at epsilon 1."""
NESTED = 64
"""A column that is counted level by level gets as much as a column of so many cells: a few levels of 16 parts each."""
UNTOLD = 0.3
"""Cells that the number of rows counts for with every column that does not tell it; from .2 to .6 makes no difference,
1.5 costs 4 % (16 yes/no columns, epsilon .1)."""


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
    def of(cls, workload: Workload, columns: Fraction, scores: Fraction = SCORES) -> Split:
        """`columns` and `scores` are what single columns, and distances, get where tables are all that is asked."""
        parts = workload.parts(1 - COUNT)
        if not workload.pairs():
            return cls(parts["tables"], parts["ranges"], parts["planes"], Fraction(0), Fraction(0))
        scale = parts["tables"] / (1 - COUNT)
        rest = parts["tables"] - (columns + 2 * scores) * scale
        return cls(columns * scale, parts["ranges"], parts["planes"], scores * scale, rest)

    def rows(self, spending: Spending, workload: Workload) -> Fraction:
        """What of the columns' part goes to the number of rows, which single columns measured beside it do not tell."""
        nested = workload.nested()
        singles = [name for name in workload.measured() if (name,) not in nested]
        untold = sum(_best(spending, workload, name).interaction for name in singles)
        if not self.columns or not untold or spending.unit.public_rows or workload.lawfulness.rows is not None:
            return Fraction(0)
        own = (UNTOLD * untold) ** spending.power
        others = sum(self.sizes(spending, workload).values())
        return self.columns * Fraction(own / (own + others)).limit_denominator(1_000)

    @staticmethod
    def sizes(spending: Spending, workload: Workload) -> dict[Columns, float]:
        """What single columns get, in proportion."""
        nested = workload.nested()
        found: dict[Columns, float] = {}
        for name in workload.measured():
            cells = workload.domain[name].size
            gain = _best(spending, workload, name).gain
            found[name,] = float(min(cells, NESTED) if (name,) in nested else cells * gain) ** spending.power
        return found

    def events(self, spending: Spending, workload: Workload) -> dict[Columns, Additive]:
        """What each single column, and each set of columns whose ranges are counted, gets in all."""
        portions: list[Portion] = []
        if self.columns and (sizes := self.sizes(spending, workload)):
            portions += spending.split(sizes, self.columns)
        if self.ranges:
            portions += spending.split(workload.ranges, self.ranges)
        return spending.together(portions)


def split_for(spending: Spending, workload: Workload, rows: float) -> Split:
    """The split for about so many rows: at least so many, where they were counted with much noise.

    The fewer rows there are to a cell of a single column, counted in standard deviations of the noise that the whole
    budget buys for one count, the less can be known of pairs and the more single columns get.
    """
    reach = rows / (float(spending.sigmas(np.ones(1))[0]) * math.sqrt(2))
    measured = workload.measured()
    cells = sum(min(workload.domain[name].size, WIDE) for name in measured)
    clear = max(reach, 1e-9) / max(cells, 1)
    at_one, falling = (PURE_AT_ONE, PURE_FALLING) if spending.pure else (AT_ONE, FALLING)
    share = min(max(at_one * clear**-falling, float(FEWEST)), float(MOST)) if measured else 0.0
    if spending.pure:
        scores = FAINT_SCORES if clear < PURE_FAINT else PURE_SCORES
    else:
        scores = FAINT_SCORES if clear < FAINT else SCORES
    return Split.of(workload, Fraction(share).limit_denominator(100), scores)


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
        found = [
            foreseen_ranges(workload.domain, columns, events[columns], unit)
            if workload.searched(columns)
            else range_errors(nested_blocks(workload.domain, columns, events[columns], unit), unit)
            for columns in nested
        ]
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


def _best(spending: Spending, workload: Workload, name: str) -> BestAsked:
    return BestAsked.of((name,), workload.domain, spending.unit, spending.pure)
