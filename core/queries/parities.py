"""Parities: rows for which an odd (or even) number of facts hold, for every set of facts at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Codes, Columns, Floats
from core.base.errors import BadParameter
from core.base.options import check_options, option
from core.base.wording import amount
from core.kernel.query import Query
from core.queries.kit import checks, literals
from core.queries.kit.dimensions import exactly, fat_of_predicates
from core.queries.kit.literals import Literal
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.schema.domain import Domain

MOST_FACTS = 20


@dataclass(frozen=True, kw_only=True)
class Parities:
    """For every set S of d facts, the share of rows for which an odd number of them hold (T section 6.2).

    With 'even' it is the parity query of B definition A.1: a fact that holds is -1, and the product over S is 1. The
    set at place p holds fact i (counted from 0) where bit d-1-i of p is set.

    **Runtime** all 2^d answers by a fast Walsh-Hadamard transform in O(d 2^d).
    """

    name: ClassVar[str] = "parities"
    title: ClassVar[str] = "Parities: rows for which an odd number of facts hold"

    columns: tuple[str, ...] = option(
        "columns", "Yes/no columns", default=(), only="binary", low=0, help="The fact of such a column is 'yes'."
    )
    """With no `values` either, all yes/no columns."""
    values: tuple[Literal, ...] = option(
        "facts", "Further columns", default=(), help="The fact is that the column has the value you choose for it."
    )
    """Pairs of a column and the code it must have."""
    parity: str = option(
        "choice", "Parity", default="odd", choices=("odd", "even"), help="Rows with so many facts are counted."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        object.__setattr__(self, "values", literals.normalised(self.values))
        check_options(self)

    def check(self, domain: Domain) -> None:
        facts = self.facts(domain)
        if len(facts) > MOST_FACTS:
            raise BadParameter("columns", f"gives 2^{len(facts)} parities; choose at most {MOST_FACTS} columns.")
        checks.holdable(domain, tuple(column for column, _ in facts), self.name)

    def facts(self, domain: Domain) -> tuple[Literal, ...]:
        """Columns and the code that counts as yes, in the order of the schema."""
        return literals.resolve(domain, self.columns, self.values)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return (tuple(column for column, _ in self.facts(domain)),)

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return len(self.facts(domain)) * math.log(2)

    def vc(self, domain: Domain) -> Dimension:
        return exactly(len(self.facts(domain)), "the d records with a single fact are shattered; there are 2^d sets")

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        (columns,) = self.tables(source.domain)
        codes = tuple(code for _, code in self.facts(source.domain))
        table = literals.halved(source.marginal(columns), codes)
        rows, signed = table.sum(), walsh_hadamard(table).ravel()
        # rows and signed differ by twice the odd rows, so the division of integers is exact
        twice = rows - signed if self.parity == "odd" else rows + signed
        return twice // 2 if twice.dtype.kind == "i" else twice / 2

    def record_totals(self, domain: Domain, codes: Codes) -> NDArray[Any]:
        facts = self.facts(domain)
        sets = np.arange(2 ** len(facts)) >> np.arange(len(facts) - 1, -1, -1)[:, None] & 1
        odd = np.zeros((len(codes), sets.shape[1]), dtype=np.int64)
        for (column, code), chosen in zip(facts, sets, strict=True):
            odd[codes[:, domain.names.index(column)] == code] ^= chosen
        return odd if self.parity == "odd" else 1 - odd

    def member(self, domain: Domain, index: int) -> Query:
        self.check(domain)
        facts = self.facts(domain)
        place = checks.placed(index, 2 ** len(facts))
        return self._query(domain, [fact for i, fact in enumerate(facts) if place >> (len(facts) - 1 - i) & 1])

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        places = generator.integers(0, 2 ** len(self.facts(domain)), count)
        return tuple(self.member(domain, int(place)) for place in places)

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        facts = len(self.facts(domain))
        return f"shares of rows with an {self.parity} number of facts, for all {amount(2**facts)} sets of {facts} facts"

    def _query(self, domain: Domain, facts: list[Literal]) -> Query:
        columns = tuple(column for column, _ in facts)
        weights = np.full(domain.shape(columns), 0 if self.parity == "odd" else 1, dtype=np.int64)
        for axis, (_, code) in enumerate(facts):
            holds = np.zeros((weights.shape[axis],) + (1,) * (len(facts) - axis - 1), dtype=np.int64)
            holds[code] = 1
            weights = weights ^ holds
        listed = ", ".join(literals.words(domain, fact) for fact in facts) or "none"
        words = f"share of rows for which an {self.parity} number of these hold: {listed}"
        return Query(columns=columns, weights=weights, words=words)


def walsh_hadamard(table: NDArray[Any]) -> NDArray[Any]:
    """Entry S: the sum of (-1)^|x and S| times the count of x, for all S; the table has shape (2, 2, ..).

    **Runtime** O(d 2^d): each axis is replaced by its sum and its difference; integers stay integers.

    >>> walsh_hadamard(np.array([[3, 1], [0, 2]])).tolist()
    [[6, 0], [2, 4]]
    """
    flat, width = table.reshape(-1), 1
    for _ in range(table.ndim):
        pairs = flat.reshape(-1, 2, width)
        flat = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return flat.reshape(table.shape)
