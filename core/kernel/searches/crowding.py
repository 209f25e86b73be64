"""Where rows crowd: boxes that are halved again and again while their counts stand out from noise.

Only the boxes are told, never a count, so that looking as deep as one likes costs no more than looking once: an empty
box is hardly ever halved, and what a row adds along its path shrinks with the depth (PrivTree: Zhang, Xiao and Xie
2016, section 4; here in whole numbers, with the discrete noise that is drawn, and a sharper sum).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Sealed, own
from core.kernel.remembered import Remembered, corners_of
from core.privacy.unit import Unit
from core.schema.domain import Domain

WIDEST = 2**50
"""Largest scale of the noise, as of a sparse vector: far below where numbers are cut off."""
_FINE = 2**20
Exceeds = Callable[..., NDArray[np.bool_]]
"""`NoiseSource.exceeds`."""


@dataclass(frozen=True, eq=False)
class Boxed:
    """Boxes that cover a table once: cells from `low` up to, not including, `high`, in the order of their corners."""

    low: IntArray
    high: IntArray
    parents: IntArray
    """Which box of the level above each lies in; empty at the top."""


@dataclass(frozen=True, eq=False)
class Crowding(Sealed):
    """Begin with equal parts of a table, `parts` along each column; halve a box along all columns while rows crowd.

    Each of them may be cut into finer parts before, which are public. A box that d halvings led to has the depth d. If
    its count is c, its level is b = max(c - F - d D, -F), and it is halved if b + z >= 1, with discrete Laplace noise z
    of its own, P(z) proportional to q^|z|, q = exp(-a). F and D are whole numbers with q^F <= 1/k and q^(D - F) <= 1/2,
    where k = 2^(number of columns) is the most halves that a box has. Single cells are never looked at.

    **Privacy** let y be x and one row more. Only boxes on the row's path have other counts, one more each. Call S(b)
    the chance that a box of level b is halved, and fix the boxes that are told.

    - x against y: halving is likelier on y, so all boxes of the path that were halved help; the one that was not
      differs by a shift of at most 1, a factor of at most exp(a).
    - y against x: the box that was not halved helps. A halved one of depth i and count c has a factor S(b + 1)/S(b) if
      b = t_i = c - F - i D >= -F, and no factor otherwise, because then its level is -F on both. Counts do not grow
      along the path, so t_i falls by at least D from each to the next. Let t_m >= -F be the last of them: t_(m-1) is at
      least D - F, t_(m-2) at least 2 D - F ... The factor falls in b. It is exp(a) up to b = 0. For b >= 0, S(b) = 1 -
      q^b/(1 + q), so with r = q^b the logarithm of the factor is at most r (1 - q)/(1 + q - r), which is at most
      (a/2) r/(1 - r/(1 + q)), because (1 - q)/(1 + q) = tanh(a/2) <= a/2. The r of t_(m-1), t_(m-2) ... are at most
      1/2, 1/(4 k), 1/(8 k^2) ...: no more than 1/2 each and 2/3 in all. With 1 + q >= 2 - a the logarithm of the
      product is at most a + (a/3)/(1 - 1/(4 - 2 a)) = a + (a/3) (4 - 2 a)/(3 - 2 a), which for a <= 1 is at most
      a (13 + 2 a)/9: the last fraction is convex in a, 4/3 at 0 and 2 at 1.

    So a = min(1, 9 e/(13 + 2 e)) keeps this at most e, because a <= e. A unit changes at most `unit.l1` rows, one after
    the other, so e is the event's epsilon over that number. With D = F and every term bounded alike, as published, a
    would be e (k - 1)/(2 k - 1): about twice the noise, and no smaller D.

    **Accuracy** a box of depth d that is left whole has, with probability 1 - beta, at most F + d D + ln(1/(2 beta))/a
    rows. An empty one is halved with a chance below 1/(2 k), so empty regions have few boxes, however large they are.
    """

    columns: Columns
    parts: tuple[int, ...]
    finer: IntArray | None = None
    """In how many parts along each column, or in cells if it has fewer, each of these boxes is cut before any look."""

    def __post_init__(self) -> None:
        if self.finer is not None:
            object.__setattr__(self, "finer", own(self.finer, "finer"))

    def rate(self, epsilon: Fraction, unit: Unit) -> Fraction:
        """a: by how much one row may move the logarithm of a single chance."""
        each = epsilon / unit.l1
        found = min(Fraction(1), 9 * each / (13 + 2 * each))
        if 1 / found > WIDEST:
            raise BadParameter("epsilon", "is so small that the noise would exceed every count.")
        return found

    def floor(self, rate: Fraction) -> int:
        """F: how far below 0 the level of an empty box is, never rounded down."""
        return _above(len(self.columns), rate)

    def bias(self, rate: Fraction) -> int:
        """D: how many rows more a box needs with each step, never rounded down."""
        return self.floor(rate) + _above(1, rate)

    def most_left(self, depth: int, beta: float, epsilon: Fraction, unit: Unit) -> float:
        """The most rows of a box of this depth that is left whole, except with probability beta."""
        rate = self.rate(epsilon, unit)
        return self.floor(rate) + depth * self.bias(rate) + max(0.0, math.log(1 / (2 * beta))) / float(rate)

    def start(self, domain: Domain) -> tuple[Boxed, ...]:
        """The boxes of depth 0, which are public; before them those that they are parts of."""
        boxes = self._equal_parts(domain)
        if self.finer is None:
            return (boxes,)
        if self.finer.shape != (len(boxes.low),) or self.finer.min() < 1:
            raise BadParameter("finer", "must be a number of parts for each box.")
        return boxes, cut_boxes(boxes, self.finer)

    def _equal_parts(self, domain: Domain) -> Boxed:
        shape = domain.shape(self.columns)
        pairs = list(zip(self.parts, shape, strict=False))
        if len(self.parts) != len(shape) or not all(1 <= part <= size for part, size in pairs):
            raise BadParameter("parts", "must be at least one along each column, and at most its cells.")
        cuts = [np.arange(part + 1) * size // part for part, size in pairs]
        low, high = (
            np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(shape)).astype(np.int64)
            for ends in ([cut[:-1] for cut in cuts], [cut[1:] for cut in cuts])
        )
        return Boxed(low, high, np.zeros(0, dtype=np.int64))

    def drawn(self, counts: Remembered, epsilon: Fraction, unit: Unit, exceeds: Exceeds) -> tuple[Boxed, ...]:
        """The boxes after each step; those that were left whole are there again after the next one."""
        corners = counts.corners(self.columns) if isinstance(counts, Remembered) else corners_of(counts, self.columns)
        rate = self.rate(epsilon, unit)
        floor, bias, found = self.floor(rate), self.bias(rate), list(self.start(counts.domain))
        boxes, begun = found[-1], len(found)
        fresh = np.ones(len(boxes.low), dtype=bool)
        while True:
            depth = len(found) - begun
            asked = np.flatnonzero(fresh & ((boxes.high - boxes.low) > 1).any(axis=1))
            if not asked.size:
                return tuple(found)
            rows = _inside(corners, boxes.low[asked], boxes.high[asked])
            levels = np.maximum(rows - floor - depth * bias, -floor)
            halved = asked[exceeds(levels, epsilon=rate * unit.l1, sensitivity=unit.l1)]
            if not halved.size:
                return tuple(found)
            boxes, fresh = _halved(boxes, halved)
            found.append(boxes)


def cut_boxes(boxes: Boxed, parts: IntArray) -> Boxed:
    """Each box cut into so many about equal parts along each column, or into its cells where it has fewer."""
    extent = boxes.high - boxes.low
    pieces = np.minimum(extent, parts[:, None])
    number = pieces.prod(axis=1)
    owner = np.repeat(np.arange(len(number)), number)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number)
    places = np.empty((len(owner), extent.shape[1]), dtype=np.int64)
    for axis in range(extent.shape[1]):
        rank, places[:, axis] = np.divmod(rank, pieces[owner, axis])
    low, high = (boxes.low[owner] + extent[owner] * ends // pieces[owner] for ends in (places, places + 1))
    order = np.lexsort(low.T[::-1])
    return Boxed(low[order], high[order], owner[order])


def _above(halvings: int, rate: Fraction) -> int:
    """A whole number w with exp(-rate w) <= 2^-halvings."""
    logarithm = Fraction(math.ceil(halvings * math.log(2) * _FINE) + 1, _FINE)
    return math.ceil(logarithm / rate)


def _inside(corners: IntArray, low: IntArray, high: IntArray) -> IntArray:
    found = np.zeros(len(low), dtype=np.int64)
    for ends in product((0, 1), repeat=corners.ndim):
        places = np.where(np.array(ends, dtype=bool), high, low)
        found += (-1) ** (corners.ndim - sum(ends)) * corners[tuple(places.T)]
    return found


def _halved(boxes: Boxed, chosen: IntArray) -> tuple[Boxed, NDArray[np.bool_]]:
    """These boxes cut in half along every column in which they are wider than a cell; and which boxes are halves."""
    whole = np.ones(len(boxes.low), dtype=bool)
    whole[chosen] = False
    low, high, parents = [boxes.low[whole]], [boxes.high[whole]], [np.flatnonzero(whole)]
    first, last = boxes.low[chosen], boxes.high[chosen]
    middle = np.where(last - first > 1, (first + last) // 2, last)
    for ends in product((0, 1), repeat=first.shape[1]):
        upper = np.array(ends, dtype=bool)
        begin, end = np.where(upper, middle, first), np.where(upper, last, middle)
        there = (begin < end).all(axis=1)
        low.append(begin[there])
        high.append(end[there])
        parents.append(chosen[there])
    every = np.concatenate(low)
    order = np.lexsort(every.T[::-1])
    halves = np.arange(len(every)) >= len(low[0])
    made = Boxed(every[order], np.concatenate(high)[order], np.concatenate(parents)[order].astype(np.int64))
    return made, halves[order]


def depth_of(shape: Any, parts: Any) -> int:
    """How often a box can be halved until it is a cell."""
    return max(math.ceil(math.log2(-(-size // part))) for size, part in zip(shape, parts, strict=True))
