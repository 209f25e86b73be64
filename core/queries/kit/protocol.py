"""What a query class is, and what it can be asked of.

A *source* is anything that can be counted over the public schema: the private table (integers, behind the desk), a
model, or released records. A query class is evaluated through tables of counts, so the same lines of code give the true
answer, a model's answer and the answer of synthetic records; exact integers stay exact integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns, Floats, IntArray
from core.kernel.query import Query
from core.schema.domain import Domain
from core.table.counts import Source


@dataclass(frozen=True)
class Dimension:
    """A combinatorial dimension, or certified bounds on it where the exact value is not known."""

    low: float
    high: float
    why: str
    """The argument or theorem behind it."""

    @property
    def exact(self) -> bool:
        return self.low == self.high


class QueryClass(Protocol):
    """A set of linear questions that is released together; every answer is a share of the table, from 0 to 1."""

    name: ClassVar[str]
    title: ClassVar[str]

    def check(self, domain: Domain) -> None:
        """Refuse, naming the column or parameter and the nearest value that works, if the schema does not fit."""

    def tables(self, domain: Domain) -> tuple[Columns, ...]:
        """The column sets whose tables of counts determine every answer of the class."""

    def denominator(self, domain: Domain) -> int:
        """Power of two that all weights of the class are fractions of; 1 for predicates."""

    def log_size(self, domain: Domain) -> float:
        """Natural logarithm of the number of questions; infinite for a continuous class."""

    def vc(self, domain: Domain) -> Dimension:
        """Vapnik-Chervonenkis dimension."""

    def fat(self, domain: Domain, gamma: float) -> Dimension:
        """Fat-shattering dimension at scale gamma."""

    def totals(self, source: Source) -> NDArray[Any]:
        """`Query.total` of every member in a fixed order; Refused where the class is too large to list.

        Never through a matrix of members times cells: by tensor sums, prefix sums and fast transforms.
        """

    def member(self, domain: Domain, index: int) -> Query:
        """The question at a place of that order."""

    def sample(self, domain: Domain, count: int, generator: np.random.Generator) -> tuple[Query, ...]:
        """Random members, from public randomness."""

    def answers(self, source: Source) -> Floats:
        """All answers in that order, as shares of the table (for a continuous class: of its public net)."""

    def worst(self, truth: Source, estimate: Source) -> float:
        """Largest difference of an answer, as a share, over the whole class."""

    def sentence(self, domain: Domain) -> str:
        """The class in plain words."""


@runtime_checkable
class AnswersClasses(Protocol):
    """A source that may answer a class otherwise than through its tables: by a mean or a median over databases."""

    def totals_for(self, query: QueryClass) -> NDArray[Any] | None:
        """The totals of all members, in the class's order; None where tables answer."""


@runtime_checkable
class Weighted(Protocol):
    """A class whose tables do not matter equally."""

    def weight_of(self, domain: Domain) -> Mapping[Columns, float]:
        """How much each table matters."""


@runtime_checkable
class Worded(Protocol):
    """A class that says a member in words without making the member, which may have none or be large."""

    def words(self, domain: Domain, index: int) -> str:
        """The question at a place of the order of `totals`, in plain words."""


@runtime_checkable
class Spanned(Protocol):
    """A class whose members lie between places of ordered columns: prefix sums answer many of them at once, without a
    weight for every cell of each."""

    def draw(self, domain: Domain, count: int, generator: np.random.Generator) -> IntArray:
        """The places of random members, one line each, from public randomness."""

    def totals_between(self, source: Source, places: IntArray) -> NDArray[Any]:
        """`Query.total` of the member of each line."""

    def member_between(self, domain: Domain, places: IntArray) -> Query:
        """The question of one line."""


@runtime_checkable
class PerRecord(Protocol):
    """A class that answers single records all at once, faster than by the table of each."""

    def record_totals(self, domain: Domain, codes: Codes) -> NDArray[Any]:
        """What `totals` is of a source with one record alone, one line for each of these records."""


@runtime_checkable
class Drawable(Protocol):
    """A source that holds records and can draw some."""

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Random records, as codes of the columns of the schema."""


def words_of(query: QueryClass, domain: Domain, index: int) -> str:
    """A member of a class in plain words."""
    # A class may keep the texts of its members under the same name, which the Protocol cannot tell apart.
    own = isinstance(query, Worded) and callable(query.words)
    return query.words(domain, index) if own else query.member(domain, index).words  # type: ignore[attr-defined]


def share(table: NDArray[Any]) -> Floats:
    """Counts as shares of their total; an empty table gives zeros."""
    counts = np.asarray(table, dtype=np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.zeros_like(counts)


def rows_of(source: Source) -> Any:
    """The number of rows a source counts: exact for a private table, estimated for a model."""
    return source.marginal(()).sum()


def answers_of(query: QueryClass, source: Source) -> Floats:
    """All answers of a class that can be listed."""
    rows = float(rows_of(source))
    totals = np.asarray(query.totals(source), dtype=np.float64)
    return totals / (query.denominator(source.domain) * rows) if rows > 0 else np.zeros_like(totals)


def worst_of(query: QueryClass, truth: Source, estimate: Source) -> float:
    """Largest error of a class that can be listed."""
    return float(np.abs(query.answers(truth) - query.answers(estimate)).max(initial=0.0))
