"""What an adaptive mechanism asks: one linear question, or all cells of one table together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.domain import Domain
from core.queries.protocol import Columns, QueryClass, Source
from core.queries.query import Query


@dataclass(frozen=True)
class WholeTable:
    """Every count of one table. A row falls into exactly one cell, so asking all of them costs as much as one."""

    columns: Columns
    denominator: ClassVar[int] = 1

    def total(self, source: Source) -> NDArray[Any]:
        return source.marginal(self.columns)


Question = Query | WholeTable


def total_on(question: Question, source: Source) -> Any:
    """A question's total on a source; a set of databases answers for itself, by its median."""
    own = getattr(source, "total_for", None)
    return own(question) if own else question.total(source)


def totals_on(query: QueryClass, source: Source) -> NDArray[Any]:
    """The totals of all members of a class on a source, in the class's order."""
    own = getattr(source, "totals_for", None)
    return np.asarray(own(query) if own else query.totals(source))


def member_of(queries: tuple[QueryClass, ...], sizes: list[int], domain: Domain, index: int) -> Query:
    """The question at a place of several classes laid end to end."""
    for query, size in zip(queries, sizes, strict=True):
        if index < size:
            return query.member(domain, index)
        index -= size
    raise IndexError("beyond the last question")
