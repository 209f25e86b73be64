"""Unions of intervals: rows whose value in one ordered column lies in any of a few ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.query import Query
from core.queries.kit import checks, pieces, subsets
from core.queries.kit.dimensions import exactly, fat_of_predicates
from core.queries.kit.protocol import Dimension, Source, answers_of
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Unions:
    """All non-empty unions of at most `parts` intervals of an ordered column (B section 4).

    A union of exactly r separate intervals is a choice of 2r of the N+1 places between pieces, so there are
    sum over r of C(N+1, 2r); they are ordered by r, then by their places.

    **Runtime** the largest error is the largest sum of at most t disjoint runs of the difference of two tables: a
    dynamic program in O(N t).
    """

    name: ClassVar[str] = "unions"
    title: ClassVar[str] = "Unions: rows in any of a few ranges"

    column: str = option("column", "Column", only="ordered", help="A column of numbers or dates.")
    parts: int = option("whole", "Parts", default=2, low=1, help="Most intervals in one union.")
    bits: int | None = pieces.bits_option("the column")

    def __post_init__(self) -> None:
        check_options(self)

    def check(self, domain: Domain) -> None:
        pieces.check(domain, (self.column,), self.bits, "column")
        most = len(pieces.edges(domain, self.column, self.bits)) // 2
        if self.parts > most:
            raise BadParameter("parts", f"column '{printable(self.column)}' has room for at most {most:,}.")

    def edges(self, domain: Domain) -> NDArray[np.int64]:
        """The N+1 places, counted in cells, at which an interval can begin or end."""
        self.check(domain)
        return pieces.edges(domain, self.column, self.bits)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return ((self.column,),)

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(self._size(domain))

    def vc(self, domain: Domain) -> Dimension:
        """2t+1 points marked in turn need t+1 intervals, 2t points at most t; one piece is left over to hold none."""
        count = len(self.edges(domain)) - 1
        return exactly(min(2 * self.parts, count - 1), "2t pieces are shattered if one more is left over; never 2t+1")

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        checks.listable(self._size(source.domain), self.name)
        sums = pieces.prefix(source.marginal((self.column,)), self.edges(source.domain))
        found = []
        for parts in range(1, self.parts + 1):
            corners = sums[subsets.listed(len(sums), 2 * parts)]
            found.append(corners[:, 1::2].sum(axis=1) - corners[:, ::2].sum(axis=1))
        return np.concatenate(found)

    def member(self, domain: Domain, index: int) -> Query:
        left = checks.placed(index, self._size(domain))
        places, parts = len(self.edges(domain)), 1
        while left >= comb(places, 2 * parts):
            left -= comb(places, 2 * parts)
            parts += 1
        return self.union(domain, subsets.at(places, 2 * parts, left))

    def union(self, domain: Domain, places: tuple[int, ...]) -> Query:
        """The question about the pieces between the first and second place, the third and fourth, and so on."""
        cuts, attribute = self.edges(domain)[list(places)], domain[self.column]
        weights = np.zeros(attribute.size, dtype=np.int64)
        spans = []
        for low, high in zip(cuts[::2], cuts[1::2], strict=True):
            weights[low:high] = 1
            spans.append(pieces.span(attribute, int(low), int(high) - 1))
        return Query(columns=(self.column,), weights=weights, words=f"share of rows with {' or '.join(spans)}")

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member_between(domain, each) for each in self.draw(domain, count, generator))

    def draw(self, domain: Domain, count: int, generator: np.random.Generator) -> IntArray:
        """A uniform number of intervals, then uniform ends; the intervals that are left over are empty."""
        places = len(self.edges(domain))
        drawn = np.zeros((count, 2 * self.parts), dtype=np.int64)
        for line, size in zip(drawn, 2 * generator.integers(1, self.parts + 1, count), strict=True):
            line[:size] = np.sort(generator.choice(places, int(size), replace=False))
        return drawn

    def totals_between(self, source: Source, places: IntArray) -> NDArray[Any]:
        sums = pieces.prefix(source.marginal((self.column,)), self.edges(source.domain))
        parts = range(0, places.shape[1], 2)
        return np.asarray(sum(pieces.between(sums, places[:, part : part + 2]) for part in parts))

    def member_between(self, domain: Domain, places: IntArray) -> Query:
        filled = places.reshape(-1, 2)
        return self.union(domain, tuple(int(place) for place in filled[filled[:, 0] < filled[:, 1]].ravel()))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        self.check(truth.domain)
        difference = pieces.prefix_difference(truth, estimate, (self.column,), self.bits)
        return max(_best(difference, self.parts), _best(-difference, self.parts))

    def sentence(self, domain: Domain) -> str:
        count = plural(self._size(domain), "union")
        return f"shares of rows in all {count} of at most {self.parts} intervals of {printable(self.column)}"

    def _size(self, domain: Domain) -> int:
        places = len(self.edges(domain))
        return sum(comb(places, 2 * parts) for parts in range(1, self.parts + 1))


def _best(sums: Floats, parts: int) -> float:
    """Largest sum of at most `parts` disjoint runs, from prefix sums.

    best[j] is the largest over runs that end by place j: one more run, from i to j, adds sums[j] - sums[i] to best[i].
    """
    best = np.zeros_like(sums)
    for _ in range(parts):
        best = np.maximum.accumulate(sums + np.maximum.accumulate(best - sums))
    return float(best[-1])
