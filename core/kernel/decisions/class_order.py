"""All vertices of a private graph in an order that heeds what they cost, by classes of cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import AskedOrder, DrawPlace, own
from core.kernel.decisions.cuts import Edges
from core.kernel.decisions.vertex_order import FINE, MOST_VERTICES, STEPS, log_of_one_more
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit

MOST_CLASSES = 21
LARGEST_SUM = 2**62


@dataclass(frozen=True, eq=False)
class ClassOrder(AskedOrder):
    """Vertices drawn by padded degrees for their cost, cheap classes put out whole once enough was drawn (algorithm 4).

    Vertices of class j cost 2^j, so their ease is s(j) = 2^-j. Every class is filled up with imagined vertices to the
    size N of the largest. Draw after draw, a vertex v of a class that is not yet put out, real or imagined, is drawn
    with probability proportional to s(v) (d(v) + w): d(v) counts neighbours of v that are not out yet and is 0 for an
    imagined one, w > 0 is a public padding. A real one is put out. As soon as N/2 draws fell on classes j and above,
    the real rest of class j is put out in a uniform order; the cheapest class comes first.

    **Privacy** of the whole list of draws, of which the order is a public function. Let two graphs differ in one edge
    e = {p, q}, the cheaper end in class a, and let t be the draw in which the first end is put out. After it both draw
    alike; up to it only the sums of all weights differ, and in draw t the weight of that end, if it is drawn itself.

    - With e the chance of a list is at most 1 + 1/w times that without: the end has one neighbour more, sums are no
      smaller.
    - Without e it is at most the product over draws i <= t of 1 + (s(p) + s(q))/(w n(i)) times that with e, n(i) being
      the sum of s over all that could be drawn; and s(p) + s(q) <= 2 s(a). Class a is not out before t, so neither is
      any class above it. Take a draw on class j <= a, or on any class above a and call that j = a too. Neither j nor a
      class above is out, and if k draws before fell on these, n(i) >= T(j) N - k s(j), T(j) the sum of s over classes j
      and above; k is different for all draws with the same j, and less than N/2.

    So the loss of an edge is at most the larger of ln(1 + 1/w) and, over all a, the sum over j <= a and 0 <= k < N/2 of
    ln(1 + 2 s(a)/(w (T(j) N - k s(j)))). A unit changes at most `unit.l1` edges, one after the other. T theorem 52
    shows the same up to a constant.
    """

    edges: Edges
    classes: IntArray
    """Of every vertex, from 0 for the cheapest."""
    padding: int
    """w, in steps of 1/STEPS."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", own(self.classes, "classes"))
        if self.edges.vertices > MOST_VERTICES:
            raise BadParameter("vertices", f"must be at most {MOST_VERTICES:,} to be put in order.")
        if self.classes.shape != (self.edges.vertices,):
            raise BadParameter("classes", "must be one for every vertex.")
        if self.classes.min() < 0 or self.classes.max() >= MOST_CLASSES:
            raise BadParameter("classes", f"must be from 0 to {MOST_CLASSES - 1}.")
        # Numbers of numpy would leave 64 bits without a word where sums of them are checked.
        if type(self.padding) is not int or not 1 <= self.padding <= LARGEST_SUM:
            raise BadParameter("padding", f"must be from 1 to {LARGEST_SUM:,} steps.")
        entries = self.edges.vertices + self.top + 1
        if int(self.scores[0]) * (self.edges.vertices * STEPS + self.size * self.padding) * entries > LARGEST_SUM:
            raise BadParameter("padding", "is too large for so many vertices and classes.")

    @property
    def top(self) -> int:
        return int(self.classes.max())

    @property
    def size(self) -> int:
        """Vertices of every class, imagined ones included."""
        return int(np.bincount(self.classes).max())

    @property
    def scores(self) -> IntArray:
        """The ease of every class, as whole numbers."""
        return np.asarray(2 ** np.arange(self.top, -1, -1, dtype=np.int64))

    def epsilon(self, unit: Unit) -> Fraction:
        """The largest loss of one unit, never rounded down."""
        return unit.l1 * class_loss(self.size, self.top, self.padding)

    def drawn(self, counts: Remembered, pick: DrawPlace) -> tuple[int, ...]:
        present = self.edges.present(counts).astype(np.int64)
        degrees, there, found = present.sum(axis=1), np.ones(len(present), dtype=np.int64), list[int]()
        imagined = self.size - np.bincount(self.classes)
        ease, often = self.scores[self.classes], np.zeros(self.top + 1, dtype=np.int64)
        for level in range(self.top + 1):
            while 2 * int(often[level:].sum()) < self.size:
                real = there * ease * (degrees * STEPS + self.padding)
                place = pick(np.concatenate([real, imagined * self.scores * self.padding]))
                if place < len(present):
                    found.append(place)
                    there[place], degrees = 0, degrees - present[place]
                    often[self.classes[place]] += 1
                else:
                    imagined[place - len(present)] -= 1
                    often[place - len(present)] += 1
            imagined[level] = 0
            while (rest := there * (self.classes == level)).any():
                found.append(pick(rest))
                there[found[-1]], degrees = 0, degrees - present[found[-1]]
        return tuple(found)


def class_loss(size: int, top: int, padding: int) -> Fraction:
    """The loss of one edge, by the two bounds of `ClassOrder`."""
    scores = [2 ** (top - level) for level in range(top + 1)]
    rooms = [[sum(scores[j:]) * size - k * scores[j] for k in range((size + 1) // 2)] for j in range(top + 1)]
    worst = log_of_one_more(STEPS, padding)
    for a in range(top + 1):
        parts = (log_of_one_more(2 * scores[a] * STEPS, padding * room) for j in range(a + 1) for room in rooms[j])
        worst = max(worst, sum(parts))
    return Fraction(worst, FINE)
