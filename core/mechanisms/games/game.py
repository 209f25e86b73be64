"""What the query release games share: options, checks, cost and the run; `players.py` has the players and the play."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from core.base.errors import BadParameter, Refused
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.mechanisms.games.players import Draws, ListedQuestions, Position, QueryPlayer, play, questions_of
from core.mechanisms.kit.portions import count_level, measure_rows, mixed_share_of
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import MOST_LOG_ANSWERS, TABLE, scoring
from core.mechanisms.kit.schedule import selection_of
from core.mechanisms.kit.settings import rounds_option, settle
from core.models.histogram import MOST_CELLS, Histogram
from core.privacy.budget import Budget
from core.privacy.events import Cost, Selection
from core.privacy.spendable import mixed_rho_for
from core.privacy.unit import Unit
from core.queries.kit import checks
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

TOTAL_SHARE = Fraction(1, 20)
"""Part of the budget for the number of rows, where that is private."""
TYPICAL_ROWS = 10_000
"""Table size for which rounds are chosen by default: the best number grows with the rows, which may be private."""
MOST_ROUNDS = 8_000
MOST_DRAWS = 100_000
MOST_DEFAULT = 200
"""Rounds chosen by default at most; each takes a pass over the universe."""


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Events of one run, in order; nothing in it depends on data."""

    opening: Additive | None
    """Price of the number of rows, where that is private."""
    epsilons: tuple[Fraction, ...]
    """Price of each draw, turn by turn."""
    samples: int
    """Draws per turn."""

    @property
    def cost(self) -> Cost:
        opened = (self.opening,) if self.opening else ()
        return Cost((*opened, *(Selection(each) for each in self.epsilons if each for _ in range(self.samples))))


@dataclass(frozen=True, kw_only=True)
class Game:
    """Options and steps of a query release game; a subclass says who learns."""

    name: ClassVar[str]
    data_learns: ClassVar[bool]
    query_learns: ClassVar[bool]

    queries: tuple[QueryClass, ...]
    budget: Budget
    rounds: int = rounds_option(
        "Turns of the game; 0 lets the budget and the sizes decide, for a table of about 10,000 rows.",
        most=MOST_ROUNDS,
    )

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            query.tables(domain)
        if domain.cells() > MOST_CELLS:
            raise Refused(
                f"The schema has {amount(domain.cells())} combinations and '{self.name}' holds at most "
                f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins, or use 'tree'."
            )
        questions = questions_of(self.queries, domain)
        if isinstance(questions, ListedQuestions) and questions.log_size() > math.log(2 * checks.MOST_LISTED) + 1e-9:
            raise Refused(
                f"These classes hold over {amount(checks.MOST_LISTED)} questions, too many for '{self.name}' to score "
                "one by one; choose fewer columns or a lower order, or use 'tree'."
            )
        if (draws := (turns := self.turns(domain, unit)) * self.draws()) > MOST_DRAWS:
            most = MOST_DRAWS // turns
            given = f"{amount(turns)} rounds give {amount(draws)} draws"
            raise BadParameter("samples", f"{given}; use {amount(most)} or fewer.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self.schedule(domain, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """What noise hides from the query player, in rows; what is left unlearned is a share of the rows instead."""
        schedule, certain = self.schedule(domain, unit), math.log(1 / 0.025)
        turns, log_size = self.turns(domain, unit), questions_of(self.queries, domain).log_size()
        scale = 2 * unit.limit / float(schedule.epsilons[-1])
        if self.query_learns:
            # n ln(2|Q|)/(rate T) of the regret, with rate = n epsilon_t/(2 limit t)
            worst = scale * log_size * self.growth(turns)[-1] / turns
        else:
            # A draw falls short by at most scale (ln|Q| + an exponential variable); such variables average to about 1.
            worst = scale * (log_size + 1 + math.sqrt(2 * certain / turns) + certain / turns)
        if schedule.opening:
            worst += count_level(schedule.opening, unit).tail(0.025)
        about = f"Noise in an answer, beside what {amount(turns)} rounds leave unlearned"
        return Expected(mean=min(scale, worst), worst=worst, about=about)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured: every question is scored and may be drawn, a pass over the universe learns; and some overhead."""
        drawn = 1.5e-4 + 5e-8 * math.exp(min(questions_of(self.queries, domain).log_size(), MOST_LOG_ANSWERS))
        turn = 2e-4 + self.draws() * drawn + 1.2e-8 * domain.cells() + scoring(self.queries, domain)
        return TABLE + self.turns(domain, unit) * turn

    def run(self, kernel: Kernel, progress: Progress = silent) -> Histogram:
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        schedule = self.schedule(domain, unit)
        progress("Counting rows", 0.0)
        rows = float(measure_rows(kernel, schedule.opening))
        player = Draws(questions_of(self.queries, domain), kernel, rows, schedule.epsilons, schedule.samples)
        for position in self.played(domain, player, len(schedule.epsilons)):
            progress("Playing", position.turns / len(schedule.epsilons))
        return Histogram(domain, rows * position.strategy)

    def played(self, domain: Domain, player: QueryPlayer, turns: int) -> Iterator[Position]:
        """The game against a query player, after each turn."""
        rate = self.data_rate(domain, turns) if self.data_learns else None
        return play(domain, turns, player, rate=rate, query_learns=self.query_learns)

    def schedule(self, domain: Domain, unit: Unit) -> Turns:
        """The budget laid out: pure epsilons add up; with delta > 0 a draw costs epsilon^2/8 of rho."""
        left = Fraction(1) if unit.public_rows else 1 - TOTAL_SHARE
        turns, samples = self.turns(domain, unit), self.draws()
        growth = self.growth(turns)
        if self.budget.pure:
            step = left * self.budget.epsilon / (samples * sum(growth))
        else:
            step = selection_of(left * mixed_rho_for(self.budget) / (samples * sum(each**2 for each in growth))).epsilon
        return Turns(
            opening=None if unit.public_rows else mixed_share_of(self.budget, TOTAL_SHARE),
            epsilons=tuple(step * each for each in growth),
            samples=samples,
        )

    def turns(self, domain: Domain, unit: Unit) -> int:
        if self.rounds:
            return self.rounds
        return max(4, min(MOST_DEFAULT, round(self._best_turns(domain, TYPICAL_ROWS / unit.limit))))

    def growth(self, turns: int) -> Sequence[int]:
        """How many strategies of the data player each turn's draws look at: one, or all so far."""
        if not self.query_learns:
            return (1,) * turns
        return range(1, turns + 1) if self.data_learns else range(turns)

    def draws(self) -> int:
        """Draws of the query player per turn."""
        return 1

    def data_rate(self, domain: Domain, turns: int) -> float:
        """How fast the data player learns, where it does."""
        raise NotImplementedError

    def _best_turns(self, domain: Domain, rows: float) -> float:
        """How many turns suit a table of so many rows."""
        raise NotImplementedError

    def turns_at(self, rate: float, rows: float) -> float:
        """As many turns as let a query player who learns do so at this rate, for so many rows.

        The rate is rows epsilon_1/2, where epsilon_t = t epsilon_1 and all draws together use the budget: samples
        epsilon_1 T^2/2 = epsilon, or samples epsilon_1^2 T^3/24 = rho.
        """
        if self.budget.pure:
            return math.sqrt(float(self.budget.epsilon) * rows / (self.draws() * rate))
        return float(math.cbrt(6 * float(mixed_rho_for(self.budget)) * rows**2 / (self.draws() * rate**2)))
