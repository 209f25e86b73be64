"""All vertices of a private graph in an order that tends to put those with many neighbours first.

The order says for every possible edge which end covers it: the one that comes first. So it can be published where a
cover cannot: leaving two vertices out of a cover would tell that no edge joins them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedOrder, DrawPlace, own
from core.kernel.decisions.cuts import Edges
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit

STEPS = 2**10
"""Steps in which the padding of an edge is counted."""
MOST_EASE = 2**10
MOST_PADDING = 2**40
MOST_VERTICES = 2**11
"""With these limits the sum of all weights stays below 2^62."""
FINE = 2**60
"""Parts in which losses are added up."""


@dataclass(frozen=True, eq=False)
class VertexOrder(AskedOrder):
    """Vertices drawn one after the other: v in step i with probability proportional to s(v) (d(v) + w(i)).

    d(v) counts neighbours of v that are not drawn yet, s(v) is a public ease, w(i) > 0 a public padding ('hallucinated
    edges'). A step with padding 0 is blind: it draws in proportion to s(v) alone.

    **Privacy** let two graphs differ in one edge e = {p, q}, and take an order in which p comes before q, in step t.
    After step t both draw alike; before it only the sum of all weights differs.

    - On the graph with e the chance of the order is at most (1 + 1/w(t)) times that on the other: d(p) is one more in
      step t, sums are no smaller.
    - On the graph without e it is at most the product over i <= t of 1 + (s(p) + s(q))/(w(i) n(i)) times that on the
      other, n(i) being the sum of s over vertices not drawn, because sums without any edge are w(i) n(i) and real ones
      are no smaller. In step i <= t both ends of e and n - i - 1 others are there, so n(i) is at least s(p) + s(q) plus
      the n - i - 1 smallest of the rest. Each factor is largest where p and q are the two of largest ease.

    So the loss of an edge is at most the larger of ln(1 + 1/min w) and the sum of ln(1 + x) over those fractions x (T
    theorem 49 where all s are 1). A unit changes at most `unit.l1` edges, one after the other.
    """

    edges: Edges
    ease: IntArray
    """s: whole numbers, one for every vertex."""
    padding: IntArray
    """w, in steps of 1/STEPS, one for every step."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ease", own(self.ease, "ease"))
        object.__setattr__(self, "padding", own(self.padding, "padding"))
        if self.edges.vertices > MOST_VERTICES:
            raise BadParameter("vertices", f"must be at most {MOST_VERTICES:,} to be put in order.")
        if not self.ease.shape == self.padding.shape == (self.edges.vertices,):
            raise BadParameter("padding", "must be one for every vertex, as the ease.")
        if self.ease.min() < 1 or self.ease.max() > MOST_EASE:
            raise BadParameter("ease", f"must be from 1 to {MOST_EASE:,}.")
        if self.padding.min() < 0 or self.padding.max() > MOST_PADDING:
            raise BadParameter("padding", f"must be from 0 to {MOST_PADDING:,} steps.")

    def epsilon(self, unit: Unit) -> Fraction:
        """The largest loss of one unit, never rounded down."""
        return unit.l1 * edge_loss(self.ease, self.padding)

    def drawn(self, counts: Remembered, pick: DrawPlace) -> tuple[int, ...]:
        present = self.edges.present(counts).astype(np.int64)
        degrees, there, found = present.sum(axis=1), np.ones(len(present), dtype=np.int64), list[int]()
        for padding in self.padding:
            weights = there * self.ease * (degrees * STEPS + padding if padding else 1)
            found.append(pick(weights))
            degrees = degrees - present[found[-1]]
            there[found[-1]] = 0
        return tuple(found)


def edge_loss(ease: NDArray[np.int64], padding: NDArray[np.int64]) -> Fraction:
    """The loss of one edge, by the two bounds of `VertexOrder`."""
    looking = [int(each) for each in padding if each]
    if not looking:
        return Fraction(0)
    eases = sorted(int(each) for each in ease)
    ends, rest = sum(eases[-2:]), [0]
    for each in eases[:-2]:
        rest.append(rest[-1] + each)
    total = 0
    for step in range(len(eases) - 1):
        if padding[step]:
            total += log_of_one_more(ends * STEPS, int(padding[step]) * (ends + rest[len(eases) - step - 2]))
    return Fraction(max(log_of_one_more(STEPS, min(looking)), total), FINE)


def log_of_one_more(part: int, whole: int) -> int:
    """ln(1 + part/whole) in parts of 1/FINE, never too small: floats are good to 2^-50, of which 2^-40 is plenty."""
    return math.ceil(math.log1p(part / whole) * (1 + 2.0**-40) * FINE)
