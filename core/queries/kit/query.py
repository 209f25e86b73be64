"""One linear question: a weight from 0 to 1 for every possible record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter

if TYPE_CHECKING:
    from core.queries.kit.protocol import Columns, Source


MOST_DENOMINATOR = 2**30
"""Eight thousand million rows times this stay below 2^63: a total that wrapped around would change by far more than
`denominator` for one row."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Query:
    """Weights over the cells of a few columns, as integers over a public power of two.

    A predicate has weights 0 and 1 and denominator 1. Integer weights keep the exact answer on integer counts an
    integer, so that noise can be added to it without rounding; one row changes `total` by at most `denominator`.
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
        object.__setattr__(self, "weights", weights.astype(np.int64))

    def total(self, source: Source) -> Any:
        """Sum of weights over the rows, times the denominator: an integer wherever the source counts in integers."""
        return (self.weights * source.marginal(self.columns)).sum()

    def answer(self, source: Source) -> float:
        """The weighted share of the table, from 0 to 1."""
        table = source.marginal(self.columns)
        rows = float(table.sum())
        return float((self.weights * table).sum()) / (self.denominator * rows) if rows > 0 else 0.0
