"""Statistics by group: how many rows, their sum, mean, median and quantiles of one column of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter, Refused, printable
from core.base.options import check_options, option
from core.base.wording import amount, plural
from core.kernel.query import Query
from core.queries.kit import checks, pieces
from core.queries.kit.dimensions import between, exactly, scale
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.schema.domain import Domain

WHOLE = 2**20
"""Stands for a weight of 1: a place between the bounds is rounded by less than a millionth of their distance."""


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What counts, sums, means and quantiles of a column by group are made of, as linear questions.

    For each group (each combination of cells of the group columns) and a column whose values fall into N cells there
    are N + 1 questions: the rows that have a value; the sum of their places between the lowest and the highest cell's
    middle, from 0 to 1; and the rows among the first 1, 2, .., N - 1 cells. A mean is the second divided by the first;
    the median and every other quantile are read off the rest.

    **Privacy** every weight lies between 0 and `WHOLE`, so a row moves each total by at most the denominator. A
    quantile itself can move from one end of its range to the other with one row, so none is measured: it is computed
    from counts that were.

    >>> Statistics(column="age", groups=("sex",)).groups
    ('sex',)
    """

    name: ClassVar[str] = "statistics"
    title: ClassVar[str] = "Statistics: means, sums and quantiles by group"

    column: str = option("column", "Column", only="numeric", help="The numbers that are summed up.")
    groups: tuple[str, ...] = option(
        "columns",
        "By group",
        default=(),
        low=0,
        start=0,
        help="One line for each combination of their cells; none means all rows together.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", limits.names(self.groups, "groups"))
        check_options(self)
        if self.column in self.groups:
            raise BadParameter("groups", f"column '{printable(self.column)}' is summed up, so it cannot be a group.")

    def check(self, domain: Domain) -> None:
        checks.known(domain, (self.column, *self.groups))
        checks.numeric(domain, (self.column,), "column")
        checks.holdable(domain, self.columns(domain), self.name)
        self._check_size(domain)

    def columns(self, domain: Domain) -> Columns:
        """All of them, in the order of the schema."""
        return tuple(name for name in domain.names if name == self.column or name in self.groups)

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return (self.columns(domain),)

    def denominator(self, domain: Domain) -> int:
        return WHOLE

    def log_size(self, domain: Domain) -> float:
        return math.log(self._size(domain))

    def vc(self, domain: Domain) -> Dimension:
        """The fat-shattering dimension at the finest scale at which two weights can differ."""
        return self.fat(domain, 1 / (2 * WHOLE))

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        if scale(gamma) > 0.5:
            return exactly(0, "answers lie between 0 and 1, so nothing is shattered at a scale above 1/2")
        why = "a value weighs 1 in its group's count and 0 elsewhere; at most log2|Q| (F observation 1)"
        return between(1, self._size(domain), why)

    def totals(self, source: Source) -> NDArray[Any]:
        self.check(source.domain)
        columns = self.columns(source.domain)
        table = np.moveaxis(source.marginal(columns), columns.index(self.column), -1)
        values = source.domain[self.column].regular
        counts = table.reshape(-1, table.shape[-1])[:, :values]
        firsts = np.cumsum(counts, axis=1)
        parts = [firsts[:, -1:] * WHOLE, (counts @ self._places(source.domain))[:, None], firsts[:, :-1] * WHOLE]
        return np.concatenate(parts, axis=1).ravel()

    def member(self, domain: Domain, index: int) -> Query:
        self.check(domain)
        values = domain[self.column].regular
        group, kind = divmod(checks.placed(index, self._size(domain)), values + 1)
        columns = self.columns(domain)
        others = [name for name in columns if name != self.column]
        codes = [int(code) for code in np.unravel_index(group, domain.shape(others))] if others else []
        line = np.zeros(domain[self.column].size, dtype=np.int64)
        line[:values] = self._places(domain) if kind == 1 else WHOLE
        if kind > 1:
            line[kind - 1 :] = 0
        weights = np.zeros((*domain.shape(others), domain[self.column].size), dtype=np.int64)
        weights[tuple(codes)] = line
        within = " and ".join(f"{name} = {domain[name].label(code)}" for name, code in zip(others, codes, strict=True))
        return Query(
            columns=columns,
            weights=np.moveaxis(weights, -1, columns.index(self.column)),
            denominator=WHOLE,
            words=self._words(domain, kind) + (f" among those with {within}" if within else ""),
        )

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member(domain, int(place)) for place in generator.integers(0, self._size(domain), count))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        count = math.prod(domain.shape(self.groups))
        by = f" by {' x '.join(map(printable, self.groups))} ({plural(count, 'group')})" if self.groups else ""
        return f"number, sum, mean and quantiles of {printable(self.column)}{by}"

    def _words(self, domain: Domain, kind: int) -> str:
        attribute = domain[self.column]
        if kind == 0:
            return f"share of rows with a value of {self.column}"
        if kind == 1:
            return f"sum of {self.column}, as a share of the largest possible one"
        return f"share of rows with {pieces.span(attribute, 0, kind - 2)}"

    def _places(self, domain: Domain) -> NDArray[np.int64]:
        """Where the middle of each cell lies between the first one's and the last one's, in parts of `WHOLE`."""
        attribute = domain[self.column]
        middles = attribute.centers()[: attribute.regular]
        span = middles[-1] - middles[0]
        return np.rint((middles - middles[0]) / (span or 1.0) * WHOLE).astype(np.int64)

    def _check_size(self, domain: Domain) -> None:
        """Before a price is told: all of these numbers are listed when a release is finished, and that is too late."""
        if (size := self._size(domain)) > checks.MOST_LISTED:
            groups = math.prod(domain.shape(self.groups))
            each = f"{amount(size // groups)} for each of {plural(groups, 'group')}"
            raise Refused(
                f"Statistics of '{printable(self.column)}' lay out {amount(size)} numbers, {each}, and at most "
                f"{amount(checks.MOST_LISTED)} fit; choose fewer columns to group by, or coarser bins."
            )

    def _size(self, domain: Domain) -> int:
        return math.prod(domain.shape(self.groups)) * (domain[self.column].regular + 1)
