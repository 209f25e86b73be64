"""Every possible draw in turn: the exact law of the code that runs, not of its formula."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np

from core.base.arrays import IntArray
from core.local.randomisers.protocol import Randomiser


class _Script:
    """Answers each draw by the next scripted number, and notes the bounds."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.bounds = numbers, list[int]()

    def below(self, bound: int, count: int) -> IntArray:
        found = []
        for _ in range(count):
            place = len(self.bounds)
            self.bounds.append(bound)
            found.append(self.numbers[place] if place < len(self.numbers) else 0)
        return np.array(found, dtype=np.int64)


def drawn_law(randomiser: Randomiser, code: int) -> dict[int, Fraction]:
    """The probability of each report of one answer, summed over every sequence of draws."""
    found: dict[int, Fraction] = defaultdict(Fraction)
    numbers: list[int] = []
    while True:
        script = _Script(numbers)
        report = randomiser.randomise(np.array([code]), script)
        chance = Fraction(1)
        for bound in script.bounds:
            chance /= bound
        found[int(randomiser.place(report)[0])] += chance
        numbers = numbers[: len(script.bounds)] + [0] * (len(script.bounds) - len(numbers))
        while numbers and numbers[-1] == script.bounds[len(numbers) - 1] - 1:
            numbers.pop()
        if not numbers:
            return dict(found)
        numbers[-1] += 1
