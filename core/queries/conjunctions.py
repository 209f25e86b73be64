"""Monotone conjunctions and disjunctions: rows for which all, or some, of a few facts hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Codes, Columns, Floats
from core.base.errors import BadParameter
from core.base.options import check_options, option
from core.base.wording import amount, plural
from core.kernel.query import Query
from core.queries.kit import checks, literals, subsets
from core.queries.kit.dimensions import between, exactly, fat_of_predicates, packed
from core.queries.kit.literals import Literal
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.queries.kit.sources import tables_of
from core.schema.domain import Domain

MOST_TABLES = 20_000


@dataclass(frozen=True, kw_only=True)
class Conjunctions:
    """For every set of at most `order` facts, the share of rows for which all of them (or at least one) hold.

    The boolean case of marginals: q_S(x) = product of x_i over i in S (N; T definition 27). The empty set belongs to
    the class: of no facts, all hold and none holds. Sets are ordered by size, then lexicographically.

    **Runtime** each table of `order` columns becomes the tensor of all its conjunctions by one sum and one slice per
    axis, O(cells of the table).
    """

    name: ClassVar[str] = "conjunctions"
    title: ClassVar[str] = "Conjunctions: rows for which several facts hold"

    order: int = option("whole", "Facts", default=3, low=1, within="columns", help="Most facts joined in one question.")
    columns: tuple[str, ...] = option(
        "columns", "Yes/no columns", default=(), only="binary", low=0, help="The fact of such a column is 'yes'."
    )
    """With no `values` either, all yes/no columns."""
    values: tuple[Literal, ...] = option(
        "facts", "Further columns", default=(), help="The fact is that the column has the value you choose for it."
    )
    """Pairs of a column and the code it must have."""
    connective: str = option(
        "choice",
        "Joined by",
        default="and",
        choices=("and", "or"),
        help="'and': all of the facts hold; 'or': at least one of them.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        object.__setattr__(self, "values", literals.normalised(self.values))
        check_options(self)

    def check(self, domain: Domain) -> None:
        facts = self.facts(domain)
        if self.order > len(facts):
            raise BadParameter("order", f"only {plural(len(facts), 'fact')} are there; use at most {len(facts):,}.")
        if comb(len(facts), self.order) > MOST_TABLES or self._size(len(facts)) > checks.MOST_LISTED:
            fits = [order for order in range(1, self.order) if self._fits(len(facts), order)]
            advice = f"use an order of at most {fits[-1]}" if fits else "choose fewer columns"
            raise BadParameter("order", f"gives {amount(self._size(len(facts)))} questions; {advice}.")
        largest = sorted(facts, key=lambda fact: domain[fact[0]].size)[-self.order :]
        checks.holdable(domain, tuple(column for column, _ in largest), self.name)

    def facts(self, domain: Domain) -> tuple[Literal, ...]:
        """Columns and the code that counts as yes, in the order of the schema."""
        return literals.resolve(domain, self.columns, self.values)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return tuple(combinations((column for column, _ in self.facts(domain)), self.order))

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(self._size(len(self.facts(domain))))

    def vc(self, domain: Domain) -> Dimension:
        self.check(domain)
        facts = len(self.facts(domain))
        if self.order == facts:
            return exactly(facts, "the records that lack one fact are shattered, and the class has 2^d members")
        return between(
            packed(facts, self.order, spare=1),
            self._size(facts),
            "blocks of records labelled by one fact each are shattered (Littlestone 1988); at most log2|Q|",
        )

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        domain = source.domain
        sets, facts = self.tables(domain), self.facts(domain)
        places = subsets.listed(len(facts), self.order)
        codes = np.array([code for _, code in facts])[places]
        tensors = np.stack(
            [self._tensor(table, line).ravel() for table, line in zip(tables_of(source, sets), codes, strict=True)]
        )
        bits = 1 << np.arange(self.order - 1, -1, -1)
        totals = []
        for size in range(self.order + 1):
            lines = subsets.listed(self.order, size)
            found = np.zeros(comb(len(facts), size), dtype=tensors.dtype)
            # a set of facts lies in several tables; any one of them will do
            at = subsets.places(len(facts), places[:, lines].reshape(len(places) * len(lines), size))
            found[at] = tensors[:, bits[lines].sum(axis=1)].ravel()
            totals.append(found)
        return np.concatenate(totals)

    def record_totals(self, domain: Domain, codes: Codes) -> NDArray[Any]:
        facts = self.facts(domain)
        holds = np.stack([codes[:, domain.names.index(column)] == code for column, code in facts], axis=1)
        joined = np.all if self.connective == "and" else np.any
        sets = (subsets.listed(len(facts), size) for size in range(self.order + 1))
        return np.hstack([joined(holds[:, lines], axis=2) for lines in sets]).astype(np.int64)

    def member(self, domain: Domain, index: int) -> Query:
        facts = self.facts(domain)
        left = checks.placed(index, self._size(len(facts)))
        size = 0
        while left >= comb(len(facts), size):
            left -= comb(len(facts), size)
            size += 1
        return self._query(domain, [facts[place] for place in subsets.at(len(facts), size, left)])

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        """Sets of a uniformly chosen size from 1 to `order`, so that large sets do not crowd out small ones."""
        self.check(domain)
        facts = self.facts(domain)
        sizes = generator.integers(1, self.order + 1, count)
        drawn = (np.sort(generator.choice(len(facts), int(size), replace=False)) for size in sizes)
        return tuple(self._query(domain, [facts[place] for place in places]) for places in drawn)

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        facts = len(self.facts(domain))
        which = "all" if self.connective == "and" else "at least one"
        sets = plural(self._size(facts), "set")
        return f"shares of rows for which {which} of up to {self.order} of {facts} facts hold, {sets} of facts"

    def _size(self, facts: int, order: int | None = None) -> int:
        return sum(comb(facts, size) for size in range((order or self.order) + 1))

    def _fits(self, facts: int, order: int) -> bool:
        return comb(facts, order) <= MOST_TABLES and self._size(facts, order) <= checks.MOST_LISTED

    def _tensor(self, table: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
        """Entry (s_1, .., s_k): the total of the question about the facts with s_i = 1."""
        rows = table.sum()
        for axis, code in enumerate(codes):
            whole, yes = literals.split(table, axis, int(code))
            table = np.stack([whole, yes if self.connective == "and" else whole - yes], axis=axis)
        return table if self.connective == "and" else rows - table

    def _query(self, domain: Domain, facts: list[Literal]) -> Query:
        columns = tuple(column for column, _ in facts)
        weights = np.full(domain.shape(columns), 1 if self.connective == "and" else 0, dtype=np.int64)
        for axis, (_, code) in enumerate(facts):
            holds = np.zeros((weights.shape[axis],) + (1,) * (len(facts) - axis - 1), dtype=np.int64)
            holds[code] = 1
            weights = weights * holds if self.connective == "and" else np.maximum(weights, holds)
        listed = f" {self.connective} ".join(literals.words(domain, fact) for fact in facts)
        nothing = "share of all rows" if self.connective == "and" else "share of no rows"
        return Query(columns=columns, weights=weights, words=f"share of rows with {listed}" if facts else nothing)
