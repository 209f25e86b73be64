"""Linear queries: any weights from 0 to 1 over the combinations of a few columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter
from core.base.options import check_options, option, unlisted
from core.base.wording import amount, plural
from core.kernel.query import Query
from core.queries.kit import checks
from core.queries.kit.dimensions import between, exactly, scale
from core.queries.kit.protocol import Dimension, Source, answers_of, worst_of
from core.schema.domain import Domain

MOST_BITS = 30
GRID = 2**10
"""Weights from 0 to 1 that people type are rounded to multiples of 1/GRID."""


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Questions q: X -> [0, 1] (F, G, N) given by integer weights over a public power of two.

    >>> Linear(columns=("old",), weights=((0, 512),)).weights
    ((0, 512),)
    """

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear: weighted sums of counts"

    columns: tuple[str, ...] = option(
        "columns", "Columns", low=0, start=1, help="The columns whose combinations are weighted."
    )
    weights: tuple[tuple[int, ...], ...] = option(
        "weights", "Weights", help="How much a row with this combination counts, from 0 to 1."
    )
    """One line per question: a weight for every combination, the last column running fastest."""
    whole: int = unlisted("a form takes weights from 0 to 1 and rounds them to this grid", default=GRID)
    """The power of two that stands for a weight of 1."""
    words: tuple[str, ...] = unlisted("a text is made from the question's number", default=())
    """What each question asks; empty for a text made from its number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        object.__setattr__(self, "weights", checks.rows_of_tuples(self.weights, "weights", "lists of whole numbers"))
        object.__setattr__(self, "words", tuple(self.words))
        check_options(self)
        limits.whole(self.whole, "whole", 1, 2**MOST_BITS)
        if self.whole & (self.whole - 1):
            near = 2 ** round(math.log2(self.whole))
            raise BadParameter("whole", f"must be a power of two, such as {near:,}.")
        if not self.weights or len({len(line) for line in self.weights}) != 1:
            raise BadParameter("weights", "needs at least one question, and equally many weights in each.")
        if len(self.words) not in (0, len(self.weights)) or not all(isinstance(text, str) for text in self.words):
            raise BadParameter("words", "needs one text for each question.")
        for line in self.weights:
            for weight in line:
                limits.whole(weight, "weights", 0, self.whole)

    @classmethod
    def rounded(
        cls, domain: Domain, columns: Sequence[str], weights: Any, bits: int = 10, words: Sequence[str] = ()
    ) -> Linear:
        """From weights between 0 and 1, one table per question, rounded to whole multiples of 2^-bits."""
        limits.whole(bits, "bits", 0, MOST_BITS)
        columns = limits.names(columns)
        checks.known(domain, columns)
        tables = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(tables).all() and tables.min(initial=0) >= 0 and tables.max(initial=0) <= 1):
            raise BadParameter("weights", "must all lie between 0 and 1.")
        if tables.size == 0 or tables.size % domain.cells(columns):
            raise BadParameter("weights", f"needs {domain.cells(columns):,} weights for each question.")
        lines = np.rint(tables.reshape(-1, domain.cells(columns)) * 2**bits).astype(np.int64)
        return cls(columns=columns, weights=tuple(map(tuple, lines.tolist())), whole=2**bits, words=tuple(words))

    def check(self, domain: Domain) -> None:
        checks.known(domain, self.columns)
        cells = domain.cells(self.columns)
        if len(self.weights[0]) != cells:
            raise BadParameter("weights", f"these columns have {amount(cells)} combinations; give as many weights.")

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        self.check(domain)
        return (self.columns,)

    def denominator(self, domain: Domain) -> int:
        return self.whole

    def log_size(self, domain: Domain) -> float:
        return math.log(len(self.weights))

    def vc(self, domain: Domain) -> Dimension:
        """The fat-shattering dimension at the finest scale at which two weights can differ."""
        return self.fat(domain, 1 / (2 * self.whole))

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        matrix = self._matrix()
        if np.ptp(matrix, axis=0).max(initial=0) < 2 * scale(gamma) * self.whole:
            return exactly(0, "no combination has weights 2 gamma apart")
        different = len(np.unique(matrix, axis=0))
        return between(1, different, "one combination has weights 2 gamma apart; at most log2|Q| (F observation 1)")

    def totals(self, source: Source) -> NDArray[Any]:
        self.check(source.domain)
        return self._matrix() @ source.marginal(self.columns).ravel()

    def member(self, domain: Domain, index: int) -> Query:
        self.check(domain)
        place = checks.placed(index, len(self.weights))
        return Query(
            columns=self.columns,
            weights=np.array(self.weights[place], dtype=np.int64).reshape(domain.shape(self.columns)),
            denominator=self.whole,
            words=self.words[place] if self.words else f"weighted share {place + 1} over {' x '.join(self.columns)}",
        )

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        return tuple(self.member(domain, int(place)) for place in generator.integers(0, len(self.weights), count))

    def answers(self, source: Source) -> Floats:
        return answers_of(self, source)

    def worst(self, truth: Source, estimate: Source) -> float:
        return worst_of(self, truth, estimate)

    def sentence(self, domain: Domain) -> str:
        return f"{plural(len(self.weights), 'weighted share')} over {' x '.join(self.columns) or 'all rows'}"

    def _matrix(self) -> NDArray[np.int64]:
        return np.array(self.weights, dtype=np.int64)
