"""Fresh noise for every question until the budget ends (B section 2): what every other session is shown against."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.errors import OutOfBudget
from core.base.options import check_options, option
from core.kernel.disjoint import DisjointQueries
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.query import Query
from core.mechanisms.kit.interactive import Reply
from core.mechanisms.kit.intervals import KnownTotal, hard_first, reply
from core.mechanisms.kit.portions import count_level, share_of
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.online.online import check_question, measure_rows
from core.mechanisms.online.plan import ROWS_SHARE, number_tail
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

MOST_QUESTIONS = 1_000_000


def answerable(budget: Budget, unit: Unit, margin: float) -> int:
    """How many questions fresh noise could answer within this many rows, 95 % of the time each, for a whole budget."""
    whole = share_of(budget, Fraction(1))
    ratio = margin / number_tail(whole, unit, 0.05)
    return int(ratio if budget.pure else ratio**2)


@dataclass(frozen=True)
class FreshNoiseState:
    """What a session remembers; all of it is public."""

    rows: float
    left: int


@dataclass(frozen=True, kw_only=True)
class OnlineLaplace:
    """Measure every question, each with an equal part of the budget.

    **Privacy** each of k answers has discrete Laplace noise of scale unit.limit k/epsilon (delta = 0), or discrete
    Gaussian noise of variance unit.limit^2 k/(2 rho) (delta > 0), less the part for the number of rows where that is
    private. The parts add up to the budget.

    **Accuracy** an answer is off by unit.limit k/epsilon rows on average, or by unit.limit sqrt(k/(pi rho)).

    The groups of a table are one answer: a row counts in one of them, so one event pays for all.

    **Runtime** one table of the private rows per answer.

    Theorem: B section 2.4 (Dwork, McSherry, Nissim, Smith 2006); composition in `accounting.py`.
    """

    name: ClassVar[str] = "online-laplace"
    title: ClassVar[str] = "Fresh noise for every question"
    known_as: ClassVar[tuple[str, ...]] = ("Laplace mechanism", "Gaussian mechanism")
    prefer: ClassVar[str] = "Choose it for a handful of questions that are known in advance."
    refines: ClassVar[bool] = False

    budget: Budget
    questions: int = option(
        "whole",
        "Questions",
        default=100,
        low=1,
        high=MOST_QUESTIONS,
        help="How many questions the session answers; the noise of each grows with it.",
    )

    def __post_init__(self) -> None:
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        """Any schema will do."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        rows = self._rows_event(unit)
        return Cost((() if rows is None else (rows,)) + (self._event(unit),) * self.questions)

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return self.questions

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        level = count_level(self._event(unit), unit)
        return Expected(mean=level.mean_error, worst=level.tail(0.05 / self.questions), about="Each answer")

    def slot(self, domain: Domain) -> float:
        return TABLE + 0.003

    def open(self, kernel: Kernel, earlier: Source | None = None) -> FreshNoiseState:
        return FreshNoiseState(measure_rows(kernel, self._rows_event(kernel.unit)), self.questions)

    def answer(self, state: FreshNoiseState, question: Query, kernel: Kernel) -> tuple[FreshNoiseState, Reply]:
        check_question(question, kernel.domain)
        after, [answer] = self._measured(state, question, kernel)
        return after, answer

    def answer_table(
        self, state: FreshNoiseState, asked: DisjointQueries, kernel: Kernel
    ) -> tuple[FreshNoiseState, list[Reply]]:
        """All groups with one event: together they change as much as one table does."""
        check_question(asked.queries[0], kernel.domain)
        return self._measured(state, asked, kernel)

    def _measured(
        self, state: FreshNoiseState, asked: Query | DisjointQueries, kernel: Kernel
    ) -> tuple[FreshNoiseState, list[Reply]]:
        if state.left < 1:
            raise OutOfBudget(f"This session has answered all its {self.questions:,} questions; open another one.")
        measured = kernel.measure(asked, self._event(kernel.unit))
        level, after = measured.level, replace(state, left=state.left - 1)
        total = KnownTotal.measured(state.rows, self._rows_event(kernel.unit), kernel.unit)
        counts = np.ravel(measured.values) / asked.denominator
        kinds = hard_first(counts.size)
        return after, [
            reply(float(count), total, lambda miss: level.tail(miss) / asked.denominator, kind, after.left)
            for count, kind in zip(counts, kinds, strict=True)
        ]

    def peek(self, state: FreshNoiseState) -> Source | None:
        return None

    def left(self, state: FreshNoiseState) -> int | None:
        return state.left

    def released_rows(self, state: FreshNoiseState) -> float:
        return state.rows

    def save(self, state: FreshNoiseState) -> bytes:
        return json.dumps({"rows": state.rows.hex(), "left": state.left}).encode()

    def load(self, domain: Domain, data: bytes) -> FreshNoiseState:
        facts = json.loads(data)
        return FreshNoiseState(float.fromhex(facts["rows"]), facts["left"])

    def _rows_event(self, unit: Unit) -> Additive | None:
        return None if unit.public_rows else share_of(self.budget, ROWS_SHARE)

    def _event(self, unit: Unit) -> Additive:
        left = Fraction(1) if unit.public_rows else 1 - ROWS_SHARE
        return share_of(self.budget, left / self.questions)
