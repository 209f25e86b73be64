"""Tell the truth with one probability, any other answer with another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.local.randomisers.protocol import Law, OneNumber, ReportArray, Support, WholeNumbers, listed


@dataclass(frozen=True, kw_only=True)
class KAryResponse(OneNumber, Support):
    """The report is an answer: the true one with weight r, each of the others with weight 1.

    **Privacy** a report is r times as likely from its own answer as from any other, exactly: ln(r)-local.
    **Accuracy** variance (k - 2 + r)/((r - 1)^2 n) of a rare answer's share, for k answers and n people.
    **Runtime** one draw per person; counting is linear.

    Randomised response for two answers (Warner 1965); for k answers: Kairouz, Bonawitz and Ramage 2016.
    """

    name: ClassVar[str] = "k-ary"
    title: ClassVar[str] = "Truth or another answer"
    known_as: ClassVar[tuple[str, ...]] = ("randomised response", "k-ary randomised response", "direct encoding")
    prefer: ClassVar[str] = "Few answers: yes or no, or up to about three times e^ε."

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.values

    @property
    def weight(self) -> int:
        """All weights together, as a whole number: the bound of the one draw."""
        return self.ratio.numerator + (self.values - 1) * self.ratio.denominator

    @property
    def hit(self) -> Fraction:
        return Fraction(self.ratio.numerator, self.weight)

    @property
    def miss(self) -> Fraction:
        return Fraction(self.ratio.denominator, self.weight)

    def law(self) -> Law:
        listed(self.values, self.values)
        every = range(self.values)
        return tuple(tuple(self.hit if report == answer else self.miss for report in every) for answer in every)

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        drawn = draws.below(self.weight, len(codes)) - self.ratio.numerator
        other = drawn // self.ratio.denominator
        return np.where(drawn < 0, codes, other + (other >= codes))

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports, minlength=self.values)

    def recipe(self) -> dict[str, Any]:
        return {"law": self.name, "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator}
