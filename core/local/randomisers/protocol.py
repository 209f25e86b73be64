"""What a local randomiser is (thesis, definition 21), and what the ones that count support have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats, IntArray
from core.base.errors import BadParameter, Refused

ReportArray = NDArray[Any]
"""Reports of many people: one whole number each, or one line of bits each."""
Law = tuple[tuple[Fraction, ...], ...]
"""Probabilities, a line per answer, a place per possible report."""
MOST_LISTED = 2**18
"""Cells of a law that are listed; privacy is checked on laws of this size, whose formulas hold at every size."""


class WholeNumbers(Protocol):
    """Where randomness comes from: `Noise`, or in tests every possible draw in turn."""

    def below(self, bound: int, count: int) -> IntArray:
        """Independent uniform whole numbers in [0, bound)."""


class Randomiser(Protocol):
    """One answer in, one report out. `ratio` bounds how much likelier a report is from one answer than from another."""

    name: ClassVar[str]
    title: ClassVar[str]
    known_as: ClassVar[tuple[str, ...]]
    prefer: ClassVar[str]
    gives: ClassVar[str]
    """What is estimated from its reports: shares, a curve, ranges or a mean."""

    @property
    def values(self) -> int:
        """How many answers there are; they are the whole numbers below."""

    @property
    def ratio(self) -> Fraction: ...

    def randomise(self, codes: IntArray, draws: WholeNumbers) -> ReportArray:
        """One report per answer, drawn by this law."""

    def law(self) -> Law:
        """P(report | answer), exactly, in the order of `place`."""

    def place(self, reports: ReportArray) -> IntArray:
        """Which report of the law each of these is."""

    def tally(self, reports: ReportArray) -> IntArray:
        """What estimates are made from: counts over all reports."""

    def write(self, report: Any) -> str:
        """A report as short text."""

    def read(self, text: str) -> Any:
        """A report from its text; ValueError if nobody can have sent it."""

    def gather(self, read: list[Any]) -> ReportArray:
        """Reports that were read one by one, as `randomise` gives them."""

    def recipe(self) -> dict[str, Any]:
        """The whole numbers from which a questionnaire draws the same law."""

    def liars(self, share: float) -> float:
        """By how much a share of lawless reports can move one figure."""


@dataclass(frozen=True, kw_only=True)
class Support(ABC):
    """Randomisers whose report supports some answers: the true one with probability `hit`, another one with `miss`.

    With n reports, of which C support an answer, (C/n - miss)/(hit - miss) is an unbiased estimate of its share, of
    variance s(1 - s)/(n (hit - miss)^2) where s = miss + share (hit - miss) (Wang, Blocki, Li and Jha 2017).
    """

    name: ClassVar[str]
    gives: ClassVar[str] = "shares"
    values: int
    ratio: Fraction

    def __post_init__(self) -> None:
        check(self.values, self.ratio)

    @property
    @abstractmethod
    def hit(self) -> Fraction: ...

    @property
    @abstractmethod
    def miss(self) -> Fraction: ...

    def unbiased(self, tally: IntArray, people: int) -> Floats:
        """The share of each answer, negative ones among them."""
        hit, miss = float(self.hit), float(self.miss)
        return (np.asarray(tally, dtype=np.float64) / max(people, 1) - miss) / (hit - miss)

    def variance(self, share: Floats | float, people: int) -> Floats:
        """Of an unbiased share, the choice of people included."""
        hit, miss = float(self.hit), float(self.miss)
        supported = miss + np.clip(share, 0.0, 1.0) * (hit - miss)
        return np.asarray(supported * (1 - supported) / (max(people, 1) * (hit - miss) ** 2))

    def liars(self, share: float) -> float:
        """The most by which a share of the reports that follow no law can move one answer's share."""
        return share / float(self.hit - self.miss)


class OneNumber:
    """Reports that are one whole number below `outputs`, written in digits."""

    outputs: int

    def place(self, reports: ReportArray) -> IntArray:
        return np.asarray(reports, dtype=np.int64)

    def write(self, report: Any) -> str:
        return str(int(report))

    def read(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 15) or str(int(text)) != text:
            raise ValueError("not a number")
        if int(text) >= self.outputs:
            raise ValueError("not a report")
        return int(text)

    def gather(self, read: list[Any]) -> ReportArray:
        return np.array(read, dtype=np.int64)


class BitLine:
    """Reports that are a line of bits, one per answer, written in hexadecimal digits, the first answer's bit lowest."""

    values: int

    def place(self, reports: ReportArray) -> IntArray:
        return reports.astype(np.int64) @ (np.int64(1) << np.arange(self.values))

    def write(self, report: Any) -> str:
        number = sum(1 << int(place) for place in np.flatnonzero(report))
        return f"{number:0{-(-self.values // 4)}x}"

    def read(self, text: str) -> NDArray[np.uint8]:
        if len(text) != -(-self.values // 4) or not set(text) <= set("0123456789abcdef"):
            raise ValueError("not a line of bits")
        number = int(text, 16)
        if number >> self.values:
            raise ValueError("too many bits")
        return np.array([number >> place & 1 for place in range(self.values)], dtype=np.uint8)

    def gather(self, read: list[Any]) -> ReportArray:
        return np.array(read, dtype=np.uint8).reshape(len(read), self.values)

    def tally(self, reports: ReportArray) -> IntArray:
        return np.asarray(reports.sum(axis=0, dtype=np.int64))


def check(values: int, ratio: Fraction) -> None:
    """Refuse a randomiser that could tell nothing, or that no law describes."""
    if isinstance(values, bool) or not isinstance(values, int) or values < 2:
        raise BadParameter("values", "must be a whole number of at least 2 answers.")
    if not isinstance(ratio, Fraction) or ratio <= 1:
        raise BadParameter("ratio", "must be a fraction above 1.")


def listed(values: int, outputs: int) -> None:
    if values * outputs > MOST_LISTED:
        raise Refused(f"This law has {values:,} times {outputs:,} probabilities; list a smaller one.")


def worst(law: Law) -> Fraction:
    """The largest ratio of the probabilities of one report from two answers; 0 in one line only would be infinite."""
    found = Fraction(1)
    for column in zip(*law, strict=True):
        low, high = min(column), max(column)
        if high and not low:
            raise BadParameter("law", "gives a report that one answer sends and another never does.")
        found = max(found, high / low) if high else found
    return found


def spread(variance: Floats | float) -> float:
    """What a noise of this variance is off by on average."""
    return math.sqrt(2 / math.pi) * float(np.mean(np.sqrt(variance)))
