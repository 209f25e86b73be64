"""One linear question: a weight from 0 to 1 for every possible record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change, one_number, own
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Source

MOST_DENOMINATOR = 2**30
"""Eight thousand million rows times this stay below 2^63: a total that wrapped around would change by far more than
`denominator` for one row."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Query(Asked):
    """Weights over the cells of a few columns, as integers over a public power of two.

    A predicate has weights 0 and 1 and denominator 1. Integer weights keep the exact answer on integer counts an
    integer, so that noise can be added to it without rounding.

    **Change** a row adds its weight, from 0 to `denominator`, to the total: at most L times the denominator.
    """

    columns: Columns
    weights: NDArray[np.int64]
    """Shape `domain.shape(columns)`, each from 0 to `denominator`."""
    denominator: int = 1
    words: str = ""
    """The question as a sentence."""

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights)
        if not 1 <= self.denominator <= MOST_DENOMINATOR or self.denominator & (self.denominator - 1):
            raise BadParameter("denominator", f"must be a power of two up to {MOST_DENOMINATOR:,}.")
        if weights.dtype.kind not in "iub" or weights.min(initial=0) < 0 or weights.max(initial=0) > self.denominator:
            raise BadParameter("weights", "must be whole numbers from 0 to the denominator.")
        object.__setattr__(self, "weights", own(weights, "weights"))

    def total(self, source: Source) -> Any:
        """Sum of weights over the rows, times the denominator: an integer wherever the source counts in integers."""
        table = source.marginal(self.columns)
        if table.shape != self.weights.shape:
            # Numpy would repeat the table to fit, and count every row as often.
            raise BadParameter("weights", "must be one for every combination of values of the columns.")
        return (self.weights * table).sum()

    def answer(self, source: Source) -> float:
        """The weighted share of the table, from 0 to 1."""
        rows = float(source.marginal(self.columns).sum())
        return float(self.total(source)) / (self.denominator * rows) if rows > 0 else 0.0

    def counts(self, counts: Source) -> IntArray:
        return np.asarray(self.total(counts), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit, self.denominator)


class Totals(Protocol):
    """A class of questions of which a row moves every total by at most the class's denominator.

    Classes are not written in the kernel, but theirs is the one piece of code outside that is handed private counts. So
    only registered ones are let in (`trust_class`), and that these keep to the bound is checked on all rows and on all
    small tables (`tests/privacy/test_classes.py`).
    """

    def denominator(self, domain: Domain) -> int: ...

    def totals(self, source: Source) -> NDArray[Any]: ...


class TableTotals(Totals, Protocol):
    """A class whose questions are all about one table."""

    @property
    def columns(self) -> Columns: ...


_TRUSTED: dict[type, bool] = {}
"""The registered classes, each with whether its totals are sums over the rows."""


def trust_class(kind: type, *, linear: bool) -> None:
    """Let a class in; for the registry alone, from which the checks of classes take their list."""
    _TRUSTED[kind] = linear


def check_classes(queries: Sequence[Totals], *, linear: bool = False) -> None:
    """Refuse whatever only looks like a class: it would be handed the private counts."""
    for query in queries:
        if type(query) not in _TRUSTED:
            raise TypeError(f"{type(query).__name__} is not a registered query class.")
        if linear and not _TRUSTED[type(query)]:
            raise BadParameter("queries", "must be sums over the rows here.")


@dataclass(frozen=True, eq=False)
class Statistic(Asked):
    """One member of a class that is not linear.

    **Change** a row that is added, removed or replaced moves it by at most `denominator` (the class's own proof). The
    rows of a unit of L rows are replaced, added or removed one by one in at most L steps: L times that.
    """

    query: TableTotals
    index: int
    denominator: int

    def __post_init__(self) -> None:
        check_classes([self.query])

    @property
    def columns(self) -> Columns:
        return self.query.columns

    def total(self, source: Source) -> Any:
        return self.query.totals(source)[self.index]

    def counts(self, counts: Source) -> IntArray:
        if self.query.denominator(counts.domain) > self.denominator:
            raise BadParameter("denominator", "must be that of the class.")
        return np.asarray(self.total(counts), dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit, self.denominator)


Single = Query | Statistic
"""One question with one number for an answer, of which one row moves the total by at most the denominator."""


def check_single(asked: object) -> None:
    """Refuse what only looks like a question: it would be handed the private counts, and nobody proved its bound."""
    if not isinstance(asked, Query | Statistic):
        raise TypeError(f"{type(asked).__name__} is not the kernel's own question.")
