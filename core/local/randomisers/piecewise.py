"""Send a number near the answer, as wide as makes the mean most exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from core.base.arrays import Floats, IntArray
from core.local.randomisers.window import Window


@dataclass(frozen=True, kw_only=True)
class Piecewise(Window):
    """An ordered answer of k sends one of k - 1 + w numbers, of which the w from the answer on have weight r.

    The mean of the reports is a straight line in the answer, so the mean of the answers follows without bias.

    **Privacy** weights differ by the factor r, and their sum is the same for every answer: ln(r)-local, exactly.
    **Accuracy** the variance of the mean is the largest variance of a report over n slope^2; w is chosen to make that
    smallest. A w of 1 is the two-sided extreme, a large w the piecewise mechanism.
    **Runtime** one draw per person; estimating is linear.

    Wang et al. 2019 (piecewise mechanism), here on whole numbers.
    """

    name: ClassVar[str] = "piecewise"
    title: ClassVar[str] = "A number near the answer, for its mean"
    known_as: ClassVar[tuple[str, ...]] = ("piecewise mechanism", "PM")
    prefer: ClassVar[str] = "Only the mean of a number is wanted."
    gives: ClassVar[str] = "mean"

    @cached_property
    def width(self) -> int:
        ratio = float(self.ratio)
        tried = np.unique(np.geomspace(1, 16 * self.values, 400).astype(np.int64))
        return int(min(tried, key=lambda width: float(np.max(_variances(self.values, ratio, int(width))))))

    def mean(self, tally: IntArray) -> tuple[float, float]:
        """The mean code, from 0 to k - 1, and the standard deviation of that estimate."""
        people = max(int(tally.sum()), 1)
        at = np.arange(self.outputs)
        average = float(tally @ at) / people
        variance = float(tally @ (at - average) ** 2) / people
        slope, start = _line(self.values, float(self.ratio), self.width)
        return (average - start) / slope, float(np.sqrt(variance / people) / slope)

    def liars(self, share: float) -> float:
        """The most that a share of lawless reports moves the mean, as a share of the range of answers."""
        slope, _ = _line(self.values, float(self.ratio), self.width)
        return share * (self.outputs - 1) / slope / (self.values - 1)

    def expected(self, people: int) -> float:
        """Standard deviation of the mean as a share of the range, for the worst answers."""
        return float(np.sqrt(np.max(_variances(self.values, float(self.ratio), self.width)) / people)) / (
            self.values - 1
        )


def _line(values: int, ratio: float, width: int) -> tuple[float, float]:
    """Slope and start of the mean report as a function of the answer."""
    weight = width * ratio + values - 1
    outputs = values - 1 + width
    slope = (ratio - 1) * width / weight
    start = (outputs * (outputs - 1) / 2 + (ratio - 1) * width * (width - 1) / 2) / weight
    return slope, start


def _variances(values: int, ratio: float, width: int) -> Floats:
    """The variance of the estimate from one report, for the lowest, the middle and the highest answer."""
    slope, start = _line(values, ratio, width)
    weight = width * ratio + values - 1
    outputs = values - 1 + width
    answers = np.array([0, (values - 1) / 2, values - 1])
    squares = (outputs - 1) * outputs * (2 * outputs - 1) / 6
    window = width * answers**2 + answers * width * (width - 1) + (width - 1) * width * (2 * width - 1) / 6
    second = (squares + (ratio - 1) * window) / weight
    return (second - (start + slope * answers) ** 2) / slope**2
