"""What both median mechanisms share: options, budget and the steps of a session.

The test of a question and why it is private: `loss.py`. A subclass brings the set of possible tables.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter, Refused
from core.base.options import check_options, option
from core.base.wording import amount
from core.kernel.compared import GRID, WIDEST, Loss
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.query import Query
from core.kernel.sparse_vector import NumericSparse, Watch
from core.mechanisms.kit.comparing import margin
from core.mechanisms.kit.interactive import Reply, ReplyKind
from core.mechanisms.kit.intervals import MISS, ROWS_MISS, KnownTotal, Reach, reply
from core.mechanisms.kit.portions import count_level
from core.mechanisms.kit.proposing import target_error
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.settings import questions_option, rough_rows_option, target_error_option
from core.mechanisms.median import state as median_state
from core.mechanisms.median.loss import margin_of
from core.mechanisms.median.state import MedianState, PossibleTables
from core.mechanisms.median.thesis import Thesis
from core.mechanisms.online.online import MOST_PLANNED, check_question, measure_rows
from core.mechanisms.online.plan import (
    NUMBERS_SHARE,
    PURE_NUMBERS_SHARE,
    ROWS_SHARE,
    OnlinePlan,
    Shares,
    fixed,
    number_tail,
    rows_event,
)
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace, Pure
from core.privacy.spendable import pure_for
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain
from core.theory.median import MedianBound

MOST_QUESTIONS = 1_000_000_000
MOST_HARD = 100
"""Answers that a set of possible tables learns from; a walk slows down with each of them."""
ROOM = 0.4
"""Part of the width that false alarms and the 95 % noise of a test may take: the rest tells easy from hard."""
GRIP = 0.15
"""Part of the width that the limits around a hard answer may take on either side, so that tables which fit all answers
agree well enough to make questions easy."""


@dataclass(frozen=True, kw_only=True)
class MedianSession:
    """Options and steps of a median mechanism; a subclass brings the set of possible tables."""

    name: ClassVar[str]
    refines: ClassVar[bool] = True
    other: ClassVar[str] = "online-weights"
    """What to use where this one cannot be."""

    budget: Budget
    alpha: float = target_error_option(
        "Width of the test, as a share of all rows: a question that the possible tables answer better is easy."
    )
    questions: int = questions_option(MOST_QUESTIONS)
    rows: int = rough_rows_option(MOST_PLANNED)
    constants: str = option(
        "choice",
        "Constants",
        default="calibrated",
        choices=("calibrated", "thesis"),
        help="'calibrated' plans as many measured answers as the target error allows; 'thesis' has the constants of "
        "the theorem, which promise something for very many rows only.",
    )

    def __post_init__(self) -> None:
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        if domain.cells() < 2:
            raise Refused(f"The schema has one possible record only; there is nothing for '{self.name}' to answer.")
        self._check_universe(domain)
        if self.constants == "thesis":
            thesis = self._thesis(domain, unit)
            if thesis.spent > thesis.epsilon:
                most = math.floor(thesis.epsilon / (2 * thesis.share.epsilon))
                raise BadParameter("questions", f"the thesis's constants pay for at most {amount(most)} of them.")
            if self._testing(domain, unit).mean_error >= 2**60:
                raise BadParameter("alpha", "asks for noise beyond every 64-bit count; use a larger one.")
        elif self._most(unit) < 1:
            least = _needs(_fixed(self.budget, unit, 1), unit, self.questions) / self.rows
            raise BadParameter(
                "alpha",
                f"cannot be kept with this budget on about {amount(self.rows)} rows; "
                + (f"use {math.ceil(1000 * least) / 1000:g} or more, or a" if least < 0.999 else "use a")
                + " larger epsilon.",
            )

    def proposed(self, domain: Domain, unit: Unit) -> dict[str, Any]:
        """A target error that can be kept, where the calibrated constants cannot keep their own."""
        if self.constants == "thesis" or self._most(unit) >= 1:
            return {}
        return target_error(lambda alpha: replace(self, alpha=alpha)._most(unit) >= 1)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        if self.constants == "calibrated":
            return _fixed(self.budget, unit, self._hard(unit)).cost
        first = self._rows_event(unit)
        return Cost.of([] if first is None else [first]) + Cost.of([Pure(self._thesis(domain, unit).spent)])

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return self._thesis(domain, unit).hard if self.constants == "thesis" else self._hard(unit)

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        hard = self._hard(unit)
        measured = count_level(self._number(domain, unit, hard), unit)
        width = self._width(float(self.rows), unit, hard)
        lost = min(0.99, 0.25 + self._blur(domain, unit, hard, MISS) / width)
        easy = min(float(self.rows), -width * math.log1p(-lost))
        return Expected(
            mean=measured.mean_error,
            worst=max(easy, measured.tail(0.05), measured.mean_error),
            about=f"An answer, if the table has about {amount(self.rows)} rows (the average is that of measured ones)",
        )

    def open(self, kernel: Kernel, earlier: Source | None = None) -> MedianState:
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        rows = measure_rows(kernel, self._rows_event(unit))
        hypothesis = self._begin(domain, rows, earlier, kernel.generator())
        if self.constants == "thesis":
            return MedianState(rows=rows, hypothesis=hypothesis, left=self._thesis(domain, unit).hard, watch=None)
        watch = kernel.watch(self.sparse(unit, self._hard(unit)))
        return MedianState(rows=rows, hypothesis=hypothesis, left=watch.left, watch=watch)

    def answer(self, state: MedianState, question: Query, kernel: Kernel) -> tuple[MedianState, Reply]:
        """Test how well the possible tables know the answer; give their median, or measure and rule tables out."""
        domain, unit = kernel.domain, kernel.unit
        check_question(question, domain)
        values = state.hypothesis.values(question)
        guess = float(np.median(values))
        if state.left == 0 or (self.constants == "thesis" and state.asked >= self.questions):
            return state, self._reply(state, guess, None, "unchecked", unit)
        width = self._width(state.rows, unit, state.hard)
        loss = Loss(question, values, min(WIDEST, max(1, round(width * GRID))))
        watch, hard = self._test(state, loss, width, kernel)
        asked = state
        if hard or self.constants == "thesis":
            asked = replace(state, watch=watch, left=state.left - hard, asked=state.asked + 1)
        if not hard:
            most = KnownTotal.measured(state.rows, self._rows_event(unit), unit).high

            def reach(miss: float) -> float:
                limit = width / 4 + self._blur(domain, unit, state.hard, miss - ROWS_MISS)
                return margin_of(values, guess, width, limit, most)

            return asked, self._reply(asked, guess, reach, "easy", unit)
        measured = kernel.measure(question, self._number(domain, unit, state.hard))
        value, level = float(measured.values) / question.denominator, measured.level
        learnt = asked
        # A body that became too thin learns nothing more; the measurement is given and counted all the same.
        with suppress(ArithmeticError, np.linalg.LinAlgError):
            half = self._half(state, domain, unit)
            learnt = replace(asked, hypothesis=state.hypothesis.learnt(question, value, half, kernel.generator()))
        return learnt, self._reply(learnt, value, lambda miss: level.tail(miss) / question.denominator, "hard", unit)

    def peek(self, state: MedianState) -> Source | None:
        return state.hypothesis

    def left(self, state: MedianState) -> int | None:
        return state.left

    def released_rows(self, state: MedianState) -> float:
        return state.rows

    def save(self, state: MedianState) -> bytes:
        return median_state.save(state)

    def load(self, domain: Domain, data: bytes) -> MedianState:
        return median_state.load(domain, data)

    def _test(self, state: MedianState, loss: Loss, width: float, kernel: Kernel) -> tuple[Watch | None, bool]:
        """Whether a question is hard, and the comparisons by now; the loss itself is never shown."""
        if state.watch is not None:
            return kernel.test(state.watch, loss, math.ceil(width / 4 * GRID))
        thesis = self._thesis(kernel.domain, kernel.unit)
        threshold = math.ceil(width * thesis.threshold(state.rows, kernel) * GRID)
        return None, bool(kernel.measure(loss, thesis.testing).values[0] > threshold)

    def _reply(self, state: MedianState, count: float, reach: Reach | None, kind: ReplyKind, unit: Unit) -> Reply:
        left = state.left
        if self.constants == "thesis":
            left = min(left, self.questions - state.asked)
        return reply(count, KnownTotal.measured(state.rows, self._rows_event(unit), unit), reach, kind, left)

    def _width(self, rows: float, unit: Unit, hard: int) -> float:
        """w in rows: alpha n, but in the calibrated form never so narrow that the noise of the test would fill it."""
        wanted = self.alpha * rows
        if self.constants == "thesis":
            return wanted
        return max(wanted, _needs(_fixed(self.budget, unit, hard), unit, self.questions))

    def _blur(self, domain: Domain, unit: Unit, hard: int, miss: float) -> float:
        """In rows: what the noise of a test exceeds with this probability, which in size it does twice as often."""
        if self.constants == "calibrated":
            return margin(self.sparse(unit, hard).run, miss) / GRID
        return self._testing(domain, unit).tail(2 * miss) / GRID

    def _testing(self, domain: Domain, unit: Unit) -> NoiseLevel:
        """The noise of a test with the thesis's constants, in steps of the grid."""
        return NoiseLevel(self._thesis(domain, unit).testing, Loss.change(unit))

    def _half(self, state: MedianState, domain: Domain, unit: Unit) -> float:
        """In rows: how far from a hard answer a table may be and stay possible."""
        if self.constants == "thesis":
            return self.alpha * state.rows / 50
        return _tail(_fixed(self.budget, unit, state.hard), unit) + self._coarseness(domain) * state.rows

    def _number(self, domain: Domain, unit: Unit, hard: int) -> Additive:
        """Price of one hard number."""
        if self.constants == "thesis":
            return self._thesis(domain, unit).share
        return _fixed(self.budget, unit, hard).sparse.number

    def _rows_event(self, unit: Unit) -> Additive | None:
        if self.constants == "calibrated":
            return rows_event(self.budget, unit)
        return None if unit.public_rows else Laplace(pure_for(self.budget) * ROWS_SHARE)

    def _thesis(self, domain: Domain, unit: Unit) -> Thesis:
        left = Fraction(1) if unit.public_rows else 1 - ROWS_SHARE
        bound = self._bound(log_universe=math.log(domain.cells()), log_queries=math.log(self.questions))
        return Thesis(bound=bound, alpha=self.alpha, questions=self.questions, epsilon=pure_for(self.budget) * left)

    def _most(self, unit: Unit) -> int:
        return _most(self.budget, unit, self.questions, self.alpha * self.rows)

    def _hard(self, unit: Unit) -> int:
        """Hard answers of a new session with calibrated constants; a running one goes on with those it has."""
        return max(1, self._most(unit))

    def sparse(self, unit: Unit, hard: int) -> NumericSparse:
        """The plan's sparse vector, with noise for how far a unit moves a loss."""
        sparse = _fixed(self.budget, unit, hard).sparse
        return replace(sparse, run=replace(sparse.run, sensitivity=Loss.sensitivity(unit)))

    _bound: ClassVar[type[MedianBound]] = MedianBound

    def _check_universe(self, domain: Domain) -> None:
        """Refuse a schema for which the set cannot be held."""
        raise NotImplementedError

    def _begin(
        self, domain: Domain, rows: float, earlier: Source | None, generator: np.random.Generator
    ) -> PossibleTables:
        """The set before the first question; `generator` is public randomness."""
        raise NotImplementedError

    def _coarseness(self, domain: Domain) -> float:
        """How far the best member may be from the truth on one question, as a share of all rows."""
        raise NotImplementedError


def _tail(plan: OnlinePlan, unit: Unit) -> float:
    """In rows: all hard answers of a plan are within this, 95 % of the time."""
    return number_tail(plan.sparse.number, unit, 0.05 / plan.sparse.most)


def _fixed(budget: Budget, unit: Unit, hard: int) -> OnlinePlan:
    numbers = PURE_NUMBERS_SHARE if budget.pure else NUMBERS_SHARE
    return fixed(budget, unit, Shares(numbers=numbers), hard)


def _needs(plan: OnlinePlan, unit: Unit, questions: int) -> float:
    """In rows: the width that the noise of a plan needs."""
    return max((plan.threshold(questions) + plan.margin()) / ROOM, _tail(plan, unit) / GRIP)


@lru_cache(maxsize=256)
def _most(budget: Budget, unit: Unit, questions: int, width: float) -> int:
    """The most hard answers for which a width in rows is enough; 0 if not even one."""

    def fits(hard: int) -> bool:
        return _needs(_fixed(budget, unit, hard), unit, questions) <= width

    return largest_that_fits(fits, most=MOST_HARD)
