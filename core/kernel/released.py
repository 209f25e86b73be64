"""How wrong the finished, public answers of a release are, in a few numbers that one unit hardly moves.

A released answer is a share R of the rows, from 0 to 1. The true share is T/N, with T what the rows add to the question
and N their number, both private. So errors are counted in rows, |T - N R|: N times the error of the share. Released
shares are whole multiples of 1/STEPS, and everything is counted in steps of 1/STEPS row, so that it is a whole number.

**One answer** moves by at most L rows, for both kinds of neighbours. Adding k and removing l rows (both at most L)
changes T by some d from -l to k and N by some e between 0 and k - l, while 0 <= R <= 1. If k >= l, then d - e R is at
most k and at least -l - (k - l) = -k; if k < l, likewise with l. Its absolute value moves by no more. (Totals are
brought to the grid rounded down, which keeps d between -l and k; both are clipped to a public range, after which d and
e lie between 0 and what they were: all that the proof uses.)

**One table** moves by at most 2 L rows in the sum over its cells c of |T_c - N R_c|, if its shares R_c sum to at most
1: by sum |d_c| + |e| sum R_c <= (k + l) + |k - l| = 2 max(k, l). So half of that sum moves by at most L.

The largest of some such numbers moves by at most L rows, and so does their mean. Halves and means are rounded down; a
number that moves by at most m L STEPS moves by at most L STEPS when it is divided by m and rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, own
from core.kernel.query import Totals, check_classes
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit
from core.table.counts import prepare

STEPS = 2**28
"""Steps per row, and parts of a share."""
MOST_ROWS = 2**33
"""Numbers of rows are clipped here, so that no number of steps leaves 62 bits: eight thousand million."""
_LOW_BITS = 20


@dataclass(frozen=True, eq=False)
class AnswerErrors(Asked):
    """Of the released answers of one class of sums over the rows: the largest and the mean error.

    **Change** each number moves by at most L STEPS: 2 L STEPS in L1 and 2 (L STEPS)^2 in squared L2.
    """

    query: Totals
    shares: IntArray
    """The released answers in the order of the class, in parts of 1/STEPS."""

    def __post_init__(self) -> None:
        check_classes([self.query], linear=True)
        object.__setattr__(self, "shares", _checked(self.shares))

    def counts(self, counts: Remembered) -> IntArray:
        denominator, totals = self.query.denominator(counts.domain), counts.totals_for(self.query)
        errors = _errors(_on_grid(totals, denominator), self.shares, counts)
        return np.array([int(errors.max(initial=0)), _sum(errors) // max(1, errors.size)], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return few_numbers(2, unit)


@dataclass(frozen=True, eq=False)
class ShareDistances(Asked):
    """Of released tables of shares: the largest error of a cell, and the largest and the mean distance of a table.

    The distance of a table is half the sum of the errors of its cells: the error of the worst sum of its cells.

    **Change** each number moves by at most L STEPS: 3 L STEPS in L1 and 3 (L STEPS)^2 in squared L2.
    """

    columns: tuple[Columns, ...]
    shares: tuple[IntArray, ...]
    """The released shares of each table in parts of 1/STEPS; those of one table sum to at most STEPS."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(_checked(table) for table in self.shares))
        if not self.columns or len(self.columns) != len(self.shares):
            raise BadParameter("shares", "must be given for each table, and for at least one.")
        if any(_sum(table) > STEPS for table in self.shares):
            raise BadParameter("shares", "of one table must sum to at most the whole.")

    def counts(self, counts: Remembered) -> IntArray:
        prepare(counts, self.columns)
        cells, tables = 0, []
        for columns, shares in zip(self.columns, self.shares, strict=True):
            errors = _errors(_on_grid(counts.marginal(columns), 1), shares, counts)
            cells = max(cells, int(errors.max(initial=0)))
            tables.append(_sum(errors))
        found = [cells, max(tables) // 2, sum(tables) // (2 * len(tables))]
        return np.array([min(number, 2**62) for number in found], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return few_numbers(3, unit)


def few_numbers(numbers: int, unit: Unit) -> Change:
    """The change of so many numbers, each of which moves by at most L rows."""
    moved = unit.limit * STEPS
    return Change(numbers * moved, numbers * moved**2)


def _checked(shares: IntArray) -> IntArray:
    found = own(shares, "shares")
    if found.size and (found.min() < 0 or found.max() > STEPS):
        raise BadParameter("shares", "must lie between 0 and the whole.")
    return found


def _on_grid(totals: IntArray, denominator: int) -> IntArray:
    """Totals in steps; denominators are powers of two, as STEPS is."""
    bounded = np.clip(totals, 0, min(MOST_ROWS * denominator, 2**62))
    return bounded * (STEPS // denominator) if denominator <= STEPS else bounded // (denominator // STEPS)


def _errors(totals: IntArray, shares: IntArray, counts: Remembered) -> IntArray:
    if totals.shape != shares.shape:
        # Numpy would repeat one of them to fit, and count every row as often.
        raise BadParameter("shares", "must have the shape of what they are compared with.")
    rows = max(0, min(int(counts.marginal(())), MOST_ROWS))
    return np.asarray(np.abs(totals - rows * shares))


def _sum(numbers: IntArray | Sequence[int]) -> int:
    """An exact sum: it may exceed 64 bits, so its two halves are added apart."""
    whole = np.asarray(numbers, dtype=np.int64)
    return (int((whole >> _LOW_BITS).sum()) << _LOW_BITS) + int((whole & (2**_LOW_BITS - 1)).sum())
