"""Send a set of answers that holds the true one more often than chance would."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.local.randomisers.protocol import BitLine, Law, ReportArray, Support, WholeNumbers, listed
from core.local.randomisers.unary import short_enough

_BLOCK = 1 << 16
"""People at a time, so that their sets stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(BitLine, Support):
    """A set of w answers: each set with the true answer has weight r, each set without it weight 1.

    **Privacy** weights differ by the factor r and their sum is the same for every answer: ln(r)-local, exactly.
    **Accuracy** w near k/(r + 1) gives the smallest variance that any randomiser can have for a rare answer's share,
    at most 4r/((r - 1)^2 n) (Ye and Barg 2018).
    **Runtime** w draws per person, O(n k) to count.

    Wang et al. 2016 and Ye and Barg 2018.
    """

    name: ClassVar[str] = "subset"
    title: ClassVar[str] = "A set of answers"
    known_as: ClassVar[tuple[str, ...]] = ("subset selection", "SS")
    prefer: ClassVar[str] = "The most exact one for up to 256 answers without an order."

    def __post_init__(self) -> None:
        Support.__post_init__(self)
        short_enough(self.values)

    @cached_property
    def size(self) -> int:
        """Answers in a set: of the two whole numbers around k/(r + 1) the one with the smaller variance."""
        near = int(self.values / (self.ratio + 1))
        return min((max(1, near), min(near + 1, self.values - 1)), key=self._rare_variance)

    def _rare_variance(self, size: int) -> Fraction:
        hit, miss = self._chances(size)
        return miss * (1 - miss) / (hit - miss) ** 2

    def _chances(self, size: int) -> tuple[Fraction, Fraction]:
        inside, outside = size * self.ratio.numerator, (self.values - size) * self.ratio.denominator
        hit = Fraction(inside, inside + outside)
        return hit, (hit * (size - 1) + (1 - hit) * size) / (self.values - 1)

    @property
    def hit(self) -> Fraction:
        return self._chances(self.size)[0]

    @property
    def miss(self) -> Fraction:
        return self._chances(self.size)[1]

    def law(self) -> Law:
        listed(self.values, 2**self.values)
        with_it, without = comb(self.values - 1, self.size - 1), comb(self.values - 1, self.size)
        lines = [[Fraction(0)] * 2**self.values for _ in range(self.values)]
        for chosen in combinations(range(self.values), self.size):
            place = sum(1 << answer for answer in chosen)
            for answer, line in enumerate(lines):
                line[place] = self.hit / with_it if answer in chosen else (1 - self.hit) / without
        return tuple(map(tuple, lines))

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        reports = np.zeros((len(codes), self.values), dtype=np.uint8)
        for start in range(0, len(codes), _BLOCK):
            self._fill(reports[start : start + _BLOCK], codes[start : start + _BLOCK], draws)
        return reports

    def _fill(self, reports: NDArray[np.uint8], codes: IntArray, draws: WholeNumbers) -> None:
        inside = self.size * self.ratio.numerator
        total = inside + (self.values - self.size) * self.ratio.denominator
        true = draws.below(total, len(codes)) < inside
        for held in (True, False):
            people = np.flatnonzero(true == held)
            others = _uniform_sets(self.values - 1, self.size - held, len(people), draws)
            own = codes[people]
            # The others are numbered without the true answer: those from it on are one place further.
            line = np.zeros((len(people), self.values), dtype=np.uint8)
            after = np.arange(self.values - 1) >= own[:, None]
            line[:, :-1] |= others & ~after
            line[:, 1:] |= others & after
            line[np.arange(len(people)), own] = held
            reports[people] = line

    def read(self, text: str) -> NDArray[np.uint8]:
        report = BitLine.read(self, text)
        if int(report.sum()) != self.size:
            raise ValueError("not a set of this size")
        return report

    def recipe(self) -> dict[str, Any]:
        return {
            "law": self.name, "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator, "w": self.size,
        }  # fmt: skip


def _uniform_sets(values: int, size: int, count: int, draws: WholeNumbers) -> NDArray[np.uint8]:
    """Sets of so many of `values` things, all equally likely, as lines of bits (Floyd's algorithm)."""
    chosen = np.zeros((count, values), dtype=np.uint8)
    people = np.arange(count)
    for last in range(values - size, values):
        drawn = draws.below(last + 1, count)
        taken = chosen[people, drawn].astype(bool)
        chosen[people, np.where(taken, last, drawn)] = 1
    return chosen
