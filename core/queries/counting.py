"""Counting queries: how many rows fulfil a condition, for a list of conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.query import Query
from core.queries.kit import checks
from core.queries.kit.dimensions import between, exactly, fat_of_predicates
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.queries.kit.sources import tables_of
from core.schema.domain import Domain

ColumnConditions = tuple[tuple[str, tuple[int, ...]], ...]
"""Columns, each with the codes it may have; a row fulfils it if every named column has one of its codes."""


@dataclass(frozen=True, kw_only=True)
class Counting:
    """Predicates over the public schema (B section 2, N): each a conjunction of 'column is one of these values'.

    >>> Counting(conditions=[[["size", [2, 3]], ["old", [1]]]]).conditions
    ((('size', (2, 3)), ('old', (1,))),)
    """

    name: ClassVar[str] = "counting"
    title: ClassVar[str] = "Counting: rows that fulfil a condition"

    conditions: tuple[ColumnConditions, ...] = option(
        "conditions", "Conditions", help="A row fulfils one if every named column has one of the values you choose."
    )
    """One condition per question; `condition` writes one from values instead of codes."""

    def __post_init__(self) -> None:
        conditions = checks.rows_of_tuples(self.conditions, "conditions", "conditions")
        object.__setattr__(self, "conditions", tuple(_condition(parts) for parts in conditions))
        check_options(self)
        if not self.conditions:
            raise BadParameter("conditions", "needs at least one condition.")

    def check(self, domain: Domain) -> None:
        for parts in self.conditions:
            checks.known(domain, (column for column, _ in parts), "conditions")
            for column, codes in parts:
                size = domain[column].size
                if codes and codes[-1] >= size:
                    raise BadParameter("conditions", f"'{printable(column)}' has the codes 0 to {size - 1:,} only.")
            checks.holdable(domain, _columns(domain, parts), self.name)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return tuple(dict.fromkeys(_columns(domain, parts) for parts in self.conditions))

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(len(self.conditions))

    def vc(self, domain: Domain) -> Dimension:
        self.check(domain)
        different = len({_meaning(domain, parts) for parts in self.conditions})
        if different == 1:
            return exactly(0, "a single predicate tells nothing apart")
        return between(1, different, "two different predicates shatter a record; at most log2 of the different ones")

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        domain = source.domain
        sets = self.tables(domain)
        tables = dict(zip(sets, tables_of(source, sets), strict=True))
        return np.array([_total(tables[_columns(domain, parts)], domain, parts) for parts in self.conditions])

    def member(self, domain: Domain, index: int) -> Query:
        self.check(domain)
        parts = self.conditions[checks.placed(index, len(self.conditions))]
        columns = _columns(domain, parts)
        weights = np.zeros(domain.shape(columns), dtype=np.int64)
        weights[_block(domain, parts)] = 1
        return Query(columns=columns, weights=weights, words=f"share of rows with {_words(domain, parts)}")

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member(domain, int(place)) for place in generator.integers(0, len(self.conditions), count))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        return f"shares of rows that fulfil {plural(len(self.conditions), 'condition')}"


def condition(domain: Domain, values: Mapping[str, Any]) -> ColumnConditions:
    """A condition from values, labels, or lists of them, as they are written in the schema.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99, bins=10), Booleans(name="ill")))
    >>> condition(people, {"age": [35, "50 to 59"], "ill": True})
    (('age', (3, 5)), ('ill', (1,)))
    """
    checks.known(domain, values, "conditions")
    parts = []
    for column, wanted in values.items():
        listed = wanted if isinstance(wanted, list | tuple | set | frozenset | range) else [wanted]
        parts.append((column, tuple(_code(domain, column, value) for value in listed)))
    return _condition(tuple(parts))


def _code(domain: Domain, column: str, value: object) -> int:
    attribute = domain[column]
    codes, misfits = attribute.encode([value])
    if not misfits[0]:
        return int(codes[0])
    for code in range(attribute.size):
        if attribute.label(code) == str(value):
            return code
    raise BadParameter(
        "conditions", f"a value named for column '{printable(column)}' is not in the schema; use one of its labels."
    )


def _condition(parts: Any) -> ColumnConditions:
    pairs = checks.rows_of_tuples(parts, "conditions", "pairs of a column name and a list of codes")
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], list | tuple):
            raise BadParameter("conditions", "must be lists of pairs of a column name and a list of codes.")
        for code in pair[1]:
            limits.whole(code, "conditions", 0)
    limits.names([pair[0] for pair in pairs], "conditions")
    return tuple((column, tuple(sorted(set(codes)))) for column, codes in pairs)


def _columns(domain: Domain, parts: ColumnConditions) -> Columns:
    named = {column for column, _ in parts}
    return tuple(name for name in domain.names if name in named)


def _block(domain: Domain, parts: ColumnConditions) -> tuple[NDArray[np.intp], ...]:
    """The cells that fulfil the condition, as an index into the table over `_columns`."""
    codes = dict(parts)
    return np.ix_(*(np.array(codes[column], dtype=np.intp) for column in _columns(domain, parts)))


def _total(table: NDArray[Any], domain: Domain, parts: ColumnConditions) -> Any:
    return table[_block(domain, parts)].sum()


def _meaning(domain: Domain, parts: ColumnConditions) -> frozenset[tuple[str, tuple[int, ...]]] | None:
    """The predicate itself, however it is written: a block of cells is known by its sides, None is never true."""
    if any(not codes for _, codes in parts):
        return None
    return frozenset((column, codes) for column, codes in parts if len(codes) < domain[column].size)


def _words(domain: Domain, parts: ColumnConditions) -> str:
    if not parts:
        return "any values"
    return " and ".join(_part(domain, column, codes) for column, codes in parts)


def _part(domain: Domain, column: str, codes: tuple[int, ...]) -> str:
    if not codes:
        return f"no value of {printable(column)}"
    labels = [domain[column].label(code) for code in codes]
    return f"{printable(column)} {'=' if len(labels) == 1 else 'any of'} {', '.join(labels)}"
