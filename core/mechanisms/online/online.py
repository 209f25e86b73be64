"""The online iterative construction (G algorithm 11): a public hypothesis answers, and learns where it is wrong.

Each question is compared, privately, with what the hypothesis says. Where both agree the hypothesis answers, which
costs nothing; where they do not, the question is measured and the hypothesis learns from the number. Only the number of
disagreements is limited, not the number of questions. Subclasses bring the hypothesis and its learning rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import amount
from core.kernel.compared import GRID, Gap
from core.kernel.disjoint import DisjointQueries, LargestGap
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.query import Query, Single
from core.kernel.sparse_vector import Watch
from core.kernel.tables import TOTAL, Marginal
from core.mechanisms.iterative.construct import SLACK, relearned
from core.mechanisms.kit.answers import NoisyAnswer, ask
from core.mechanisms.kit.interactive import Reply, ReplyKind
from core.mechanisms.kit.intervals import KnownTotal, Reach, hard_first, reply
from core.mechanisms.kit.portions import count_level
from core.mechanisms.kit.proposing import target_error
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.settings import questions_option, replay_option, rough_rows_option, target_error_option
from core.mechanisms.online import state as online_state
from core.mechanisms.online.plan import (
    MOST_HARD,
    NUMBERS_SHARE,
    PURE_NUMBERS_SHARE,
    OnlinePlan,
    Shares,
    fixed,
    largest,
    needed,
    opening_for,
    rows_event,
)
from core.mechanisms.online.reading import MOST_TABLE, easy_reach, lesson, one_cell, read_measured
from core.mechanisms.online.state import Hypothesis, OnlineState, finite
from core.models.fitting.updates import Update
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import Source
from core.schema.domain import Domain

MOST_PLANNED = 10**12
"""Questions and rows that a session can be laid out for."""
SMALL_UNIVERSE = 2**14
"""Combinations up to which a noisy histogram answers every question better than any session that learns."""
THEOREM_NUMBERS = Fraction(1, 9)
"""Part of the budget for numbers in the proof of theorem 5.14; see `theory/online.py`."""
WORK, FEWEST_PASSES, MOST_PASSES = 1_000_000, 8, 250
"""Cells that a hard answer passes over while it replays, and the fewest and most measurements that it replays: some
milliseconds up to 10^5 cells and some tens at 10^6, so that no answer keeps anyone waiting."""


def better_for(domain: Domain) -> str | None:
    """The name of a mechanism that answers better on this schema, if there is one."""
    return "online-histogram" if domain.cells() <= SMALL_UNIVERSE else None


@dataclass(frozen=True, kw_only=True)
class Online:
    """Options and steps of an online session; a subclass brings the update."""

    name: ClassVar[str]
    refines: ClassVar[bool] = True

    budget: Budget
    alpha: float = target_error_option(
        "Largest error of an answer that is not measured, as a share of all rows. A larger one leaves more "
        "measured answers."
    )
    questions: int = questions_option(MOST_PLANNED)
    rows: int = rough_rows_option(MOST_PLANNED)
    variant: str = option(
        "choice",
        "Variant",
        default="calibrated",
        choices=("calibrated", "theorem"),
        help="'calibrated' plans as many measured answers as the target error allows; 'theorem' has the paper's "
        "constants, which need very many rows.",
    )
    replay: int = replay_option("measurements")
    opening: float = option(
        "real",
        "Opening share",
        default=0.2,
        low=0.0,
        high=0.9,
        help="Part of the budget for one-column tables when the session opens, in the calibrated variant.",
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def theorem(self) -> bool:
        return self.variant == "theorem"

    def check(self, domain: Domain, unit: Unit) -> None:
        self._check_universe(domain)
        if self.theorem:
            if (steps := self._steps(domain)) > MOST_HARD:
                works = math.ceil(1000 * self.alpha * math.sqrt(steps / MOST_HARD)) / 1000
                raise BadParameter(
                    "alpha",
                    f"allows {amount(math.ceil(steps))} measured answers by the theorem, and a session keeps at most "
                    f"{amount(MOST_HARD)}; use {works:g} or more, or the calibrated variant.",
                )
        elif self._calibrated(domain, unit) is None:
            least = needed(self.budget, unit, self._shares(domain), self.questions) / self.rows
            raise BadParameter(
                "alpha",
                f"cannot be kept with this budget on about {amount(self.rows)} rows; use {_up(least):g} or more, or a "
                "larger epsilon."
                if least < 1
                else f"has no value that this budget can keep on about {amount(self.rows)} rows; use a larger epsilon.",
            )

    def proposed(self, domain: Domain, unit: Unit) -> dict[str, Any]:
        """A target error that can be kept, where the calibrated variant cannot keep its own."""
        if self.theorem or self._calibrated(domain, unit) is not None:
            return {}
        return target_error(lambda alpha: replace(self, alpha=alpha)._calibrated(domain, unit) is not None)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._plan(domain, unit).cost

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return self._plan(domain, unit).sparse.most

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        plan = self._plan(domain, unit)
        measured = count_level(plan.sparse.number, unit)
        easy = self._threshold(plan, float(self.rows)) / GRID + plan.margin()
        return Expected(
            mean=measured.mean_error,
            worst=max(easy, measured.tail(0.05)),
            about=f"An answer, if the table has about {amount(self.rows)} rows (the average is that of measured ones)",
        )

    def slot(self, domain: Domain) -> float:
        """Measured: a table of the private rows, then passes over the hypothesis."""
        passes = 2 + (self._passes(domain) if self.replay and not self.theorem else 0)
        return TABLE + 0.002 + passes * self._pass_seconds(domain)

    def open(self, kernel: Kernel, earlier: Source | None = None) -> OnlineState:
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        plan = self._plan(domain, unit)
        rows = measure_rows(kernel, plan.rows)
        opened = tuple(ask(kernel, portion.asked, portion.event) for portion in plan.opening)
        hypothesis = self._begin(domain, rows, earlier, opened, kernel.generator())
        hypothesis = relearned(self._update(domain), hypothesis, opened, 3, SLACK)
        return OnlineState(
            rows=rows,
            hypothesis=hypothesis,
            sparse=plan.sparse,
            threshold=self._threshold(plan, rows),
            watch=kernel.watch(plan.sparse),
            past=opened,
        )

    def answer(self, state: OnlineState, question: Query, kernel: Kernel) -> tuple[OnlineState, Reply]:
        """Compare, then answer from the hypothesis or measure and learn.

        After an easy answer the state is the very same object: nothing has to be kept.
        """
        check_question(question, kernel.domain)
        return self._answered(state, question, kernel)

    def _answered(self, state: OnlineState, question: Single, kernel: Kernel) -> tuple[OnlineState, Reply]:
        guess = state.total(question) / question.denominator
        if state.left == 0:
            return state, self._reply(state, guess, None, "unchecked", kernel.unit)
        watch, hard = self._compare(state, question, guess, kernel)
        if not hard:
            return state, self._reply(state, guess, lambda miss: easy_reach(state, miss), "easy", kernel.unit)
        answer, count, reach = self._measure(state, question, kernel)
        learnt = self._learn(replace(state, watch=watch), answer, kernel.domain)
        return learnt, self._reply(learnt, count, reach, "hard", kernel.unit)

    def answer_table(
        self, state: OnlineState, asked: DisjointQueries, kernel: Kernel
    ) -> tuple[OnlineState, list[Reply]]:
        """Compare all groups at once by the largest error among them; where that is found, measure all of them.

        Both change no more than one question does. The theorem is about single questions, so its variant asks these.
        """
        check_question(asked.queries[0], kernel.domain)
        if self.theorem:
            return self._one_by_one(state, asked, kernel)
        unit = kernel.unit
        guesses = np.array([state.total(query) for query in asked.queries]) / asked.denominator
        if state.left == 0:
            return state, [self._reply(state, guess, None, "unchecked", unit) for guess in guesses]
        steps = np.rint(np.clip(guesses, -MOST_PLANNED, MOST_PLANNED) * GRID).astype(np.int64)
        watch, above = kernel.test(state.watch, LargestGap(asked, steps), state.threshold)
        if not above:
            return state, [
                self._reply(state, guess, lambda miss: easy_reach(state, miss), "easy", unit) for guess in guesses
            ]
        measured = kernel.measure(asked, state.sparse.number)
        counts, level = measured.values / asked.denominator, measured.level
        learnt = self._learn(
            replace(state, watch=watch),
            lesson(asked, measured, guesses, tables=self._tables and self.replay > 0),
            kernel.domain,
        )
        return learnt, [
            self._reply(learnt, float(count), lambda miss: level.tail(miss) / asked.denominator, kind, unit)
            for count, kind in zip(counts, hard_first(counts.size), strict=True)
        ]

    def _one_by_one(
        self, state: OnlineState, asked: DisjointQueries, kernel: Kernel
    ) -> tuple[OnlineState, list[Reply]]:
        replies = []
        for query in asked.queries:
            state, each = self.answer(state, query, kernel)
            replies.append(each)
        return state, replies

    def peek(self, state: OnlineState) -> Source | None:
        return state.hypothesis

    def left(self, state: OnlineState) -> int | None:
        return state.left

    def released_rows(self, state: OnlineState) -> float:
        return state.rows

    def save(self, state: OnlineState) -> bytes:
        return online_state.save(state)

    def load(self, domain: Domain, data: bytes) -> OnlineState:
        return online_state.load(domain, data)

    def _compare(self, state: OnlineState, question: Single, guess: float, kernel: Kernel) -> tuple[Watch, bool]:
        """Whether the hypothesis is wrong: by one comparison of the absolute error, or by two signed ones (G)."""
        watch, above = state.watch, False
        for sign in (1, -1) if self.theorem else (0,):
            gap = Gap(question, round(guess * GRID), sign)
            watch, above = kernel.test(watch, gap, state.threshold)
            if above:
                break
        return watch, above

    def _measure(self, state: OnlineState, question: Single, kernel: Kernel) -> tuple[NoisyAnswer, float, Reach]:
        """What a hard answer measures, the question's count by it, and how far off that is."""
        asked = self._asked(question)
        measured = kernel.measure(asked, state.sparse.number)
        answer = NoisyAnswer(asked, measured.values, measured.sigma)
        return answer, *read_measured(measured, question)

    def _asked(self, question: Single) -> Single | Marginal:
        """The question itself, or the small table that it is one cell of: that costs the same and teaches more.

        Without replays the session is the paper's, which measures the question.
        """
        if not self._tables or self.theorem or not self.replay or not isinstance(question, Query):
            return question
        table = question.columns and one_cell(question) and question.weights.size <= MOST_TABLE
        return Marginal(question.columns) if table else question

    def _learn(self, state: OnlineState, answer: NoisyAnswer, domain: Domain) -> OnlineState:
        """The state after a measurement and the replays that the time allows, the newest measurement last.

        A hypothesis that left the range of numbers by it is forgotten, and the state keeps the one before.
        """
        learnt = self._replayed(state, answer, domain)
        return learnt if finite(learnt.hypothesis) else replace(state, past=learnt.past)

    def _replayed(self, state: OnlineState, answer: NoisyAnswer, domain: Domain) -> OnlineState:
        update, past = self._update(domain), (*state.past, answer)
        slack = 0.0 if self.theorem else SLACK
        hypothesis = relearned(update, state.hypothesis, [answer], 1, slack)
        count = 0 if self.theorem else min(self.replay * len(past), self._passes(domain))
        if not count:
            return replace(state, hypothesis=hypothesis, past=past)
        places = [(state.turn + step) % len(past) for step in range(count)]
        hypothesis = relearned(update, hypothesis, [past[place] for place in places], 1, slack)
        hypothesis = relearned(update, hypothesis, [answer], 1, slack)
        return replace(state, hypothesis=hypothesis, past=past, turn=(places[-1] + 1) % len(past))

    def _passes(self, domain: Domain) -> int:
        """Measurements that one hard answer replays at most."""
        return max(FEWEST_PASSES, min(MOST_PASSES, WORK // self._numbers(domain)))

    def _reply(self, state: OnlineState, count: float, reach: Reach | None, kind: ReplyKind, unit: Unit) -> Reply:
        total = KnownTotal.measured(state.rows, self._rows_event(unit), unit)
        return reply(count, total, reach, kind, state.left)

    def _rows_event(self, unit: Unit) -> Additive | None:
        """What the number of rows was measured with, at least; None where it is public."""
        return rows_event(self.budget, unit)

    def _plan(self, domain: Domain, unit: Unit) -> OnlinePlan:
        if self.theorem:
            return fixed(self.budget, unit, self._shares(domain), max(1, math.ceil(self._steps(domain))))
        plan = self._calibrated(domain, unit)
        return plan or fixed(self.budget, unit, self._shares(domain), 1)

    def _calibrated(self, domain: Domain, unit: Unit) -> OnlinePlan | None:
        allowed = self.alpha * self.rows
        return largest(self.budget, unit, self._shares(domain), allowed=allowed, questions=self.questions)

    def _shares(self, domain: Domain) -> Shares:
        if self.theorem:
            return Shares(numbers=THEOREM_NUMBERS)
        opening = opening_for(domain, self.opening, self.budget) if self._tables else ()
        return Shares(opening=opening, numbers=PURE_NUMBERS_SHARE if self.budget.pure else NUMBERS_SHARE)

    def _threshold(self, plan: OnlinePlan, rows: float) -> int:
        """In steps of the grid: two thirds of alpha by the theorem; otherwise so that easy answers stay within alpha,
        but never so low that false alarms would use up the session."""
        if self.theorem:
            return math.ceil(2 * self.alpha / 3 * rows * GRID)
        return math.ceil(max(self.alpha * rows - plan.margin(), plan.threshold(self.questions)) * GRID)

    _tables: ClassVar[bool] = True
    """Whether the update learns from whole tables."""

    def _begin(
        self,
        domain: Domain,
        rows: float,
        earlier: Source | None,
        opened: Sequence[NoisyAnswer],
        generator: np.random.Generator,
    ) -> Hypothesis:
        """The hypothesis before the first measurement is learnt; `generator` is public randomness."""
        raise NotImplementedError

    def _update(self, domain: Domain) -> Update[Any]:
        """How the hypothesis learns."""
        raise NotImplementedError

    def _steps(self, domain: Domain) -> float:
        """T(alpha/3), the most hard answers of the theorem variant."""
        raise NotImplementedError

    def _numbers(self, domain: Domain) -> int:
        """Numbers that the hypothesis holds."""
        raise NotImplementedError

    def _pass_seconds(self, domain: Domain) -> float:
        """Seconds to apply one measurement, at most."""
        return 1e-4 + 4e-9 * self._numbers(domain)

    def _check_universe(self, domain: Domain) -> None:
        """Refuse a schema that the hypothesis cannot hold."""


def measure_rows(kernel: Kernel, event: Additive | None) -> float:
    """The number of rows, at least one: public where nothing is paid for it."""
    rows = kernel.public_rows if event is None else int(kernel.measure(TOTAL, event).values)
    return max(1.0, float(rows or 0))


def check_question(question: Query, domain: Domain) -> None:
    """Refuse a question that does not belong to the schema."""
    for column in question.columns:
        if column not in domain:
            raise BadParameter("question", f"'{printable(column)}' is not in the schema.")
    if question.weights.shape != domain.shape(question.columns) or len(set(question.columns)) < len(question.columns):
        raise BadParameter("question", "needs one weight for every combination of its columns, each named once.")


def _up(share: float) -> float:
    return math.ceil(1000 * share) / 1000
