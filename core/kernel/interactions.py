"""Questions about how columns depend on each other, beyond what smaller tables of the same columns say.

The residuals of ResidualPlanner (Xiao, He, Zhang and Kifer 2023) are the same idea, over the whole numbers here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.table.counts import Counts


@dataclass(frozen=True)
class Axis:
    """What is done along one column of a table: a whole-numbered matrix, of which a row r meets the column m(r)."""

    size: int
    centred: bool
    """Whether size x count - sum is taken, which says nothing of the sum; two values are subtracted in any case."""

    @property
    def l1(self) -> int:
        """Of m(r)."""
        return 2 * (self.size - 1) if self._spread else 1

    @property
    def squared(self) -> int:
        """Squared length of m(r)."""
        return self.size * (self.size - 1) if self._spread else 1

    @property
    def together(self) -> int:
        """The product m(r) m(s) of two different values."""
        return -self.size if self._spread else -int(self.size == 2)

    @property
    def scale(self) -> int:
        """What the numbers are to be divided by to be counts, where sums over the axis are 0."""
        return 2 if self.size == 2 else self.size if self.centred else 1

    def taken(self, table: IntArray, axis: int) -> IntArray:
        if self.size == 2:
            return np.asarray(np.diff(table, axis=axis))
        return self.size * table - table.sum(axis=axis, keepdims=True) if self.centred else table

    @property
    def _spread(self) -> bool:
        return self.centred and self.size > 2


@dataclass(frozen=True)
class Interaction(Asked):
    """A table of counts without what its sums over any column say, in whole numbers.

    Along every column i of k_i values a matrix M_i is applied to the table. Of two values the first is subtracted from
    the second, one number in the place of two. Of more, every count becomes k_i count - (sum over the column) where
    `centred`, and stays as it is otherwise. So with two columns, centred, cell (i, j) of a k x l table becomes
    k l count - l (sum of its row) - k (sum of its column) + (number of rows).

    **Change** a row r adds the product over i of the columns m_i(r) of M_i, whose L1 norm is a = prod a_i and whose
    squared length is q = prod q_i:

        two values:     m = +-1,           a_i = 1,           q_i = 1,            m(r) m(s) = -1 where r, s differ;
        centred:        m = k e_r - 1,     a_i = 2 (k - 1),   q_i = k (k - 1),    m(r) m(s) = -k;
        left as it is:  m = e_r,           a_i = 1,           q_i = 1,            m(r) m(s) = 0.

    A unit adds u rows to the cells, u >= 0 and sum u <= L, and a replacement takes away v likewise. The norm of
    M (u - v) is convex in (u, v), so it is largest at a corner: L rows in one cell, or none. Adding or removing: L a in
    L1 and L^2 q in squared L2. Replacing: at most 2 L a in L1, and L^2 max(q, 2 q - 2 p) in squared L2, where p is the
    least product of m(r) and m(s) over all pairs of cells: that of the columns in which they agree, q_i each, times
    that of the others, at least one. Counts are clipped to a size that whole numbers of 64 bits can hold; that takes no
    more from u or v than there is, so the same holds.
    """

    columns: Columns
    shape: tuple[int, ...]
    """How many values each column has."""
    centred: bool

    def __post_init__(self) -> None:
        if not self.columns or len(self.columns) != len(self.shape) or min(self.shape) < 2:
            raise BadParameter("shape", "must name at least two values of every column.")

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(Axis(size, self.centred) for size in self.shape)

    @property
    def scale(self) -> int:
        """The numbers divided by this are parts of counts: noise is drawn on a grid that is finer than rows."""
        return math.prod(axis.scale for axis in self.axes)

    def counts(self, counts: Counts) -> IntArray:
        table = counts.marginal(self.columns)
        if table.shape != self.shape:
            # A smaller shape than the true one would claim too small a change.
            raise BadParameter("shape", "must be that of the table.")
        most = LARGEST // math.prod(2 * size for size in self.shape) // table.size
        found: IntArray = np.clip(table, 0, most)
        for place, axis in enumerate(self.axes):
            found = axis.taken(found, place)
        return np.asarray(found, dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        l1, squared = (math.prod(parts) for parts in zip(*((axis.l1, axis.squared) for axis in self.axes), strict=True))
        if unit.neighbours == "replace":
            l1, squared = 2 * l1, max(squared, 2 * (squared - self._opposite()))
        return Change(unit.limit * l1, unit.limit**2 * squared)

    def _opposite(self) -> int:
        """The least product of what two rows in different cells add."""
        same = tuple(axis.squared for axis in self.axes)
        choices = product(*((axis.squared, axis.together) for axis in self.axes))
        return min(math.prod(choice) for choice in choices if choice != same)
