"""Accuracy of the query release game: a data player and a query player, value 0, at least one of them learning.

The payoff of query f against a distribution D is f(D) - f(x), x being the private table; the class is taken with all
complements, so it has 2|Q| members. A player who multiplies weights by exp(+-h payoff) for T rounds is, on average,
within h + ln(actions)/(h T) of the best fixed action (payoffs in [-1, 1], h <= 1). If the other player answers nearly
optimally, the data player's average is a nearly optimal strategy: a table that is right on every query.

The section names the three ways and leaves the arithmetic to the reader. Here T = 16 ln(actions)/alpha^2 rounded up
and h = sqrt(ln(actions)/T), at most alpha/4, which leave half of alpha for the other player.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.theory.bound import Theorem
from core.theory.release import log_rho


@dataclass(frozen=True, kw_only=True)
class DataPlayerLearns(Theorem):
    """The data player learns by multiplicative weights; the query player answers by the exponential mechanism.

    **Accuracy** T = 16 ln|X|/alpha^2 choices, each within alpha/2 of the best except with probability beta/T:
    alpha = 4 ln(2 |Q| T/beta)/(n e). A choice costs e = epsilon/T for delta = 0, or e = sqrt(8 rho/T) in
    zero-concentrated privacy. No answer is measured: f(x) is the same for all of the data player's actions.

    Theorem: G section 5.3.3, first way; Freund and Schapire 1999 for the regret.
    """

    theorem: ClassVar[str] = "G section 5.3.3: the data player learns"

    log_universe: float
    log_queries: float
    delta: float = 0.0

    def rounds(self, alpha: float) -> int:
        """T, the rounds with which the error alpha is promised."""
        return math.ceil(16 * self.log_universe / alpha**2)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        rounds = self.rounds(alpha)
        if self.delta == 0:
            log_share = math.log(epsilon) - math.log(rounds)
        else:
            log_share = (math.log(8) + log_rho(epsilon, self.delta) - math.log(rounds)) / 2
        width = math.log(2) + self.log_queries + math.log(rounds) - math.log(self.beta)
        return math.log(4 * width) - math.log(rows) - log_share <= math.log(alpha)


@dataclass(frozen=True, kw_only=True)
class QueryPlayerLearns(Theorem):
    """The query player learns; the data player answers s queries drawn from the weights with the best single record.

    **Accuracy** T = 16 ln(2|Q|)/alpha^2 rounds of s = 32 ln(2 |X| T/beta)/alpha^2 draws, which show every record's
    payoff to within alpha/4 (Hoeffding), so that the answer is within alpha/2 of the best. A draw in round t is an
    exponential mechanism with epsilon 2 h (t - 1)/n, so n >= s h T^2/epsilon for delta = 0, and in
    zero-concentrated privacy n >= h sqrt(s T^3/(6 rho)). ln|X| adds draws, not rounds.

    Theorem: G section 5.3.3, second way; Gaboardi, Gallego Arias, Hsu, Roth and Wu 2014 (DualQuery).
    """

    theorem: ClassVar[str] = "G section 5.3.3: the query player learns"

    log_universe: float
    log_queries: float
    delta: float = 0.0

    def rounds(self, alpha: float) -> int:
        """T, the rounds with which the error alpha is promised."""
        return math.ceil(16 * (math.log(2) + self.log_queries) / alpha**2)

    def draws(self, alpha: float) -> int:
        """s, the queries drawn in each round."""
        width = math.log(2) + self.log_universe + math.log(self.rounds(alpha)) - math.log(self.beta)
        return math.ceil(32 * width / alpha**2)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_rounds, log_draws = math.log(self.rounds(alpha)), math.log(self.draws(alpha))
        log_step = (math.log(math.log(2) + self.log_queries) - log_rounds) / 2
        if self.delta == 0:
            needed = log_draws + 2 * log_rounds - math.log(epsilon)
        else:
            needed = (log_draws + 3 * log_rounds - math.log(6) - log_rho(epsilon, self.delta)) / 2
        return log_step + needed <= math.log(rows)
