"""Intervals: rows whose value in one ordered column lies between two bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import printable
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.query import Query
from core.queries.kit import checks, pieces, subsets
from core.queries.kit.dimensions import exactly, fat_of_predicates
from core.queries.kit.protocol import Dimension, Source, answers_of
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """All N(N+1)/2 intervals of an ordered column (B section 4), N being its cells or 2^`bits` pieces of them.

    The interval (i, j) holds the pieces i to j-1; intervals are ordered by i, then j.

    **Runtime** all answers are differences of N+1 prefix sums; the largest error is the largest minus the smallest
    difference of the two cumulative distributions, O(N), because an interval's error is a difference of two of those.
    """

    name: ClassVar[str] = "intervals"
    title: ClassVar[str] = "Intervals: rows between two bounds"

    column: str = option("column", "Column", only="ordered", help="A column of numbers or dates.")
    bits: int | None = pieces.bits_option("the column")

    def __post_init__(self) -> None:
        check_options(self)

    def check(self, domain: Domain) -> None:
        pieces.check(domain, (self.column,), self.bits, "column")

    def edges(self, domain: Domain) -> NDArray[np.int64]:
        """The N+1 places, counted in cells, at which an interval can begin or end."""
        self.check(domain)
        return pieces.edges(domain, self.column, self.bits)

    def prefix(self, source: Source) -> NDArray[Any]:
        """The N+1 counts of rows before each of those places: interval (i, j) has total prefix[j] - prefix[i]."""
        return pieces.prefix(source.marginal((self.column,)), self.edges(source.domain))

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return ((self.column,),)

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(self._size(domain))

    def vc(self, domain: Domain) -> Dimension:
        """A point between two others cannot be left out; with fewer than 3 pieces no interval avoids two points."""
        count = len(self.edges(domain)) - 1
        return exactly(min(2, count - 1), "two pieces are shattered if a third is left to hold neither; never three")

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        checks.listable(self._size(source.domain), self.name)
        sums = self.prefix(source)
        first, last = np.triu_indices(len(sums), 1)
        return sums[last] - sums[first]

    def member(self, domain: Domain, index: int) -> Query:
        place = checks.placed(index, self._size(domain))
        first, last = subsets.at(len(self.edges(domain)), 2, place)
        return self.interval(domain, first, last)

    def interval(self, domain: Domain, first: int, last: int) -> Query:
        """The question about the pieces first to last - 1."""
        edges, attribute = self.edges(domain), domain[self.column]
        low, high = int(edges[first]), int(edges[last])
        weights = np.zeros(attribute.size, dtype=np.int64)
        weights[low:high] = 1
        words = f"share of rows with {pieces.span(attribute, low, high - 1)}"
        return Query(columns=(self.column,), weights=weights, words=words)

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member_between(domain, each) for each in self.draw(domain, count, generator))

    def draw(self, domain: Domain, count: int, generator: np.random.Generator) -> IntArray:
        """Both ends uniform: every interval is equally likely."""
        return pieces.ends(count, len(self.edges(domain)) - 1, generator)

    def totals_between(self, source: Source, places: IntArray) -> NDArray[Any]:
        return pieces.between(self.prefix(source), places)

    def member_between(self, domain: Domain, places: IntArray) -> Query:
        return self.interval(domain, int(places[0]), int(places[1]))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        self.check(truth.domain)
        difference = pieces.prefix_difference(truth, estimate, (self.column,), self.bits)
        return float(difference.max() - difference.min())

    def sentence(self, domain: Domain) -> str:
        intervals, count = plural(self._size(domain), "interval"), plural(len(self.edges(domain)) - 1, "piece")
        return f"shares of rows in all {intervals} of {count} of {printable(self.column)}"

    def _size(self, domain: Domain) -> int:
        return math.comb(len(self.edges(domain)), 2)
