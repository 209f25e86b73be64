"""Public nets: collections of small databases that are made without looking at any data.

A database of m rows is a line of m places in the universe (cells of the whole schema, counted in row-major order).
Every database of m = ln(2|Q|)/(2 alpha^2) rows or more together form an alpha-net for |Q| linear questions: m rows
drawn from the private table answer all of them to within alpha with positive probability (Hoeffding), so one of the
listed databases does (N; G theorem 4.2).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from core.base.arrays import IntArray


def rows_for(alpha: float, log_questions: float) -> int:
    """Rows with which some database answers all questions to within alpha."""
    return max(1, math.floor((math.log(2) + log_questions) / (2 * alpha**2)) + 1)


def multisets(cells: int, rows: int) -> int:
    """How many different databases of so many rows a universe has."""
    return math.comb(cells + rows - 1, rows)


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
