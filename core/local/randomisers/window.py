"""The law that square wave and piecewise share: reports near the answer have more weight."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Floats, IntArray
from core.local.randomisers.protocol import Law, OneNumber, ReportArray, WholeNumbers, check, listed


@dataclass(frozen=True, kw_only=True)
class Window(OneNumber):
    """Answer x of k sends one of k - 1 + w numbers: each of the w from x on has weight r, all others weight 1.

    Weights differ by the factor r and add up to w r + k - 1 for every answer, so the law is ln(r)-local, exactly.
    """

    name: ClassVar[str]
    values: int
    ratio: Fraction

    def __post_init__(self) -> None:
        check(self.values, self.ratio)

    @property
    def width(self) -> int:
        """w, how many reports are near an answer."""
        raise NotImplementedError

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.values - 1 + self.width

    @property
    def weight(self) -> int:
        return self.width * self.ratio.numerator + (self.values - 1) * self.ratio.denominator

    def law(self) -> Law:
        listed(self.values, self.outputs)
        near, far = (Fraction(part, self.weight) for part in (self.ratio.numerator, self.ratio.denominator))
        return tuple(
            tuple(near if 0 <= report - answer < self.width else far for report in range(self.outputs))
            for answer in range(self.values)
        )

    def chances(self) -> Floats:
        """The same as floats, a line per report: what estimates are made with."""
        offset = np.arange(self.outputs)[:, None] - np.arange(self.values)
        near = (offset >= 0) & (offset < self.width)
        return np.where(near, float(self.ratio.numerator), float(self.ratio.denominator)) / float(self.weight)

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        inside = self.width * self.ratio.numerator
        drawn = draws.below(self.weight, len(codes))
        near = codes + drawn // self.ratio.numerator
        far = (drawn - inside) // self.ratio.denominator
        return np.where(drawn < inside, near, np.where(far < codes, far, far + self.width))

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports, minlength=self.outputs)

    def recipe(self) -> dict[str, Any]:
        return {
            "law": "window", "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator, "w": self.width,
        }  # fmt: skip
