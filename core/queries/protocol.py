"""What a query class is, and what it can be asked of.

A *source* is anything that can be counted over the public schema: the private table (integers, behind the desk), a
model, or released records. A query class is evaluated through tables of counts, so the same lines of code give the true
answer, a model's answer and the answer of synthetic records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain import Domain

Floats = NDArray[np.float64]
Columns = tuple[str, ...]


class Source(Protocol):
    """Anything with counts over the public schema."""

    @property
    def domain(self) -> Domain: ...

    def marginal(self, columns: Sequence[str]) -> NDArray[Any]: ...


class QueryClass(Protocol):
    """A set of questions that is released together; every answer is a share of the table, from 0 to 1."""

    name: ClassVar[str]
    title: ClassVar[str]

    def check(self, domain: Domain) -> None:
        """Refuse, naming the column or parameter, if the class does not fit this schema."""

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        """The column sets whose tables of counts determine every answer of the class."""

    def log_size(self, domain: Domain) -> float:
        """Natural logarithm of the number of questions."""

    def answers(self, source: Source) -> Floats:
        """All answers, in a fixed order, as shares of the table."""

    def sentence(self, domain: Domain) -> str:
        """The class in plain words."""


def share(table: NDArray[Any]) -> Floats:
    """Counts as shares of their total; an empty table gives zeros."""
    counts = np.asarray(table, dtype=np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.zeros_like(counts)
