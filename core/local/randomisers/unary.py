"""One bit per answer: the true one tells the truth half of the time, the others are seldom on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.local.randomisers.protocol import BitLine, Law, ReportArray, Support, WholeNumbers, listed

MOST_VALUES = 256
"""Answers of a line of bits: longer ones are no short text any more."""
_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(BitLine, Support):
    """Each answer has a bit; the true one is on with probability 1/2, every other one with 1/(r + 1).

    **Privacy** two answers differ in two bits; their probabilities differ by at most (1/2)/(1/2) times r: ln(r)-local.
    **Accuracy** variance 4r/((r - 1)^2 n) of a rare answer's share, for any number of answers.
    **Runtime** one draw per answer and person.

    Optimal unary encoding: Wang, Blocki, Li and Jha 2017.
    """

    name: ClassVar[str] = "unary"
    title: ClassVar[str] = "A bit per answer"
    known_as: ClassVar[tuple[str, ...]] = ("optimal unary encoding", "OUE")
    prefer: ClassVar[str] = "Reports that anybody can read; as exact as subsets from some twenty answers on."

    def __post_init__(self) -> None:
        Support.__post_init__(self)
        short_enough(self.values)

    @property
    def weight(self) -> int:
        return self.ratio.numerator + self.ratio.denominator

    @property
    def hit(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def miss(self) -> Fraction:
        return Fraction(self.ratio.denominator, self.weight)

    def law(self) -> Law:
        listed(self.values, 2**self.values)
        lines = [bits[::-1] for bits in product((0, 1), repeat=self.values)]  # by `place`: the first bit is the lowest
        return tuple(tuple(self._chance(answer, bits) for bits in lines) for answer in range(self.values))

    def _chance(self, answer: int, bits: tuple[int, ...]) -> Fraction:
        """The probability of one line of bits: the answer's own is a fair coin."""
        chance = self.hit
        for at, bit in enumerate(bits):
            if at != answer:
                chance *= self.miss if bit else 1 - self.miss
        return chance

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        reports = np.empty((len(codes), self.values), dtype=np.uint8)
        step = max(1, _BLOCK // self.values)
        for start in range(0, len(codes), step):
            part = reports[start : start + step]
            part[:] = (draws.below(self.weight, part.size) < self.ratio.denominator).reshape(part.shape)
        reports[np.arange(len(codes)), codes] = draws.below(2, len(codes))
        return reports

    def recipe(self) -> dict[str, Any]:
        return {"law": self.name, "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator}


def short_enough(values: int) -> None:
    if values > MOST_VALUES:
        raise BadParameter("values", f"must be at most {MOST_VALUES} answers, or reports get too long to send as text.")
