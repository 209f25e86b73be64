"""The query release game with a learning query player: synthetic data by best responses (G section 5.3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.base.options import option
from core.mechanisms.games.game import MOST_DRAWS, Game
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class GameQuery(Game):
    """A query player learns which questions the answers so far get wrong; the records that suit its draws are averaged.

    Each round the query player draws a few signed questions from its weights, and the data player answers with the
    records that cost least under them, which needs no private data. The average answer is released.

    **Privacy** weights after t rounds are exp(rate x sum of t errors); a draw from them is the exponential mechanism
    with a score of sensitivity t limit, so at rate r and n rows it costs epsilon_t = 2 r t limit/n. All s draws of T
    rounds cost s epsilon_1 T(T - 1)/2 = epsilon with delta = 0, and s epsilon_1^2 (T - 1)T(2T - 1)/48 = rho with
    delta > 0; that fixes epsilon_1, hence the rate n epsilon_1/(2 limit). The first round is uniform and free. The
    number of rows, where private, is measured first with a twentieth of the budget.

    **Accuracy** every answer is within alpha n of the truth with probability 1 - beta, alpha = ln(2|Q|)/(r T) + r/2 +
    sqrt(2 ln(|X| T/beta)/s): regret of the query player plus what s draws hide of its weights; plus the error of the
    number of rows. Far larger rates than this asks for measured best at usual sizes.

    **Runtime** a round costs one pass over the universe for each table that is scored, and one for each table drawn.

    Theorem: G proposition 5.16 and definition 5.7; privacy and accuracy as in Gaboardi, Gallego Arias, Hsu, Roth and Wu
    2014 (DualQuery).
    """

    name: ClassVar[str] = "game-query"
    title: ClassVar[str] = "Game: the query player learns"
    known_as: ClassVar[tuple[str, ...]] = ("DualQuery", "query release game")
    prefer: ClassVar[str] = "Choose it to see a table grow out of best answers; 'iterative-weights' is more accurate."
    for_study: ClassVar[bool] = True
    data_learns: ClassVar[bool] = False
    query_learns: ClassVar[bool] = True

    samples: int = option(
        "whole",
        "Draws",
        default=0,
        low=0,
        high=MOST_DRAWS,
        help="Questions drawn per round; 0 takes 3, or 10 with a delta above 0.",
    )
    rate: float = option(
        "real",
        "Rate",
        default=3.0,
        above=0.0,
        help="How fast the query player learns in a table of 10,000 rows; sets the number of rounds where that is 0.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds == 1:
            raise BadParameter("rounds", "the first round looks at no data; use 2 or more, or 0.")

    def draws(self) -> int:
        # Measured on 24 to 256 cells and 5,000 to 50,000 rows at epsilon 1: fewer leave the best response to chance,
        # more leave too little budget for each.
        return self.samples or (3 if self.budget.pure else 10)

    def _best_turns(self, domain: Domain, rows: float) -> float:
        return self.turns_at(self.rate, rows)
