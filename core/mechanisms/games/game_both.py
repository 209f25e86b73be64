"""The query release game in which both players learn (G section 5.3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.options import option
from core.mechanisms.games.game import MOST_DRAWS, Game
from core.mechanisms.kit.settings import data_rate_option
from core.privacy.unit import Unit
from core.schema.domain import Domain

QUERY_RATE = 3.0
"""Rate of the query player that the default number of rounds aims at: measured best on 24 to 256 cells at epsilon 1."""


@dataclass(frozen=True, kw_only=True)
class GameBoth(Game):
    """Both players learn from all that the other did, in turn; the data player's tables are averaged.

    **Privacy** as `game-query`, but the query player has seen t tables in round t = 1 to T: the s draws of a round cost
    epsilon_t = t epsilon_1 each, all of them s epsilon_1 T(T + 1)/2 = epsilon with delta = 0, and
    s epsilon_1^2 T(T + 1)(2T + 1)/48 = rho with delta > 0. The data player learns from the drawn questions only. The
    number of rows, where private, is measured first with a twentieth of the budget.

    **Accuracy** every answer is within alpha n of the truth with probability 1 - beta, alpha = ln|X|/(d T) + d/8 +
    ln(2|Q|)/(r T) + sqrt(2 ln(1/beta)/(s T)): regret of the data player at rate d; of the query player at rate
    r = n epsilon_1/(2 limit), who moves second and so pays nothing for a high rate; and the chance in s draws, which
    the data player's table does not know beforehand, so it evens out over the rounds and one draw per round is enough;
    plus the error of the number of rows.

    **Runtime** a round costs one pass over the universe for each table that is scored, and one to learn.

    Theorem: G proposition 5.16 and definition 5.7; Freund and Schapire 1999; Hsu, Roth and Ullman 2013.
    """

    name: ClassVar[str] = "game-both"
    title: ClassVar[str] = "Game: both players learn"
    known_as: ClassVar[tuple[str, ...]] = ("query release game",)
    prefer: ClassVar[str] = "Choose it to see two learners reach a balance; 'iterative-weights' is more accurate."
    for_study: ClassVar[bool] = True
    data_learns: ClassVar[bool] = True
    query_learns: ClassVar[bool] = True

    samples: int = option("whole", "Draws", default=1, low=1, high=MOST_DRAWS, help="Questions drawn per round.")
    rate: float = data_rate_option()
    """0 takes sqrt(8 ln|X|/T)."""

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """At the rate that the proof takes: what both learn too late, and the chance in the draws."""
        if self.rate:
            return None
        turns = self.turns(domain, unit)
        unlearned = math.sqrt(math.log(max(2, domain.cells())) / (2 * turns))
        chance = math.sqrt(2 * math.log(1 / 0.025) / (self.samples * turns))
        error = (unlearned + chance) * rows + self.expected(domain, unit).worst
        return error if error < rows else None

    def draws(self) -> int:
        return self.samples

    def data_rate(self, domain: Domain, turns: int) -> float:
        return self.rate or math.sqrt(8 * math.log(max(2, domain.cells())) / turns)

    def _best_turns(self, domain: Domain, rows: float) -> float:
        return self.turns_at(QUERY_RATE, rows)
