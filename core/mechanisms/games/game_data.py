"""The query release game with a learning data player (G section 5.3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.mechanisms.games.game import Game
from core.mechanisms.games.players import questions_of
from core.mechanisms.kit.settings import data_rate_option
from core.privacy.spendable import mixed_rho_for
from core.privacy.unit import Unit
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class GameData(Game):
    """A data player learns from each question that a query player finds it most wrong on; all its tables are averaged.

    The sign of the drawn question tells which way to move, so nothing is measured and all of the budget goes into
    finding questions. Unlike `iterative-weights`, which releases its last table, this releases the average of all: that
    is the approximate min-max strategy.

    **Privacy** each of T rounds draws one signed question by the exponential mechanism: epsilon_0 = epsilon/T with
    delta = 0, or sqrt(8 rho/T) with delta > 0. The number of rows, where private, is measured first with a twentieth of
    the budget.

    **Accuracy** with rate sqrt(8 ln|X|/T) every answer is within n sqrt(ln|X|/(2T)) + (2 limit/epsilon_0) (ln(2|Q|) + 1
    + sqrt(2L/T) + L/T) rows of the truth with probability 1 - beta, L = ln(1/beta): regret of the data player plus what
    the draws fall short of the worst question on average; plus the error of the number of rows.

    **Runtime** a round costs one pass over the universe for each table that is scored, and one to learn.

    Theorem: G proposition 5.16 and definition 5.7; multiplicative weights as in Freund and Schapire 1999.
    """

    name: ClassVar[str] = "game-data"
    title: ClassVar[str] = "Game: the data player learns"
    known_as: ClassVar[tuple[str, ...]] = ("query release game", "multiplicative weights")
    prefer: ClassVar[str] = (
        "Choose it to see a release as a game; 'iterative-weights' also measures what it finds and is more accurate."
    )
    for_study: ClassVar[bool] = True
    data_learns: ClassVar[bool] = True
    query_learns: ClassVar[bool] = False

    rate: float = data_rate_option()
    """0 takes sqrt(8 ln|X|/T)."""

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """At the rate that the proof takes: what is left unlearned, and what the draws fall short of."""
        if self.rate:
            return None
        unlearned = math.sqrt(math.log(max(2, domain.cells())) / (2 * self.turns(domain, unit)))
        error = unlearned * rows + self.expected(domain, unit).worst
        return error if error < rows else None

    def data_rate(self, domain: Domain, turns: int) -> float:
        return self.rate or math.sqrt(8 * math.log(max(2, domain.cells())) / turns)

    def _best_turns(self, domain: Domain, rows: float) -> float:
        """Where sqrt(ln|X|/(2T)) and the shortfall (2/(rows epsilon_0)) ln(2|Q|) have the smallest sum."""
        regret = math.sqrt(math.log(domain.cells()) / 2)
        missed = questions_of(self.queries, domain).log_size()
        if self.budget.pure:
            return (float(self.budget.epsilon) * rows * regret / (4 * missed)) ** (2 / 3)
        return rows * math.sqrt(8 * float(mixed_rho_for(self.budget))) * regret / (2 * missed)
