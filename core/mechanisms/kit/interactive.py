"""What an interactive mechanism is: it answers one question at a time, each chosen after seeing earlier answers.

Its whole cost is fixed when a session opens and is paid then, whatever will be asked; afterwards it keeps count itself
and says honestly when it can promise no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from core.kernel.disjoint import DisjointQueries
from core.kernel.kernel import Kernel
from core.kernel.query import Query, Statistic
from core.mechanisms.kit.protocol import Expected
from core.models.polytope.mixing import Mixing
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

ReplyKind = Literal["easy", "hard", "unchecked"]
"""Easy: answered from what is public already. Hard: measured, one of a limited number. Unchecked: the session has no
measurement left, the answer is what is public by now and nobody compared it with the table."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One released answer. Everything in it is public."""

    count: float
    """Estimated rows (for a weighted question: sum of the weights)."""
    share: float
    """The same as a share of all rows, from 0 to 1."""
    margin: float | None
    """In rows: the truth is within count ± margin, 95 % of the time; None where nothing can be promised."""
    interval: tuple[float, float] | None = None
    """The true share lies between these, 95 % of the time; None where nothing can be promised."""
    kind: ReplyKind
    left: int | None
    """Hard answers that the session can still give; None where there is no limit."""


class Interactive(Protocol):
    """A way to answer questions within a budget that is paid at the start.

    A state is everything of the mechanism that the next answer depends on, a public hypothesis and counters; secret
    noise that is drawn once stays in the kernel. `save` and `load` keep it bit by bit, so that a killed server goes on
    where it stopped. States are never changed in place.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    known_as: ClassVar[tuple[str, ...]]
    """What the field calls it, or what it is a case of."""
    prefer: ClassVar[str]
    """One sentence: when to choose this one."""
    refines: ClassVar[bool]
    """Whether it starts from an earlier release where one is given; otherwise it has no use for one."""

    @property
    def budget(self) -> Budget: ...

    def check(self, domain: Domain, unit: Unit) -> None:
        """Refuse, naming the parameter and what would work, before anything is spent."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        """What a whole session on any table of this schema costs."""

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Accuracy of an answer, from public facts only."""

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        """How many hard answers a session is planned with; None where there is no limit."""

    def slot(self, domain: Domain) -> float:
        """Seconds that any answer of a session takes at most, from public facts only; sessions pad to it."""

    def open(self, kernel: Kernel, earlier: Source | None = None) -> Any:
        """The first state; `earlier` is a released source over the same schema to start from, at no cost."""

    def answer(self, state: Any, question: Query, kernel: Kernel) -> tuple[Any, Reply]:
        """The next state and the answer; the kernel is all it gets to see of the private table."""

    def peek(self, state: Any) -> Source | None:
        """The public hypothesis by now, if there is one."""

    def left(self, state: Any) -> int | None:
        """Hard answers that a session in this state can still give; None where there is no limit."""

    def released_rows(self, state: Any) -> float:
        """Rows of the table as far as they are public: known, or measured with noise when the session opened."""

    def save(self, state: Any) -> bytes:
        """The state as bytes."""

    def load(self, domain: Domain, data: bytes) -> Any:
        """The state that was saved."""


@runtime_checkable
class AnswersTables(Protocol):
    """A mechanism that compares and measures the groups of a table at once, for the price of one answer."""

    def answer_table(self, state: Any, asked: DisjointQueries, kernel: Kernel) -> tuple[Any, list[Reply]]:
        """The next state and an answer for each group. Where the table is measured the first of them is the hard one,
        and the others follow from what is public by then."""


@runtime_checkable
class Walks(Protocol):
    """A mechanism whose hypothesis is drawn by a random walk."""

    def mixing(self, state: Any) -> Mixing:
        """How well the last walk mixed; public."""


@runtime_checkable
class AnswersStatistics(Protocol):
    """A mechanism that also answers questions that are not sums over the rows."""

    def answer_statistic(self, state: Any, asked: Statistic, kernel: Kernel) -> tuple[Any, Reply]:
        """The next state and the answer, as for any other question."""
