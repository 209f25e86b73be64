"""Noisy counts of nested blocks: what the interval tree and the rectangle tree share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, Floats
from core.base.errors import Refused
from core.base.options import check_options, option
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.kernel.measurement import Additive, NoiseLevel
from core.kernel.tables import Blocks
from core.mechanisms.kit.portions import divide, wanted
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.timing import counting
from core.models.fitting.pyramid import Estimate, Pyramid, gather, pyramid
from core.models.histogram import MOST_CELLS
from core.models.range_tables import Ranges, ranges
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

DECAY = 0.8
"""Each level gets this part of the level above it, in epsilon: long ranges are made of coarse blocks. Least squares
alone would favour 0.9 to 1; removing negative counts makes fine levels cheaper where data are sparse. Measured on four
public histograms of 1,024 and 4,096 cells and two of 256 x 256: 0.8 is within 2 % of the best single figure, whether
the number of rows is public or private; equal shares lose 3-8 %, and 0.6 loses 14 % on the tables. (One column alone is
slightly better with 0.85.)"""

RANGES = 512
ROOTS = tuple(math.sqrt(prime) for prime in (2, 3, 5, 7, 11, 13))
"""Multiples of these, modulo 1, fill a box evenly: public ranges over which the expected error is averaged."""


@dataclass(frozen=True)
class NestedBlocks:
    """Nested blocks of one table of counts, and what pays for each level.

    **Privacy** a row falls into one block of each level, so a level changes like a table (`tables.Blocks`).
    """

    columns: Columns
    pyramid: Pyramid
    events: tuple[Additive, ...]

    def asked(self) -> tuple[Blocks, ...]:
        """What is measured, level by level."""
        return tuple(Blocks(self.columns, starts) for starts in self.pyramid.starts)

    def noise(self, unit: Unit) -> list[NoiseLevel]:
        """How large the noise of each level is."""
        return [NoiseLevel.of(each, event, unit) for each, event in zip(self.asked(), self.events, strict=True)]

    def measure(self, kernel: Kernel) -> Estimate:
        """Noisy counts of every block of every level, and what each level and those below it say together."""
        taken = [kernel.measure(each, event) for each, event in zip(self.asked(), self.events, strict=True)]
        return gather(self.pyramid, [each.values for each in taken], [each.sigma**2 for each in taken])


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Count the blocks of every level with noise, make the levels agree, and remove negative counts."""

    name: ClassVar[str]
    about: ClassVar[str]
    """What the expected errors speak of."""
    decay: ClassVar[float] = DECAY
    """What each level gets of the level above it, in epsilon."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    branching: int = option(
        "whole", "Branching", default=16, low=2, high=1024, help="Most parts of a block along each column."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            self.admit(query, domain)
        cells = sum(domain.cells(columns) for columns in wanted(self.queries, domain))
        if cells > MOST_CELLS:
            raise Refused(
                f"These query classes cover {amount(cells)} cells and '{self.name}' holds at most "
                f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
            )

    def admit(self, query: QueryClass, domain: Domain) -> None:
        """Refuse a class that this tree cannot serve, naming what can."""
        raise NotImplementedError

    def top(self, unit: Unit) -> int:
        """How many parts the whole has along each column, unless more of them save a level."""
        raise NotImplementedError

    def settle(self, estimate: Estimate, total: float) -> Floats:
        """Cells without a negative one, with this total."""
        raise NotImplementedError

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(event for blocks in self._blocks(domain, unit) for event in blocks.events)

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        errors = [range_errors(blocks, unit) for blocks in self._blocks(domain, unit)]
        return Expected(
            mean=sum(mean for mean, _ in errors) / len(errors),
            worst=max(worst for _, worst in errors),
            about=self.about,
        )

    def seconds(self, domain: Domain, unit: Unit) -> float:
        return counting(wanted(self.queries, domain), domain)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Ranges:
        self.check(kernel.domain, kernel.unit)
        tables = self._blocks(kernel.domain, kernel.unit)
        estimates: dict[Columns, Estimate] = {}
        for done, blocks in enumerate(tables):
            progress("Counting blocks", 0.6 * done / len(tables))
            estimates[blocks.columns] = blocks.measure(kernel)
        progress("Removing negative counts", 0.6)
        total = _total(list(estimates.values()), kernel.public_rows)
        settled = {columns: self.settle(estimate, total) for columns, estimate in estimates.items()}
        progress("Drawing records", 0.9)
        return ranges(kernel.domain, settled, total, kernel.generator())

    def _blocks(self, domain: Domain, unit: Unit) -> tuple[NestedBlocks, ...]:
        weights = wanted(self.queries, domain)
        built = {columns: pyramid(domain.shape(columns), self.branching, self.top(unit)) for columns in weights}
        kind = Laplace if self.budget.pure else Gaussian
        # Where the squares of the shares add up, the same decay of the noise needs its square in rho.
        decay = self.decay if self.budget.pure else self.decay**2
        shares = {
            (str(level), *columns): weights[columns] * decay**level / sum(decay**step for step in range(blocks.levels))
            for columns, blocks in built.items()
            for level in range(blocks.levels)
        }
        portions = divide(shares, self.budget, kind)
        events = {columns: tuple(each.event for each in portions if each.columns[1:] == columns) for columns in built}
        return tuple(NestedBlocks(columns, blocks, events[columns]) for columns, blocks in built.items())


def _total(estimates: Sequence[Estimate], public: int | None) -> float:
    """The number of rows: the public one, else the top levels' sums weighted by inverse variance."""
    if public is not None:
        return float(public)
    weights = [1 / estimate.variances[0].sum() for estimate in estimates]
    sums = [estimate.values[0].sum() for estimate in estimates]
    return max(float(np.dot(weights, sums)) / sum(weights), 0.0)


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
