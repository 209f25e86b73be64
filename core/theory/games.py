"""Accuracy of the query release game: a data player and a query player, value 0, at least one of them learning.

The payoff of query f against a distribution D is f(D) - f(x), x being the private table; the class is taken with all
complements, so it has 2|Q| members. A player who multiplies weights by exp(+-h payoff) for T rounds is, on average,
within w^2 h/8 + ln(actions)/(h T) of the best fixed action, w being the range of the payoffs in a round: at best
w sqrt(ln(actions)/(2 T)). If the other player answers nearly optimally, the data player's average is a nearly optimal
strategy: a table that is right on every query.

The section names the three ways and leaves the arithmetic to the reader. Here T is such that learning may cost half of
alpha, rounded up, and the other player the other half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.theory.bound import Theorem
from core.theory.release import log_rho


@dataclass(frozen=True, kw_only=True)
class DataPlayerBound(Theorem):
    """The data player learns by multiplicative weights; the query player answers by the exponential mechanism.

    **Accuracy** T = 2 ln|X|/alpha^2 choices (w = 1), each within alpha/2 of the best except with probability beta/T:
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
        return math.ceil(2 * self.log_universe / alpha**2)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        rounds = self.rounds(alpha)
        if self.delta == 0:
            log_share = math.log(epsilon) - math.log(rounds)
        else:
            log_share = (math.log(8) + log_rho(epsilon, self.delta) - math.log(rounds)) / 2
        width = math.log(2) + self.log_queries + math.log(rounds) - math.log(self.beta)
        return math.log(4 * width) - math.log(rows) - log_share <= math.log(alpha)


@dataclass(frozen=True, kw_only=True)
class QueryPlayerBound(Theorem):
    """The query player learns; the data player answers s queries drawn from the weights with the best single record.

    **Accuracy** T = 8 ln(2|Q|)/alpha^2 rounds (w = 2, h = sqrt(2 ln(2|Q|)/T)) of s = 8 ln(|X| T/beta)/alpha^2 draws,
    which show every record's payoff to within alpha/2 (Hoeffding); the best record's is at most 0 on any draws, as x's
    is 0. A draw in round t is an exponential mechanism with epsilon 2 h (t - 1)/n, so n >= s h T(T - 1)/epsilon for
    delta = 0, and n >= h sqrt(s T(T - 1)(2 T - 1)/(12 rho)) in zero-concentrated privacy. ln|X| adds draws, not rounds.

    Theorem: G section 5.3.3, second way; Gaboardi, Gallego Arias, Hsu, Roth and Wu 2014 (DualQuery).
    """

    theorem: ClassVar[str] = "G section 5.3.3: the query player learns"

    log_universe: float
    log_queries: float
    delta: float = 0.0

    def rounds(self, alpha: float) -> int:
        """T, the rounds with which the error alpha is promised."""
        return math.ceil(8 * (math.log(2) + self.log_queries) / alpha**2)

    def draws(self, alpha: float) -> int:
        """s, the queries drawn in each round."""
        width = self.log_universe + math.log(self.rounds(alpha)) - math.log(self.beta)
        return math.ceil(8 * width / alpha**2)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        rounds, log_draws = self.rounds(alpha), math.log(self.draws(alpha))
        log_step = math.log(2 * (math.log(2) + self.log_queries) / rounds) / 2
        if self.delta == 0:
            needed = log_draws + math.log(rounds * (rounds - 1)) - math.log(epsilon)
        else:
            squares = math.log(rounds * (rounds - 1) * (2 * rounds - 1)) - math.log(12)
            needed = (log_draws + squares - log_rho(epsilon, self.delta)) / 2
        return log_step + needed <= math.log(rows)


@dataclass(frozen=True, kw_only=True)
class BothPlayersBound(Theorem):
    """Both players learn; one query is drawn in each round from the query player's weights.

    **Accuracy** with T rounds every answer is within sqrt(ln|X|/(2 T)) + sqrt(2 ln(1/beta)/T) + ln(2|Q|)/(r T): what
    the data player learns too late (w = 1), the chance in T draws, of which the data player's tables do not know
    beforehand (Azuma), and what the query player learns too late at rate r = n e/2. The draw of round t is an
    exponential mechanism with epsilon t e, so e = 2 epsilon/(T (T + 1)) for delta = 0, and e = sqrt(48 rho/(T (T + 1)(2
    T + 1))) in zero-concentrated privacy. T is such that the first two are half of alpha, rounded up; the third must be
    the other half: n >= 2 (T + 1) ln(2|Q|)/(epsilon alpha) for delta = 0.

    Theorem: G section 5.3.3, third way; Freund and Schapire 1999; Hsu, Roth and Ullman 2013.
    """

    theorem: ClassVar[str] = "G section 5.3.3: both players learn"

    log_universe: float
    log_queries: float
    delta: float = 0.0

    def rounds(self, alpha: float) -> int:
        """T, the rounds with which the error alpha is promised."""
        learned = math.sqrt(self.log_universe / 2) + math.sqrt(-2 * math.log(self.beta))
        return math.ceil((2 * learned / alpha) ** 2)

    def log_first(self, alpha: float, epsilon: float) -> float:
        """Natural logarithm of e, what the draw of the first round spends."""
        rounds = self.rounds(alpha)
        if self.delta == 0:
            return math.log(2 * epsilon) - math.log(rounds * (rounds + 1))
        squares = math.log(rounds * (rounds + 1) * (2 * rounds + 1))
        return (math.log(48) + log_rho(epsilon, self.delta) - squares) / 2

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        late = math.log(math.log(2) + self.log_queries) + math.log(2) - math.log(self.rounds(alpha))
        return late - math.log(rows) - self.log_first(alpha, epsilon) <= math.log(alpha / 2)


@dataclass(frozen=True, kw_only=True)
class DatabasePlayerBound(Theorem):
    """The data player learns which databases of a net are right; questions need not be linear.

    **Accuracy** the payoff of query f against a database y is |f(x) - f(y)|, from 0 to 1, and every table has a member
    of the net within `net_alpha` on all queries. With a = alpha - net_alpha, T = 2 ln|Net|/a^2 rounds cost a/2 of
    regret. A round chooses within (2/(n e)) ln(2 |Q| T/beta) of the worst query and measures its answer, whose noise is
    at most z except with probability beta/(2 T) and counts twice, in what the chosen query and in what the nearest
    database costs: both together must be a/2. For delta = 0 each half of a round spends e = epsilon/(2 T) and
    z = ln(2 T/beta)/(n e); in zero-concentrated privacy e = sqrt(4 rho/T) and z = sqrt(2 T ln(4 T/beta)/rho)/n.

    Theorem: G section 5.3.3, strategies that are databases; Freund and Schapire 1999 for the regret.
    """

    theorem: ClassVar[str] = "G section 5.3.3: strategies that are databases"

    log_net: float
    log_queries: float
    net_alpha: float
    delta: float = 0.0

    @property
    def floor(self) -> float:
        return self.net_alpha

    def rounds(self, alpha: float) -> int:
        """T, the rounds with which the error alpha is promised."""
        return max(1, math.ceil(2 * self.log_net / (alpha - self.net_alpha) ** 2))

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        if alpha <= self.net_alpha:
            return False
        rounds = self.rounds(alpha)
        width = math.log(2 * rounds) - math.log(self.beta)
        if self.delta == 0:
            missed = math.log(4 * (width + self.log_queries) + 4 * width) + math.log(rounds) - math.log(epsilon)
        else:
            factor = width + self.log_queries + 2 * math.sqrt(2 * (width + math.log(2)))
            missed = math.log(factor) + (math.log(rounds) - log_rho(epsilon, self.delta)) / 2
        return missed - math.log(rows) <= math.log((alpha - self.net_alpha) / 2)
