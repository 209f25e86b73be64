"""What an adaptive mechanism asks, and how a source answers: one question, all cells of one table, or one statistic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.kernel.query import Query, Statistic
from core.kernel.scores import grid_of
from core.kernel.tables import LARGEST, Marginal
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import QueryClass, Source
from core.schema.domain import Domain

Question = Query | Marginal | Statistic
"""One linear question, all cells of one table together, or one statistic that is not linear."""
Learnt = Question | GroupedTable
"""What a hypothesis learns from: a question, or all groups of a coarse table."""


@runtime_checkable
class AnswersItself(Source, Protocol):
    """A source whose answers are not those of its tables: a set of databases answers by its median."""

    def total_for(self, question: Question) -> Any:
        """A question's total."""

    def totals_for(self, query: QueryClass) -> NDArray[Any]:
        """The totals of all members of a class, in the class's order."""


def total_on(question: Question, source: Source) -> Any:
    """A question's total on a public source."""
    return source.total_for(question) if isinstance(source, AnswersItself) else question.total(source)


def totals_on(query: QueryClass, source: Source) -> NDArray[Any]:
    """The totals of all members of a class on a public source, in the class's order."""
    return np.asarray(source.totals_for(query) if isinstance(source, AnswersItself) else query.totals(source))


def whole_totals(queries: Sequence[QueryClass], source: Source) -> list[NDArray[np.int64]]:
    """The totals of several classes on a public source as `kernel/scores.py` compares them, class by class.

    They are whole numbers of 1/grid rows, grid being the finest denominator.
    """
    grid = grid_of(queries, source.domain)
    return [whole(totals_on(query, source), grid // query.denominator(source.domain)) for query in queries]


def whole(totals: NDArray[Any], factor: int = 1) -> NDArray[np.int64]:
    """So many times some totals as whole numbers, clipped so that no difference of two leaves 64 bits.

    Exact totals stay exact; of estimates, halves are rounded up, always the same way.
    """
    if totals.dtype.kind in "iu":
        return np.clip(totals, -LARGEST // factor, LARGEST // factor).astype(np.int64) * factor
    return np.clip(np.floor(totals * factor + 0.5), -float(LARGEST), float(LARGEST)).astype(np.int64)


def log_size_of(queries: Sequence[QueryClass], domain: Domain) -> float:
    """Natural logarithm of the number of questions of several classes together."""
    logs = [query.log_size(domain) for query in queries]
    largest = max(logs)
    return largest + math.log(sum(math.exp(each - largest) for each in logs)) if math.isfinite(largest) else largest


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
