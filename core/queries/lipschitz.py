"""Low-sensitivity statistics of a table that are not sums over its rows (G theorem 5.10)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter, Refused
from core.base.options import check_options, option
from core.base.wording import plural
from core.kernel.query import Query, Statistic
from core.queries.kit import checks
from core.queries.kit.dimensions import scale
from core.queries.kit.protocol import AnswersClasses, Dimension, Source, answers_of, rows_of, worst_of
from core.schema.domain import Domain

StatisticParts = tuple[Any, ...]
"""('largest',), ('top', k), ('distance', shares) or ('difference', codes, codes)."""

FINEST = 2**10
"""Public reference shares are whole multiples of 1/FINEST."""


@dataclass(frozen=True, kw_only=True)
class Lipschitz:
    """Statistics of one table of counts that a row moves by at most 1, for mechanisms over databases only.

    * `('largest',)`: the largest count.
    * `('top', k)`: the k largest counts together.
    * `('distance', shares)`: half the L1 distance to a public table with these shares of the rows, one per cell, in
      multiples of 1/1024 that sum to 1,024.
    * `('difference', first, second)`: half the absolute difference of the counts of two groups of cells, numbered with
      the last column running fastest, that have no cell in common.

    **Privacy** adding, removing or replacing one row changes each by at most 1, that is `total` by at most
    `denominator`. A row added to cell j moves the largest and the k largest counts by 0 or 1; the distance by at most
    half of (1 - r_j) + sum of r_i over i != j, which is 1 - r_j; the difference by at most 1/2. A replacement moves two
    cells by 1 in opposite directions: at most 1 for the maxima, half of 2 for the distance and for the difference.
    """

    name: ClassVar[str] = "lipschitz"
    title: ClassVar[str] = "Lipschitz: statistics that one row hardly moves"

    columns: tuple[str, ...] = option("columns", "Columns", low=1, help="The columns of the table.")
    statistics: tuple[StatisticParts, ...] = option(
        "statistics", "Statistics", default=(("largest",),), help="What is said about the counts of that table."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        listed = checks.rows_of_tuples(self.statistics, "statistics", "lists that start with a name")
        object.__setattr__(self, "statistics", tuple(_statistic(parts) for parts in listed))
        check_options(self)
        if not self.statistics:
            raise BadParameter("statistics", "needs at least one.")

    def check(self, domain: Domain) -> None:
        checks.known(domain, self.columns)
        checks.holdable(domain, self.columns, self.name)
        cells = domain.cells(self.columns)
        for kind, *options in self.statistics:
            if kind == "top" and options[0] > cells:
                raise BadParameter("statistics", f"'top' is given more cells than there are; use at most {cells:,}.")
            if kind == "distance" and len(options[0]) != cells:
                raise BadParameter("statistics", f"'distance' needs {cells:,} shares, one for each cell.")
            if kind == "difference" and max((*options[0], *options[1]), default=0) >= cells:
                raise BadParameter("statistics", f"'difference' may name the cells 0 to {cells - 1:,} only.")

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self._not_linear()

    def denominator(self, domain: Domain) -> int:
        return max({"distance": FINEST, "difference": 2}.get(kind, 1) for kind, *_ in self.statistics)

    def log_size(self, domain: Domain) -> float:
        return math.log(len(self.statistics))

    def vc(self, domain: Domain) -> Dimension:
        return self.fat(domain, 0.5)

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        high = math.floor(math.log2(len(self.statistics))) if scale(gamma) <= 0.5 else 0
        return Dimension(low=0, high=high, why="as functions of whole tables: at most log2|Q| (F observation 1)")

    def values(self, tables: NDArray[Any], domain: Domain) -> NDArray[Any]:
        """Totals of every statistic (last axis) for one table or many, whose last axis runs over the cells."""
        whole = self.denominator(domain)
        return np.stack([_value(statistic, tables, whole) for statistic in self.statistics], axis=-1)

    def totals(self, source: Source) -> NDArray[Any]:
        self.check(source.domain)
        return self.values(source.marginal(self.columns).ravel(), source.domain)

    def member(self, domain: Domain, index: int) -> Query:
        self._not_linear()

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        self._not_linear()

    def statistic(self, domain: Domain, index: int) -> Statistic:
        """One statistic, as the kernel is asked for it."""
        self.check(domain)
        return Statistic(self, checks.placed(index, len(self.statistics)), self.denominator(domain))

    def words(self, domain: Domain, index: int) -> str:
        """One statistic in plain words."""
        kind, *options = self.statistics[checks.placed(index, len(self.statistics))]
        table = f"the table of {' x '.join(self.columns)}" if self.columns else "the table"
        return {
            "largest": lambda: f"share of rows in the fullest cell of {table}",
            "top": lambda: f"share of rows in the {options[0]} fullest cells of {table}",
            "distance": lambda: f"share of rows of {table} that would have to move to reach the public reference",
            "difference": lambda: (
                f"half the difference of the shares of two groups of "
                f"{len(options[0])} and {len(options[1])} cells of {table}"
            ),
        }[kind]()

    def answers(self, source: Source) -> Floats:
        own = source.totals_for(self) if isinstance(source, AnswersClasses) else None
        if own is None:
            return answers_of(self, source)
        return np.asarray(own, dtype=np.float64) / (self.denominator(source.domain) * max(1.0, float(rows_of(source))))

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        return f"{plural(len(self.statistics), 'statistic')} of the table of {' x '.join(self.columns) or 'all rows'}"

    def _not_linear(self) -> NoReturn:
        raise Refused(
            "The class 'lipschitz' is not linear, so only the mechanisms 'iterative-median' and 'game-databases' and "
            "sessions of 'online-median' serve it."
        )


def _statistic(parts: tuple[Any, ...]) -> StatisticParts:
    kind, *options = parts or ("",)
    if kind == "largest" and not options:
        return ("largest",)
    if kind == "top" and len(options) == 1:
        return ("top", limits.whole(options[0], "statistics", 1))
    if kind == "distance" and len(options) == 1:
        (shares,) = checks.rows_of_tuples(options, "statistics", "shares")
        if sum(limits.whole(share, "statistics", 0, FINEST) for share in shares) != FINEST:
            raise BadParameter("statistics", f"the shares of 'distance' must sum to {FINEST:,}.")
        return ("distance", shares)
    if kind == "difference" and len(options) == 2:
        first, second = checks.rows_of_tuples(options, "statistics", "cells")
        cells = [limits.whole(cell, "statistics", 0) for cell in (*first, *second)]
        if len(set(cells)) != len(cells):
            raise BadParameter("statistics", "the two groups of 'difference' must not share a cell or repeat one.")
        return ("difference", first, second)
    raise BadParameter("statistics", "must be ('largest',), ('top', k), ('distance', shares) or ('difference', a, b).")


def _value(statistic: StatisticParts, tables: NDArray[Any], whole: int) -> NDArray[Any]:
    kind, *options = statistic
    if kind == "largest":
        return tables.max(axis=-1) * whole
    if kind == "top":
        place = tables.shape[-1] - options[0]
        return np.partition(tables, place, axis=-1)[..., place:].sum(axis=-1) * whole
    if kind == "distance":
        rows = tables.sum(axis=-1, keepdims=True)
        moved = np.abs(FINEST * tables - rows * np.array(options[0], dtype=np.int64)).sum(axis=-1)
        # the signed differences sum to 0, so their absolute values sum to an even number
        return _half(moved) * (whole // FINEST)
    first, second = (tables[..., list(group)].sum(axis=-1) for group in options)
    return np.abs(first - second) * (whole // 2)


def _half(value: NDArray[Any]) -> NDArray[Any]:
    return value // 2 if value.dtype.kind in "iu" else value / 2
