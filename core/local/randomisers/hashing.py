"""Hash the answer to a few values by a public random map, then answer about the hash."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.local.randomisers.protocol import Law, OneNumber, ReportArray, Support, WholeNumbers, listed

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


@dataclass(frozen=True, kw_only=True)
class LocalHashing(OneNumber, Support):
    """A random linear map of the answer's digits modulo a prime g, told by k-ary response over the g values.

    The answer is written with m digits in base g; the map is given by m numbers below g, drawn without looking at the
    answer: h(x) = sum of digit times number, modulo g. Two answers collide with probability 1/g, exactly.

    **Privacy** whatever the map, the reported value is k-ary response: ln(r)-local, exactly.
    **Accuracy** for g near r + 1: variance 4r/((r - 1)^2 n) of a rare answer's share, for any number of answers.
    **Runtime** two draws per person; counting O(n + g^2 m k) by a transform along each digit.

    Optimal local hashing: Wang, Blocki, Li and Jha 2017, here with linear maps, for which the collisions are exact.
    """

    name: ClassVar[str] = "hashing"
    title: ClassVar[str] = "A hashed answer"
    known_as: ClassVar[tuple[str, ...]] = ("optimal local hashing", "OLH")
    prefer: ClassVar[str] = "More answers than fit into a line of bits: names of places, products, pages."

    @cached_property
    def base(self) -> int:
        """The prime with the smallest variance."""
        return min(PRIMES, key=lambda prime: (self.ratio + prime - 1) ** 2 / (prime - 1))

    @cached_property
    def digits(self) -> int:
        count = 1
        while self.base**count < self.values:
            count += 1
        return count

    @property
    def maps(self) -> int:
        return self.base**self.digits

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.maps * self.base

    @property
    def weight(self) -> int:
        return self.ratio.numerator + (self.base - 1) * self.ratio.denominator

    @property
    def hit(self) -> Fraction:
        return Fraction(self.ratio.numerator, self.weight)

    @property
    def miss(self) -> Fraction:
        return Fraction(1, self.base)

    def hashed(self, maps: IntArray, codes: IntArray) -> IntArray:
        """The value of each map at each answer, digit by digit."""
        value = np.zeros(np.broadcast(maps, codes).shape, dtype=np.int64)
        for digit in range(self.digits):
            step = self.base**digit
            value += (maps // step % self.base) * (codes // step % self.base)
        return value % self.base

    def law(self) -> Law:
        listed(self.values, self.outputs)
        answers, maps = np.arange(self.values), np.arange(self.maps)
        hashes = self.hashed(maps[None, :], answers[:, None])
        told, other = self.hit / self.maps, Fraction(self.ratio.denominator, self.weight) / self.maps
        return tuple(
            tuple(told if value == hashed else other for hashed in line for value in range(self.base))
            for line in hashes.tolist()
        )

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        maps = draws.below(self.maps, len(codes))
        true = self.hashed(maps, codes)
        drawn = draws.below(self.weight, len(codes)) - self.ratio.numerator
        other = drawn // self.ratio.denominator
        return maps * self.base + np.where(drawn < 0, true, other + (other >= true))

    def tally(self, reports: ReportArray) -> IntArray:
        """Supports of all answers: one digit of the map after the other is exchanged for a digit of the answer."""
        table = np.bincount(reports, minlength=self.outputs).reshape((self.base,) * (self.digits + 1))
        for axis in range(self.digits):
            table = np.moveaxis(table, axis, 0)
            turned = np.zeros_like(table)
            for digit in range(self.base):
                for number in range(self.base):
                    turned[digit] += np.roll(table[number], -digit * number, axis=-1)
            table = np.moveaxis(turned, 0, axis)
        return table[..., 0].reshape(-1)[: self.values]

    def recipe(self) -> dict[str, Any]:
        return {
            "law": self.name, "k": self.values, "a": self.ratio.numerator, "b": self.ratio.denominator,
            "g": self.base, "m": self.digits,
        }  # fmt: skip
