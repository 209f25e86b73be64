"""Accuracy of one step: noise on every answer, and one choice by the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.renyi import NO_DELTA
from core.privacy.spendable import rho_for
from core.theory.bound import Theorem


@dataclass(frozen=True, kw_only=True)
class LaplaceBound(Theorem):
    """Laplace noise on each of k = |Q| answers.

    **Accuracy** alpha = ln(k/beta)/(e n), where e is what each answer may spend:

    - delta = 0, basic composition: e = epsilon/k, so the noise grows as k;
    - delta > 0, advanced composition: k e^2/2 + e sqrt(2 k ln(1/delta)) = epsilon, which is
      e = (sqrt(2 ln(1/delta) + 2 epsilon) - sqrt(2 ln(1/delta)))/sqrt(k), so the noise grows as sqrt(k ln(1/delta)); or
      e = epsilon/k where that is more.

    A Laplace number of scale s exceeds s t with probability exp(-t); the rest is a union bound over the k answers.
    Integer noise, P(z) ~ q^|z| with q = exp(-1/s), adds at most half a row: P(|z| >= j) = 2 q^j/(1 + q) <= q^(j - 1/2).

    Theorem: B 2.4 and 2.5, N page 1; advanced composition as in Bun and Steinke 2016, proposition 1.3.
    """

    theorem: ClassVar[str] = "B 2.4, N: Laplace noise with a union bound over the queries"

    log_queries: float
    delta: float = 0.0

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        tail = math.log(self.log_queries - math.log(self.beta))
        return tail - math.log(rows) - self.log_share(epsilon) <= math.log(alpha)

    def log_share(self, epsilon: float) -> float:
        """Natural logarithm of the epsilon of one answer."""
        basic = math.log(epsilon) - self.log_queries
        if self.delta == 0:
            return basic
        spread = 2 * math.log(1 / self.delta)
        advanced = math.log(2 * epsilon / (math.sqrt(spread + 2 * epsilon) + math.sqrt(spread))) - self.log_queries / 2
        return max(basic, advanced)


@dataclass(frozen=True, kw_only=True)
class GaussianBound(Theorem):
    """Gaussian noise on each of k = |Q| answers.

    **Accuracy** alpha = sqrt(k ln(k/beta)/rho)/n, where rho is all that (epsilon, delta) allows in zero-concentrated
    privacy (`spendable.rho_for`): one row moves the k counts by at most sqrt(k) in L2, so sigma^2 = k/(2 rho), and a
    Gaussian number exceeds sigma t with probability at most exp(-t^2/2). Integer noise adds at most one row.

    Theorem: N page 1 (noise as sqrt(|Q| ln 1/delta)); Canonne, Kamath and Steinke 2020, theorem 14 and proposition 25.
    """

    theorem: ClassVar[str] = "N: Gaussian noise in zCDP with a union bound over the queries"

    log_queries: float
    delta: float = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta == 0:
            raise BadParameter("delta", NO_DELTA)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        tail = math.log(self.log_queries - math.log(self.beta))
        return (self.log_queries + tail - log_rho(epsilon, self.delta)) / 2 - math.log(rows) <= math.log(alpha)


def log_rho(epsilon: float, delta: float) -> float:
    """Natural logarithm of the rho of a budget; minus infinity where it is too small for noise of any size."""
    try:
        return math.log(rho_for(Budget(epsilon, delta)))
    except BadParameter:
        return -math.inf


@dataclass(frozen=True, kw_only=True)
class ExponentialBound(Theorem):
    """The chosen candidate's score is this close to the best one's, as a share of the rows.

    **Accuracy** alpha = 2 (ln|R| + ln(1/beta))/(epsilon n) for |R| candidates whose scores move by at most 1/n. With
    |R| = |Q| and beta = gamma it is the private distinguisher's F(epsilon) = 2 ln(|Q|/gamma)/(epsilon n).

    Theorem: McSherry and Talwar 2007, as used in N page 3; G theorem 5.5.
    """

    theorem: ClassVar[str] = "McSherry and Talwar 2007; G theorem 5.5"

    log_candidates: float

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        return chosen(self.log_candidates, self.beta, alpha, rows, epsilon)


@dataclass(frozen=True, kw_only=True)
class NetBound(Theorem):
    """The net mechanism: choose from a fixed set that holds something good for every table.

    **Accuracy** alpha = net_alpha + 2 (ln|Net| + ln(1/beta))/(epsilon n), where every table has a member of the net
    within `net_alpha` on all queries. The net's own error stays however many rows there are.

    Theorem: G proposition 5.2.
    """

    theorem: ClassVar[str] = "G proposition 5.2"

    log_net: float
    net_alpha: float

    @property
    def floor(self) -> float:
        return self.net_alpha

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        return alpha > self.net_alpha and chosen(self.log_net, self.beta, alpha - self.net_alpha, rows, epsilon)


def chosen(log_candidates: float, beta: float, slack: float, rows: int, epsilon: float) -> bool:
    """Whether a choice by scores that move by 1/n loses at most `slack`, except with probability beta."""
    loss = math.log(2 * (log_candidates - math.log(beta)))
    return loss - math.log(epsilon) - math.log(rows) <= math.log(slack)
