"""Ranges inside the tree mechanism: noisy counts of nested blocks of a column, or of two or three columns.

**Privacy** a row falls into one block of each level, so a level is a table like any other (`NestedBlocks`). What all
levels are given is divided among them, exactly; of a pure part, a column of many cells whose ranges alone are
asked first spends some on where rows crowd (`stages.py`). Agreement between levels and everything
after it is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.mechanisms.ranges.interval_tree import IntervalTree
from core.mechanisms.ranges.levels import Levels
from core.mechanisms.ranges.nested import DECAY, NestedBlocks, parts_of
from core.mechanisms.ranges.range_errors import cut_parts, range_errors
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.mechanisms.ranges.stages import find_stretches, searched_stage
from core.mechanisms.ranges.stretches import stretch_blocks
from core.mechanisms.tree.compression import Compression, Grouping
from core.mechanisms.tree.workload import WIDE
from core.models.column_counts import ColumnCounts
from core.models.fitting.pyramid import Estimate, Pyramid, pyramid
from core.models.fitting.raking import Pull
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain

MOST_GROUPS = 64
"""Groups of neighbouring cells in which a wide column meets other columns."""
FEW_BRANCHING, FEW_DECAY = 5, 1.1
"""Parts of a block, and what a level gets of the one above it, in a column of up to `WIDE` cells. Such a column is
seldom sparse, so its cells need as much as its blocks: with levels of 5, 25 and 100 parts least squares leaves a range
.8 of the noise of 8 and 100 parts that fall by .8. Measured on generated tables (churn and credit, epsilon 1, eight
sessions each): ranges are off by .00103 and .00163 instead of .00131 and .00186 on average, and the largest error of
3,000 conjunctions and ranges is .0054 and .0079 instead of .0060 and .0094."""
MOST_BLOCKS = 4_096
"""Blocks of a level that records are re-weighted to; finer ones would hold few records each."""


def nested_blocks(domain: Domain, columns: Columns, event: Additive, unit: Unit) -> NestedBlocks:
    """The levels of blocks that ranges of these columns are made of, and what each level gets of an event."""
    if len(columns) == 1 and domain.cells(columns) <= WIDE:
        blocks = pyramid(domain.shape(columns), FEW_BRANCHING, FEW_BRANCHING)
        return NestedBlocks(columns, blocks, parts_of(event, FEW_DECAY, blocks.levels))
    scheme = _scheme(columns)
    blocks = pyramid(domain.shape(columns), scheme.branching, scheme.top(unit))
    return NestedBlocks(columns, blocks, parts_of(event, DECAY, blocks.levels))


def find_blocks(kernel: Kernel, columns: Columns, event: Additive, rows: float) -> NestedBlocks:
    """The same, over stretches in which rows crowd where noise is pure and one column has many cells."""
    stage = searched_stage(kernel.domain, columns, event)
    if stage is None:
        return nested_blocks(kernel.domain, columns, event, kernel.unit)
    return find_stretches(kernel, stage, _scheme(columns).branching, rows)


def foreseen_ranges(domain: Domain, columns: Columns, event: Additive, unit: Unit) -> tuple[float, float]:
    """The mean error of a random range and the worst one, where rows crowd in all cells or, for the worst, hide."""
    stage = searched_stage(domain, columns, event)
    if stage is None:
        return range_errors(nested_blocks(domain, columns, event, unit), unit)
    (size,) = domain.shape(columns)
    cells = stretch_blocks(columns, np.arange(size), size, stage.counting, _scheme(columns).branching)
    mean, worst = range_errors(cells, unit)
    return mean, worst + cut_parts((size,)) * stage.most_hidden(domain, unit)


@dataclass(frozen=True, eq=False)
class NestedCounts:
    """The released counts of nested blocks, without negatives and with the common total."""

    columns: Columns
    estimate: Estimate[Pyramid]
    cells: Floats

    @classmethod
    def of(cls, columns: Columns, estimate: Estimate[Pyramid], total: float) -> NestedCounts:
        """What was measured; where the smallest blocks are stretches, each is spread evenly over its cells."""
        blocks, scheme = estimate.pyramid, _scheme(columns)
        found = blocks.grid(blocks.levels - 1) != blocks.shape
        cells = blocks.spread((scheme.settle_found if found else scheme.settle)(estimate, total))
        return cls(columns, estimate, cells.reshape(blocks.shape))

    def sigma(self, cells: int) -> float:
        """About the standard deviation of one of so many parts of equal size: from the level that tells it best."""
        spread = [float(np.sqrt(variances.mean())) for variances in self.estimate.variances]
        finer = [math.sqrt(max(1.0, variances.size / cells)) for variances in self.estimate.variances]
        return min(noise * factor for noise, factor in zip(spread, finer, strict=True))

    def column(self, regular: int, total: float, rare: float) -> tuple[Floats, Grouping, float]:
        """Of one column: its cells, how they are grouped, and the noise in a group."""
        if self.cells.size > WIDE:
            grouping = neighbours_joined(self.cells, regular, total, self.sigma(MOST_GROUPS))
        else:
            grouping = rare_joined(self.cells, regular, rare * self.sigma(self.cells.size))
        return self.cells, grouping, self.sigma(grouping.size)

    def measured(self) -> ColumnCounts:
        """Of one column: its blocks as they were measured."""
        starts = tuple(along for (along,) in self.estimate.pyramid.starts)
        return ColumnCounts(starts, self.estimate.values, self.estimate.variances)

    def merged(self, compression: Compression) -> Floats:
        """The table over groups."""
        table: NDArray[np.number] = self.cells
        for axis, name in enumerate(self.columns):
            table = compression.groupings[name].merged(table, axis)
        return np.asarray(table, dtype=np.float64)

    def pulls(self, points: Points) -> list[Pull]:
        """Every level that is not too fine as a partition of the records, with the counts and noise of its parts."""
        codes = [points.codes[:, points.domain.names.index(name)] for name in self.columns]
        made = []
        for level, starts in enumerate(self.estimate.pyramid.starts):
            grid = self.estimate.pyramid.grid(level)
            if level and math.prod(grid) > MOST_BLOCKS:
                break
            flat = np.zeros(len(points.codes), dtype=np.int64)
            table = self.cells
            for axis, (places, along, size) in enumerate(zip(starts, codes, grid, strict=True)):
                flat = flat * size + np.searchsorted(places, along, side="right") - 1
                table = np.add.reduceat(table, places, axis=axis)
            made.append(Pull.of(flat, table, float(np.sqrt(self.estimate.variances[level].mean()))))
        return made


def neighbours_joined(counts: Floats, regular: int, total: float, sigma: float) -> Grouping:
    """Neighbouring cells joined into groups of about equal mass; cells without a place in the order stay alone."""
    most = int(np.clip(total / (3 * sigma) if sigma > 0 else MOST_GROUPS, 1, MOST_GROUPS))
    heights = np.cumsum(counts[:regular])
    middles = (heights - counts[:regular] / 2) / heights[-1] if heights[-1] > 0 else np.arange(regular) / regular
    bins = np.minimum((most * middles).astype(np.int64), most - 1)
    return _grouped(np.unique(bins, return_inverse=True)[1].astype(np.int64), counts)


def rare_joined(counts: Floats, regular: int, least: float) -> Grouping:
    """Cells that hold less than `least` joined with such neighbours until they hold as much; others stay alone.

    A range keeps rare cells apart that are far from each other; one group for all of them would mix both ends of the
    column. What is left of a run joins the cell after it, or at the end the one before.
    """
    groups, group, held = np.zeros(regular, dtype=np.int64), 0, 0.0
    for cell, count in enumerate(counts[:regular].tolist()):
        if count >= least and held >= least / 2:
            group, held = group + 1, 0.0
        groups[cell], held = group, held + count
        if held >= least and cell + 1 < regular:
            group, held = group + 1, 0.0
    if held < least / 2 and group and groups[-1] == group:
        groups[groups == group] = group - 1
    return _grouped(groups, counts)


def _grouped(groups: NDArray[np.int64], counts: Floats) -> Grouping:
    """Groups of the cells that have a place in the order, each of the others being a group of its own."""
    groups = np.append(groups, groups.max() + 1 + np.arange(counts.size - groups.size))
    mass = np.bincount(groups, weights=counts)[groups]
    members = np.bincount(groups)[groups]
    return Grouping(groups, np.divide(counts, mass, out=1.0 / members, where=mass > 0))


def _scheme(columns: Columns) -> Levels:
    """The tree that would serve these ranges alone; its own budget plays no part here."""
    return (IntervalTree if len(columns) == 1 else RectangleTree)(queries=(), budget=Budget(1))
