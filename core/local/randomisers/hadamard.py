"""Send one column of a Hadamard matrix, more often one that fits the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.local.randomisers.protocol import Law, OneNumber, ReportArray, Support, WholeNumbers, listed


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(OneNumber, Support):
    """The report is a number below K = 2^m > k; it fits answer x if it has an even number of bits in common with x + 1.

    Half of the reports fit an answer, a quarter fit two given ones. The report fits the true answer with probability
    r/(r + 1), and is uniform among those that do, or do not.

    **Privacy** a report has weight r or 1, and every answer has as many of each: ln(r)-local, exactly.
    **Accuracy** variance ((r + 1)/(r - 1))^2/n of a rare answer's share: above 4r/((r - 1)^2 n) by 1/n.
    **Runtime** two draws per person; counting O(n + K log K) by the fast transform; m bits per report.

    Acharya, Sun and Zhang 2019.
    """

    name: ClassVar[str] = "hadamard"
    title: ClassVar[str] = "A Hadamard coefficient"
    known_as: ClassVar[tuple[str, ...]] = ("Hadamard response", "HR")
    prefer: ClassVar[str] = "Very many answers at a small ε: the shortest reports, counted in no time."

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return 1 << self.values.bit_length()

    @property
    def hit(self) -> Fraction:
        return self.ratio / (self.ratio + 1)

    @property
    def miss(self) -> Fraction:
        return Fraction(1, 2)

    def law(self) -> Law:
        listed(self.values, self.outputs)
        half = self.outputs // 2
        return tuple(
            tuple((self.hit if _even(report & answer) else 1 - self.hit) / half for report in range(self.outputs))
            for answer in range(1, self.values + 1)
        )

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        fits = draws.below(self.ratio.numerator + self.ratio.denominator, len(codes)) < self.ratio.numerator
        free = draws.below(self.outputs // 2, len(codes))
        rows = np.asarray(codes, dtype=np.int64) + 1
        # One bit that the row has is left out of the free ones, and set to make the parity right.
        top = np.int64(1) << np.floor(np.log2(rows)).astype(np.int64)
        report = (free & (top - 1)) | ((free & ~(top - 1)) << 1)
        even = np.bitwise_count(report & rows) % 2 == 0
        return np.where(even == fits, report, report | top)

    def tally(self, reports: ReportArray) -> IntArray:
        transformed = np.bincount(reports, minlength=self.outputs)
        return (len(reports) + _walsh(transformed)[1 : self.values + 1]) // 2

    def recipe(self) -> dict[str, Any]:
        return {
            "law": self.name, "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator,
            "outputs": self.outputs,
        }  # fmt: skip


def _even(number: int) -> bool:
    return number.bit_count() % 2 == 0


def _walsh(counts: IntArray) -> IntArray:
    """The sum of all counts, each with the sign (-1)^(bits in common), for every row; exact in whole numbers."""
    table = counts.astype(np.int64)
    width = 1
    while width < len(table):
        pairs = table.reshape(-1, 2, width)
        table = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return table
