"""Marginals: every table of counts over a few columns at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option, unlisted
from core.base.wording import amount, plural
from core.kernel.query import Query
from core.queries.kit.checks import placed
from core.queries.kit.dimensions import between, exactly, fat_of_predicates, packed
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.queries.kit.sources import tables_of
from core.schema.domain import Domain

MOST_TABLES = 20_000
"""More tables than this cannot be measured with useful accuracy; the limit keeps a form from freezing."""


@dataclass(frozen=True, kw_only=True)
class Marginals:
    """All k-way tables over the chosen columns, or exactly the tables listed in `sets`.

    >>> Marginals(order=2, columns=("age", "sex", "region")).order
    2
    """

    name: ClassVar[str] = "marginals"
    title: ClassVar[str] = "Marginals: tables over a few columns at a time"

    order: int = option(
        "whole",
        "Columns per table",
        default=2,
        low=1,
        within="columns",
        help="2 releases a table of counts for every pair of the chosen columns.",
    )
    """Ignored when `sets` is given."""
    columns: tuple[str, ...] = option(
        "columns",
        "Columns",
        default=(),
        every=True,
        help="Fewer columns give more exact tables. What you leave out may be pure chance in the records.",
    )
    """Columns to combine; empty means all columns of the schema."""
    sets: tuple[Columns, ...] = unlisted("a form offers all combinations of the chosen columns", default=())
    """Explicit column sets, instead of all combinations."""
    weights: tuple[float, ...] = unlisted("belongs to `sets`", default=())
    """How much each of `sets` matters; empty means equally."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        object.__setattr__(self, "sets", tuple(limits.names(columns, "sets") for columns in self.sets))
        object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
        check_options(self)
        if self.weights and len(self.weights) != len(self.sets):
            raise BadParameter("weights", "needs one weight for each of the listed sets.")
        if any(not math.isfinite(weight) or weight <= 0 for weight in self.weights):
            raise BadParameter("weights", "must all be above 0.")

    def check(self, domain: Domain) -> None:
        for column in self._named():
            if column not in domain:
                raise BadParameter("columns", f"'{printable(column)}' is not in the schema.")
        if self.sets:
            return
        available = len(self.columns or domain.names)
        if self.order > available:
            raise BadParameter("order", f"only {available:,} columns are chosen; use an order up to {available:,}.")
        if math.comb(available, self.order) > MOST_TABLES:
            raise BadParameter("order", f"gives over {MOST_TABLES:,} tables; choose fewer columns or a lower order.")

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        if self.sets:
            return self.sets
        chosen = set(self.columns or domain.names)
        return tuple(combinations((name for name in domain.names if name in chosen), self.order))

    def weight_of(self, domain: Domain) -> dict[Columns, float]:
        tables = self.tables(domain)
        return dict(zip(tables, self.weights or (1.0,) * len(tables), strict=True))

    def denominator(self, domain: Domain) -> int:
        return 1

    def log_size(self, domain: Domain) -> float:
        return math.log(sum(domain.cells(columns) for columns in self.tables(domain)))

    def vc(self, domain: Domain) -> Dimension:
        tables = {frozenset(columns) for columns in self.tables(domain)}
        sizes = [domain.cells(tuple(columns)) for columns in tables]
        if len(tables) == 1:
            return exactly(min(1, sizes[0] - 1), "the cells of one table are disjoint, so no two records are shattered")
        useful = sum(domain[column].size > 1 for column in self.columns or domain.names)
        low = 0 if self.sets else packed(useful, min(self.order, useful), spare=0)
        return between(
            max(low, min(1, max(sizes) - 1)),
            sum(sizes),
            "blocks of records labelled by one column each are shattered (Littlestone 1988); at most log2|Q|",
        )

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        return fat_of_predicates(self.vc(domain), gamma)

    def totals(self, source: Source) -> NDArray[Any]:
        return np.concatenate([table.ravel() for table in tables_of(source, self.tables(source.domain))])

    def member(self, domain: Domain, index: int) -> Query:
        tables = self.tables(domain)
        index = placed(index, sum(domain.cells(columns) for columns in tables))
        for columns in tables:
            cells = domain.cells(columns)
            if index < cells:
                return _cell(domain, columns, index)
            index -= cells
        raise BadParameter("index", "lies beyond the last question of the class.")

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        """Cells of uniformly chosen tables, so that large tables do not crowd out small ones."""
        tables = self.tables(domain)
        chosen = [tables[place] for place in generator.integers(0, len(tables), count)]
        return tuple(_cell(domain, columns, int(generator.integers(domain.cells(columns)))) for columns in chosen)

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        tables = self.tables(domain)
        cells = sum(domain.cells(columns) for columns in tables)
        return f"{plural(len(tables), 'table')} of {_orders(tables)}, {amount(cells)} counts in all"

    def _named(self) -> Iterable[str]:
        yield from self.columns
        for columns in self.sets:
            yield from columns


def _cell(domain: Domain, columns: Columns, index: int) -> Query:
    shape = domain.shape(columns)
    cell = np.unravel_index(index, shape)
    weights = np.zeros(shape, dtype=np.int64)
    weights[cell] = 1
    parts = (f"{column} = {domain[column].label(int(code))}" for column, code in zip(columns, cell, strict=True))
    return Query(columns=columns, weights=weights, words=f"share of rows with {' and '.join(parts)}")


def _orders(tables: tuple[Columns, ...]) -> str:
    orders = sorted({len(columns) for columns in tables})
    return plural(orders[0], "column") if len(orders) == 1 else f"{orders[0]} to {orders[-1]} columns"
