"""A tree of blocks over stretches of one column, when the stretches are far from equally wide, and what pays for it.

Everything here follows from where stretches begin, which is public by then: no count is looked at.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Columns, Floats, IntArray
from core.kernel.noise_level import Additive
from core.mechanisms.ranges.nested import NestedBlocks, shared_among
from core.models.fitting.pyramid import Pyramid
from core.privacy.events import Laplace

TOP = 24
"""Blocks at the top. On generated columns of 2^12 and 2^16 cells and four public histograms 16 err from 4 % less to 8 %
more, 32 2 to 4 % and 48 6 to 9 % more. So many also tell whether most of them are nothing (`sparse_prior.py`)."""
WIDTH_POWER = 0.25
"""A stretch counts for this power of its width. An end of a random range falls into wide stretches, so the blocks
above them should hold few others; but wide ones are mostly empty, and empty ones cost little once negative counts are
removed. On the same columns counting all alike errs up to 2 % more, the half power up to 3 %, the whole
width 5 to 12 %."""
_FEWER, _MORE = 0.8, 1.5
"""A level has fewer blocks than this part of all stretches, and more than so many times the level above it."""
_LEAST_WEIGHT = 1e-3


def stretch_blocks(columns: Columns, starts: IntArray, size: int, event: Additive, branching: int) -> NestedBlocks:
    """Blocks of stretches that begin at these cells, each level paid for what it adds to the error of a range.

    Noise of scale 1/e_l in level l adds w_l/e_l^2 to the expected square (`level_weights`), which for a given sum of
    e_l is least where e_l is in proportion to the cube root of w_l; for a given sum of e_l^2, to the fourth root.
    """
    blocks = stretch_pyramid(starts, size, branching)
    root = 1 / 3 if isinstance(event, Laplace) else 1 / 4
    return NestedBlocks(columns, blocks, shared_among(event, np.maximum(level_weights(blocks), _LEAST_WEIGHT) ** root))


def stretch_pyramid(starts: IntArray, size: int, branching: int) -> Pyramid:
    """Levels of 24, 24 b, 24 b^2 ... blocks of about equal sums of w^(1/4), w the widths of their stretches."""
    weights = np.diff(starts, append=size).astype(np.float64) ** WIDTH_POWER
    ends = np.cumsum(weights)
    middles = (ends - weights / 2) / ends[-1]
    levels: list[IntArray] = []
    parts = TOP
    while parts < 2 * len(starts):
        first = np.flatnonzero(np.diff(np.floor(middles * parts), prepend=-1.0)).astype(np.int64)
        if len(first) >= _FEWER * len(starts):
            break
        if len(first) > (_MORE * len(levels[-1]) if levels else 1):
            levels.append(first)
        parts *= branching
    return Pyramid((size,), tuple((starts[each],) for each in [*levels, np.arange(len(starts))]))


def level_weights(blocks: Pyramid) -> Floats:
    """About how many blocks of each level put their noise into a random range, over 2.

    An end falls into a block with the chance of its width W. Given the block's count, a part at the share x of the
    block is on one side of the end with chance x and on the other with 1 - x: W x (1 - x) for each part.
    """
    (size,) = blocks.shape
    above, found = np.zeros(1, dtype=np.int64), []
    for (starts,) in blocks.starts:
        owner = np.searchsorted(above, starts, side="right") - 1
        width = np.diff(above, append=size)[owner]
        place = (starts + np.diff(starts, append=size) / 2 - above[owner]) / width
        found.append(float((width / size * place * (1 - place)).sum()))
        above = starts
    return np.array(found)
