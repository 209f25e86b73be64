"""What a random range, and the worst one, is off by when it is put together from noisy blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.base.arrays import Floats
from core.mechanisms.ranges.nested import NestedBlocks
from core.models.fitting.pyramid import Pyramid
from core.privacy.unit import Unit

RANGES = 512
ROOTS = tuple(math.sqrt(prime) for prime in (2, 3, 5, 7, 11, 13))
"""Multiples of these, modulo 1, fill a box evenly: public ranges over which the expected error is averaged."""


def range_errors(nested: NestedBlocks, unit: Unit) -> tuple[float, float]:
    """Mean and largest error of the least-squares answer to a range, before negative counts are removed.

    A range covers the share m of each block. Given the count of a block, its parts are off by noise of variance u that
    adds up to zero over the parts, independently of all other blocks; so the variance of the answer is the sum, over
    blocks, of u times the sum of (m_part - m_block)^2 over its parts, which is the sum of m_part^2 minus parts times
    m_block^2. The largest: at each level only blocks that an end of the range cuts have
    parts with different m, and their squares add up to at most parts/4 (at the top, if the number of rows is not known,
    to all parts).
    """
    blocks, noise = nested.pyramid, nested.noise(unit)
    counted = [math.prod(blocks.grid(level)) for level in range(blocks.levels)]
    parts = [below / above for above, below in zip([1, *counted], counted, strict=False)]
    spread = [each.sigma**2 for each in noise]
    for level in range(blocks.levels - 2, -1, -1):
        spread[level] = 1 / (1 / spread[level] + 1 / (parts[level + 1] * spread[level + 1]))
    squares = np.zeros(RANGES)
    for level, variance in enumerate(spread):
        above = _covered(blocks, level - 1, level) if level or unit.public_rows else 0.0
        squares += np.maximum(_covered(blocks, level, level) - above, 0.0) * variance
    cut = [1.0 if unit.public_rows else 4.0, *(_cut_blocks(blocks.grid(level)) for level in range(blocks.levels - 1))]
    largest = sum(
        number * max(share / 4, 0.5) * variance for number, share, variance in zip(cut, parts, spread, strict=True)
    )
    asked = 0.05 / math.prod(size * (size + 1) / 2 for size in blocks.shape)
    single = max(each.tail(asked) for each in noise)
    mean = float(np.sqrt(2 * squares / math.pi).mean())
    return mean, max(single, math.sqrt(2 * largest * math.log(2 / asked)))


def _covered(blocks: Pyramid, level: int, finer: int) -> Floats:
    """The sum of squared covered shares over the blocks of a level, each times its number of parts at a finer level.

    One figure for each of some public ranges whose ends fill the axes evenly; level -1 is the whole.
    """
    found = np.ones(RANGES)
    for axis, size in enumerate(blocks.shape):
        ends = [np.floor(size * (np.arange(1, RANGES + 1) * root % 1.0)) for root in ROOTS[2 * axis : 2 * axis + 2]]
        first, last = np.minimum(*ends), np.maximum(*ends) + 1
        starts = blocks.starts[level][axis] if level >= 0 else np.zeros(1, dtype=np.int64)
        width = np.diff(starts, append=size)
        parts = np.diff(np.searchsorted(blocks.starts[finer][axis], np.append(starts, size)))
        before = np.cumsum(parts) - parts
        low, high = (np.searchsorted(starts, end, side="right") - 1 for end in (first, last - 1))
        left = (np.minimum(starts[low] + width[low], last) - first) / width[low]
        right = (last - starts[high]) / width[high]
        inner = before[high] - before[low] - parts[low] + parts[high] * right**2
        found *= parts[low] * left**2 + np.where(high > low, inner, 0.0)
    return found


def _cut_blocks(grid: Sequence[int]) -> float:
    """Most blocks that the two ends of a range along each axis can cut."""
    return sum(2 * math.prod(grid) / blocks for blocks in grid)


def cut_parts(shape: Sequence[int]) -> float:
    """Most parts of at least two cells that a range cuts without holding them: two for one column, else along faces."""
    return 2.0 if len(shape) == 1 else sum(2 * math.prod(shape) / size / 2 for size in shape)
