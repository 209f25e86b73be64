"""Public nets: collections of small databases that are made without looking at any data.

A database of m rows is a line of m places in the universe (cells of the whole schema, counted in row-major order).
Every database of m = ln(2|Q|)/(2 alpha^2) rows or more together form an alpha-net for |Q| linear questions: m rows
drawn from the private table answer all of them to within alpha with positive probability (Hoeffding), so one of the
listed databases does (N; G theorem 4.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from core.base.arrays import IntArray

FINEST = 256
"""Rows of each database at most where nobody says how many: answers go in steps of 0.4 %."""
USUAL_ROWS = 64
"""Rows of each database of a random net: their answers go in steps of 1.6 %."""
MOST_PLACES = 2**24
"""Rows of all databases of a net together: 128 MB."""


def rows_for(alpha: float, log_questions: float) -> int:
    """Rows with which some database answers all questions to within alpha."""
    return max(1, math.floor((math.log(2) + log_questions) / (2 * alpha**2)) + 1)


def multisets(cells: int, rows: int) -> int:
    """How many different databases of so many rows a universe has."""
    return math.comb(cells + rows - 1, rows)


def most_rows(cells: int, most: int) -> int:
    """The most rows, from 1 to 256, of which there are at most so many databases."""
    rows = 1
    while rows < FINEST and multisets(cells, rows + 1) <= most:
        rows += 1
    return rows


def rounded_to(cells: int, rows: int) -> float:
    """How near some database of so many rows is to any table: the share of the rows that has to move, at most.

    Shares are rounded to multiples of 1/rows so that they still sum to 1: with r of the cells rounded up and their
    remainders summing to r, at most r (1 - r/cells)/rows moves, the most where r is half of them. A question that a
    moved row changes by at most 1, linear or not, is off by no more.
    """
    return cells / (4 * rows)


@lru_cache(maxsize=4)
def everything(cells: int, rows: int) -> IntArray:
    """All databases of so many rows, one per line."""
    net = np.array(list(combinations_with_replacement(range(cells), rows)), dtype=np.int64)
    net.setflags(write=False)
    return net


def random_net(cells: int, members: int, rows: int, generator: np.random.Generator) -> IntArray:
    """Random databases, from nearly one-sided to nearly uniform.

    Uniform rows would make all members alike. Each member draws its rows from a random distribution instead, by a
    Pólya urn: a row repeats an earlier one, or is new with probability c/(c + rows so far). The evenness c is itself
    spread evenly on a logarithmic scale from 1/2 to twice the number of rows.
    """
    evenness = np.exp(generator.uniform(math.log(0.5), math.log(2 * rows), members))
    net = generator.integers(0, cells, (members, rows))
    for place in range(1, rows):
        old = generator.random(members) >= evenness / (evenness + place)
        copied = net[np.arange(members), generator.integers(0, place, members)]
        net[:, place] = np.where(old, copied, net[:, place])
    return net


@dataclass(frozen=True)
class PublicNet:
    """Which databases make up a net: all of so many rows, or some random ones."""

    cells: int
    rows: int
    members: int | None = None
    """How many random ones; None takes all."""

    @property
    def complete(self) -> bool:
        return self.members is None

    @property
    def count(self) -> int:
        return multisets(self.cells, self.rows) if self.members is None else self.members

    def listed(self, generator: np.random.Generator) -> IntArray:
        """One database per line; `generator` is public randomness."""
        if self.members is None:
            return everything(self.cells, self.rows)
        return random_net(self.cells, self.members, self.rows, generator)
