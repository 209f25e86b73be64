"""Answer about one level of a tree of ranges, so that every range is a sum of few blocks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Floats, IntArray
from core.local.randomisers.hadamard import HadamardResponse
from core.local.randomisers.k_ary import KAryResponse
from core.local.randomisers.protocol import Law, OneNumber, ReportArray, WholeNumbers, check, listed
from core.models.fitting.pyramid import Pyramid, gather, nonnegative, pyramid

FAN_OUT = 5
"""Parts of a block: near the best for sums of blocks (Cormode, Kulkarni and Srivastava 2019)."""


@dataclass(frozen=True, kw_only=True)
class Hierarchy(OneNumber):
    """A level of a tree of ranges is drawn without looking at the answer; the report is about the block there.

    Each level is told by k-ary response or a Hadamard coefficient, whichever is more exact for its number of blocks.

    **Privacy** whatever the level, one ln(r)-local report is sent: ln(r)-local, exactly.
    **Accuracy** a range is a sum of at most 2 (5 - 1) blocks per level, each of variance about L 4r/((r - 1)^2 n) for L
    levels, and less after the levels have been made to agree by least squares.
    **Runtime** three draws per person; counting O(n + k log k).

    Cormode, Kulkarni and Srivastava 2019 (HHB); consistency: Hay, Rastogi, Miklau and Suciu 2010.
    """

    name: ClassVar[str] = "hierarchy"
    title: ClassVar[str] = "A range that holds the answer"
    known_as: ClassVar[tuple[str, ...]] = ("hierarchical histogram", "HH")
    prefer: ClassVar[str] = "Ranges and quantiles of an ordered column, spikes or not."
    gives: ClassVar[str] = "ranges"
    values: int
    ratio: Fraction

    def __post_init__(self) -> None:
        check(self.values, self.ratio)

    @cached_property
    def tree(self) -> Pyramid:
        return pyramid((self.values,), FAN_OUT)

    @cached_property
    def levels(self) -> tuple[KAryResponse | HadamardResponse, ...]:
        """The randomiser of each level that has more than one block."""
        sizes = [self.tree.grid(level)[0] for level in range(self.tree.levels)]
        return tuple(_better(size, self.ratio) for size in sizes if size > 1)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first report of each level, and one past the last."""
        return tuple(int(start) for start in np.cumsum([0, *(level.outputs for level in self.levels)]))

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.starts[-1]

    @cached_property
    def blocks(self) -> tuple[IntArray, ...]:
        """The block of every answer, level by level."""
        every = np.arange(self.values)
        kept = range(self.tree.levels - len(self.levels), self.tree.levels)
        return tuple(np.searchsorted(self.tree.starts[level][0], every, side="right") - 1 for level in kept)

    def law(self) -> Law:
        listed(self.values, self.outputs)
        part = Fraction(1, len(self.levels))
        laws = [level.law() for level in self.levels]
        return tuple(
            tuple(part * chance for law, block in zip(laws, self.blocks, strict=True) for chance in law[block[answer]])
            for answer in range(self.values)
        )

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        drawn = draws.below(len(self.levels), len(codes))
        reports = np.zeros(len(codes), dtype=np.int64)
        for place, level in enumerate(self.levels):
            people = np.flatnonzero(drawn == place)
            reports[people] = level.randomise(self.blocks[place][codes[people]], draws) + self.starts[place]
        return reports

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports, minlength=self.outputs)

    def shares(self, tally: IntArray) -> Floats:
        """The share of every answer, without negatives; ranges of it follow the levels' least squares."""
        return self.agreed([self._level(place, tally) for place in range(len(self.levels))])

    def agreed(self, levels: list[tuple[Floats, float]]) -> Floats:
        """Shares of all answers from unbiased shares of every level's blocks, each level with its variance."""
        known = [variance for _, variance in levels if variance < np.inf]
        if not known:
            return np.full(self.values, 1 / self.values)
        top = self.tree.levels - len(self.levels)
        tree = Pyramid(self.tree.shape, self.tree.starts[top:])
        # A level about which nobody was asked says next to nothing.
        variances = [min(variance, 1e6 * max(known)) for _, variance in levels]
        return nonnegative(gather(tree, [shares for shares, _ in levels], variances), 1.0)

    def _level(self, place: int, tally: IntArray) -> tuple[Floats, float]:
        """Unbiased shares of a level's blocks, and their variance."""
        level = self.levels[place]
        counts = tally[self.starts[place] : self.starts[place + 1]]
        people = int(counts.sum())
        if not people:
            return np.full(level.values, 1 / level.values), np.inf
        supports = level.tally(np.repeat(np.arange(level.outputs), counts))
        return level.unbiased(supports, people), float(level.variance(1 / level.values, people))

    def range_deviation(self, people: float) -> float:
        """Of the share of any range: the sum of its blocks, for which least squares is at least as exact."""
        count = len(self.levels)
        each = [float(level.variance(0.5, 1)) * count / max(people, 1) for level in self.levels]
        return float(np.sqrt(sum(2 * (FAN_OUT - 1) * variance for variance in each)))

    def recipe(self) -> dict[str, Any]:
        return {
            "law": self.name, "k": self.values, "levels": [level.recipe() for level in self.levels],
            "blocks": [block.tolist() for block in self.blocks], "starts": list(self.starts),
        }  # fmt: skip

    def liars(self, share: float) -> float:
        """How much a share of lawless reports can move a block of the level where they do the most harm."""
        return max(level.liars(share * len(self.levels)) for level in self.levels)


def _better(size: int, ratio: Fraction) -> KAryResponse | HadamardResponse:
    """The one of the two with the smaller variance of a rare block."""
    k_ary, hadamard = KAryResponse(values=size, ratio=ratio), HadamardResponse(values=size, ratio=ratio)
    return k_ary if k_ary.variance(0.0, 1) <= hadamard.variance(0.0, 1) else hadamard
