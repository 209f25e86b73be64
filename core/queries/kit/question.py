"""What an adaptive mechanism asks: one linear question, all cells of one table together, or one statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.kernel.query import Query
from core.queries.kit.protocol import Columns, QueryClass, Source
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain


@dataclass(frozen=True)
class WholeTable:
    """Every count of one table. A row falls into exactly one cell, so asking all of them costs as much as one."""

    columns: Columns
    denominator: ClassVar[int] = 1

    def total(self, source: Source) -> NDArray[Any]:
        return source.marginal(self.columns)


@dataclass(frozen=True, eq=False)
class Statistic:
    """One member of a class that is not linear; a row moves it by at most `denominator`, as it does a `Query`."""

    query: Lipschitz
    index: int
    denominator: int

    @property
    def columns(self) -> Columns:
        return self.query.columns

    def total(self, source: Source) -> Any:
        return self.query.totals(source)[self.index]


Question = Query | WholeTable | Statistic


def total_on(question: Question, source: Source) -> Any:
    """A question's total on a source; a set of databases answers for itself, by its median."""
    own = getattr(source, "total_for", None)
    return own(question) if own else question.total(source)


def totals_on(query: QueryClass, source: Source) -> NDArray[Any]:
    """The totals of all members of a class on a source, in the class's order."""
    own = getattr(source, "totals_for", None)
    return np.asarray(own(query) if own else query.totals(source))


def place_of(queries: Sequence[QueryClass], sizes: Sequence[int], index: int) -> tuple[QueryClass, int]:
    """The class, and the place in it, of an index into several classes laid end to end."""
    for query, size in zip(queries, sizes, strict=True):
        if index < size:
            return query, index
        index -= size
    raise IndexError("beyond the last question")


def member_of(queries: Sequence[QueryClass], sizes: Sequence[int], domain: Domain, index: int) -> Query:
    """The linear question at an index into several classes laid end to end."""
    query, place = place_of(queries, sizes, index)
    return query.member(domain, place)
