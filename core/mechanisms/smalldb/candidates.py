"""Small databases: candidates that are compared with the private table on every question at once.

A database of m rows is a line of m places: cells of the columns that some question looks at, counted in row-major
order. Columns that no question looks at do not enlarge the choice; they are filled uniformly when records are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, IntArray
from core.kernel.scores import grid_of
from core.models.nets.net_answers import record_answers
from core.models.nets.public_net import multisets
from core.models.points import Points
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import log_size_of, whole, whole_totals
from core.schema.domain import Domain

BLOCK = 2**18
"""Numbers of one array of intermediate results: 2 MB, which stay in the processor's cache."""
MOST_SINGLES = 2**23
"""Numbers in the table of single records' answers: 64 MB."""
MOST_CELLS = 2**16
"""Records whose answers are worked out one by one beforehand: some seconds."""
DENSE = 16
"""Up to so many cells per row a product of matrices over all cells is faster than picking the rows' lines."""
TOGETHER = 48
"""Databases in one product of matrices where the table of single records is larger than the cache: it is read once for
all of them, which takes half the time of fewer at once (measured with 13 and 52)."""
EXACT = 2**24
"""Whole numbers up to here are exact in single precision, whose products take half the time."""
MOST_PLACES = 2**61
"""Binomials are cut here: no database with such a number is ever listed."""


@dataclass(frozen=True, eq=False)
class SmallDatabases:
    """Databases over the columns that the questions look at, and their answers in whole numbers.

    Answers of all classes are laid end to end in units of 1/grid rows, where grid is the largest denominator.
    """

    queries: tuple[QueryClass, ...]
    domain: Domain

    @cached_property
    def columns(self) -> tuple[str, ...]:
        used = {column for query in self.queries for table in query.tables(self.domain) for column in table}
        # A question about all rows looks at no column; one column then stands for the records.
        return tuple(name for name in self.domain.names if name in used) or self.domain.names[:1]

    @cached_property
    def cells(self) -> int:
        return self.domain.cells(self.columns)

    @property
    def log_cells(self) -> float:
        return math.log(self.cells)

    @cached_property
    def grid(self) -> int:
        return grid_of(self.queries, self.domain)

    @cached_property
    def log_questions(self) -> float:
        return log_size_of(self.queries, self.domain)

    @property
    def tabulated(self) -> bool:
        """Whether the answers of every single record are held."""
        fits = self.log_cells + self.log_questions <= math.log(MOST_SINGLES) + 1e-9
        return self.cells <= MOST_CELLS and fits

    def answers(self, databases: IntArray) -> IntArray:
        """Totals of every database, one line each."""
        if not self.tabulated:
            return np.stack([self._totals(database) for database in databases])
        # A record's answer is at most the grid, so no sum exceeds this.
        single = databases.shape[1] * self.grid <= EXACT
        singles, count = _singles(self.queries, self.domain, single), len(databases)
        if self.cells <= DENSE * databases.shape[1]:
            places = databases + self.cells * np.arange(count)[:, None]
            held = np.bincount(places.ravel(), minlength=count * self.cells).reshape(count, self.cells)
            # Whole numbers below 2^53 stay exact in floating point, whatever the order of the sums.
            return (held.astype(singles.dtype) @ singles).astype(np.int64)
        found = singles[databases[:, 0]]
        for place in databases.T[1:]:
            found += singles[place]
        return found.astype(np.int64)

    def blocks(self, databases: IntArray) -> Iterator[tuple[int, IntArray]]:
        """The answers of these databases, a block at a time, each with where it begins."""
        size = self.block(databases.shape[1])
        for start in range(0, len(databases), size):
            yield start, self.answers(databases[start : start + size])

    def every_block(self, rows: int) -> Iterator[tuple[int, IntArray]]:
        """The answers of all databases of so many rows, likewise; only where one block has all are they held."""
        if multisets(self.cells, rows) <= self.block(rows):
            yield 0, _every_answer(self.queries, self.domain, rows)
            return
        for start, databases in self.lines(rows):
            yield start, self.answers(databases)

    def block(self, rows: int) -> int:
        """Databases to look at together: no array of intermediate results is larger than BLOCK, or than four times that
        where a product of matrices would have fewer lines than TOGETHER."""
        dense = self.cells <= DENSE * rows
        width = max(math.exp(self.log_questions), rows, self.cells if dense else 1)
        most = min(TOGETHER, int(4 * BLOCK / width)) if dense and self.tabulated else 1
        return max(1, most, int(BLOCK / width))

    def lines(self, rows: int) -> Iterator[tuple[int, IntArray]]:
        """All databases of so many rows in their order, a block at a time, each with where it begins."""
        count, size = multisets(self.cells, rows), self.block(rows)
        for start in range(0, count, size):
            yield start, at(self.cells, rows, np.arange(start, min(start + size, count)))

    def records(self, database: IntArray, generator: np.random.Generator) -> Codes:
        """A database as codes of the whole schema; columns without a question are uniform, from public randomness."""
        codes = generator.integers(0, self.domain.sizes, (len(database), len(self.domain)))
        self._fill(codes, database)
        return codes

    def _totals(self, database: IntArray) -> IntArray:
        codes = np.zeros((len(database), len(self.domain)), dtype=np.int64)
        self._fill(codes, database)
        return np.concatenate(whole_totals(self.queries, Points(self.domain, codes, np.ones(len(database)))))

    def _fill(self, codes: Codes, database: IntArray) -> None:
        for column, code in zip(self.columns, np.unravel_index(database, self.shape), strict=True):
            codes[:, self.domain.names.index(column)] = code

    @property
    def shape(self) -> tuple[int, ...]:
        return self.domain.shape(self.columns)


@lru_cache(maxsize=1)
def _singles(queries: tuple[QueryClass, ...], domain: Domain, single: bool) -> NDArray[Any]:
    """The answers of a database that is one single record, for every record; public and the same in every run.

    They are held in single precision where that is exact.
    """
    databases = SmallDatabases(queries, domain)
    codes = np.zeros((databases.cells, len(domain)), dtype=np.int64)
    databases._fill(codes, np.arange(databases.cells))
    factors = [databases.grid // query.denominator(domain) for query in queries]
    lines = [whole(record_answers(query, domain, codes), each) for query, each in zip(queries, factors, strict=True)]
    found = np.concatenate(lines, axis=1).astype(np.float32 if single else np.float64)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=2)
def _every_answer(queries: tuple[QueryClass, ...], domain: Domain, rows: int) -> IntArray:
    """The answers of all databases of so many rows; public and the same in every run."""
    databases = SmallDatabases(queries, domain)
    found = databases.answers(at(databases.cells, rows, np.arange(multisets(databases.cells, rows))))
    found.setflags(write=False)
    return found


def at(cells: int, rows: int, indices: IntArray) -> IntArray:
    """The databases at these places of a fixed order of all multisets, one per line, their rows descending.

    A multiset is a choice of `rows` stars among cells + rows - 1 stars and bars, or of the bars; whichever is fewer is
    read off the combinatorial number system, one binomial search per element.

    >>> at(2, 2, np.arange(3)).tolist()
    [[1, 1], [1, 0], [0, 0]]
    """
    if rows < cells:
        return _subsets(cells + rows - 1, rows, indices) - np.arange(rows - 1, -1, -1)
    bars = _subsets(cells + rows - 1, cells - 1, indices)
    edges = np.full((len(indices), cells + 1), cells + rows - 1, dtype=np.int64)
    edges[:, -1], edges[:, 1:-1] = -1, bars
    held = edges[:, :-1] - edges[:, 1:] - 1
    order = np.tile(np.arange(cells - 1, -1, -1), len(indices))
    return np.repeat(order, held.ravel()).reshape(len(indices), rows)


def _subsets(elements: int, size: int, indices: IntArray) -> IntArray:
    """The subsets of so many elements at these places of the combinatorial number system, each descending."""
    left = np.array(indices, dtype=np.int64)
    found = np.empty((len(left), size), dtype=np.int64)
    for place, remaining in enumerate(range(size, 0, -1)):
        sizes = np.array([min(math.comb(n, remaining), MOST_PLACES) for n in range(elements)], dtype=np.int64)
        largest = np.searchsorted(sizes, left, side="right") - 1
        left -= sizes[largest]
        found[:, place] = largest
    return found


def changed(database: IntArray, count: int, shape: tuple[int, ...], generator: np.random.Generator) -> IntArray:
    """Databases that differ from one in some rows; made without looking at any data.

    How many rows change is spread evenly on a logarithmic scale from 1 to all, so that early steps can be large and
    late ones small. In each proposal the new rows are uniform, or copies of other rows, or differ in one column.
    """
    rows, sizes = len(database), np.array(shape, dtype=np.int64)
    moved = np.exp(generator.uniform(0, math.log(rows + 1), count)).astype(np.int64)
    ranks = generator.permuted(np.broadcast_to(np.arange(rows), (count, rows)), axis=1)
    proposal, place = np.nonzero(ranks < moved[:, None])
    fresh = generator.integers(0, math.prod(shape), len(place))
    copies = database[generator.integers(0, rows, len(place))]
    column = generator.integers(0, len(shape), len(place))
    strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], dtype=np.int64)[column]
    codes = database[place] // strides % sizes[column]
    near = database[place] + (generator.integers(0, sizes[column]) - codes) * strides
    found = np.tile(database, (count, 1))
    found[proposal, place] = np.choose(generator.integers(0, 3, count)[proposal], (fresh, copies, near))
    return found
