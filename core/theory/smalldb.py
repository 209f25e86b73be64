"""Accuracy of small synthetic tables chosen by the exponential mechanism.

All tables of m rows are a net: some m rows drawn from the true table answer every query of the class to within a, for
m as small as the class is simple. What changes between the theorems is the m that is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.theory.bound import Theorem, fewest, whole
from core.theory.release import chosen

DimensionBound = float | Callable[[float], float]
"""A fat-shattering dimension: one number for all scales, or a function of the scale."""


@dataclass(frozen=True, kw_only=True)
class SmallDbBound(Theorem):
    """SmallDB for a finite class of linear queries.

    **Accuracy** with m = ln|Q|/a^2 synthetic rows, at most a + 2 (m ln|X| + ln(1/beta))/(epsilon n): the lemma. With
    a = alpha/2: n >= (16 ln|X| ln|Q|/alpha^2 + 4 ln(1/beta))/(epsilon alpha).

    N prints another numerator; this is the one its derivation gives. m is rounded down: Hoeffding's inequality asks for
    more than ln(2|Q|)/(2 a^2) rows, which is at least one row less as soon as |Q| >= 4; smaller classes count as 4.

    Theorem: N pages 3 and 4 (B theorem 3.1, G section 4.1).
    """

    theorem: ClassVar[str] = "N: SmallDB with |Q| queries"

    log_universe: float
    log_queries: float

    def size(self, alpha: float) -> int:
        """Rows of the synthetic table with which the error alpha is promised."""
        return math.floor(self._queries() / (alpha / 2) ** 2)

    def lemma(self, accuracy: float, rows: int, epsilon: float) -> float:
        """The error of the mechanism that is run with this accuracy parameter: N's lemma; may exceed 1."""
        choice = self.log_universe * self._queries() / accuracy**2 - math.log(self.beta)
        return accuracy + 2 * choice / (epsilon * rows)

    def _queries(self) -> float:
        return max(self.log_queries, math.log(4))

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_tables = self.log_universe * self._queries() / (alpha / 2) ** 2
        return chosen(log_tables, self.beta, alpha / 2, rows, epsilon)


@dataclass(frozen=True, kw_only=True)
class SmallDbVcBound(Theorem):
    """SmallDB for predicates of finite VC dimension d, however many there are.

    **Accuracy** n >= 4 (m ln|X| + ln(1/beta))/(epsilon alpha), where m rows can be within a = alpha/2 on the whole
    class. The paper says m = O(d ln(1/alpha)/alpha^2); here the smaller of two inequalities with explicit constants:

    - Vapnik and Chervonenkis 1971 (Anthony and Bartlett 1999, theorem 4.3): 4 (2 e m/d)^d exp(-m a^2/8) < 1;
    - Hoeffding over the at most (e |X|/d)^d predicates that differ on the universe (Sauer 1972): m > ln(2 (e |X|/d)^d)
      /(2 a^2). It wins in small universes.

    Theorem: B theorem 3.1 with the constants of its proof.
    """

    theorem: ClassVar[str] = "B theorem 3.1"

    log_universe: float
    vc: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("vc", self.vc, least=0)
        if self.vc and math.log(self.vc) > self.log_universe:
            raise BadParameter("vc", "cannot exceed the number of possible records.")

    def size(self, alpha: float) -> int:
        """Rows of the synthetic table with which the error alpha is promised."""
        accuracy, d = alpha / 2, self.vc
        growth = d * (1 + self.log_universe - math.log(d)) if d else 0.0
        small_universe = hoeffding(growth, accuracy)
        if d == 0:
            return small_universe

        def converged(extra: int) -> bool:
            # The exponent falls from 8 d/a^2 rows on, so the condition is monotone there.
            m = 8 * d / accuracy**2 + extra
            return math.log(4) + d * math.log(2 * math.e * m / d) - m * accuracy**2 / 8 < 0

        extra = fewest(converged)
        assert extra is not None, "the exponential wins"
        return min(small_universe, math.ceil(8 * d / accuracy**2 + extra))

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        return chosen(self.size(alpha) * self.log_universe, self.beta, alpha / 2, rows, epsilon)


@dataclass(frozen=True, kw_only=True)
class SmallDbLinearBound(Theorem):
    """SmallDB for linear queries on tables of unknown total mass, relative usefulness, finite class.

    **Accuracy** n >= 8 (m ln|X| + ln(1/beta))/(epsilon alpha), m > ln(2|Q|)/(2 a^2), a = alpha/2. The synthetic table
    is scaled by n/m, so its score moves by 1 + 1/m <= 2 rows: twice the price of SmallDB with a public n.

    The paper writes eta for accuracy and alpha for privacy. Its last lines lose a factor: exp(-eta n alpha/4) over
    exp(-eta n alpha/2) is exp(eta n alpha/4), and the error reached is 2 eta. Both are kept here: alpha = 2 eta.

    Theorem: F theorem 5 with remark 1.
    """

    theorem: ClassVar[str] = "F theorem 5, finite class"

    log_universe: float
    log_queries: float

    def size(self, alpha: float) -> int:
        """Rows of the synthetic table before it is scaled."""
        return hoeffding(self.log_queries, alpha / 2)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        return chosen(self.size(alpha) * self.log_universe, self.beta, alpha / 4, rows, epsilon)


@dataclass(frozen=True, kw_only=True)
class SmallDbFatBound(Theorem):
    """SmallDB for linear queries of finite fat-shattering dimension, however many there are.

    **Accuracy** n >= 8 (m ln|X| + ln(1/beta))/(epsilon alpha) as in `SmallDbLinearBound`, with m from the dimension d:

    - `constant` left out: 8 N(a/8, m) exp(-m a^2/128) < 1, a = alpha/2 (Pollard 1984, theorem II.24), with
      N(a/8, m) < 2 (256 m/a^2)^(d log2(32 e m/(d a))), d the dimension at scale a/32 = alpha/64 (Anthony and Bartlett
      1999, theorem 12.8). Every constant is a published one; they are large.
    - `constant` c given: the paper's m = c (d ln^2(1/a) + ln 2)/a^2, d at scale a/5 = alpha/10 (Bartlett and Long
      1995). The paper does not give c, so this shows how numbers grow and promises nothing: `up_to_constants`.

    Theorem: F theorem 3, corollary 1 and theorem 5.
    """

    theorem: ClassVar[str] = "F theorem 5, fat-shattering dimension"

    log_universe: float
    fat: DimensionBound
    constant: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constant is not None and not 0 < self.constant < math.inf:
            raise BadParameter("constant", "must be above 0; leave it out for published constants.")
        if not callable(self.fat) and not 0 <= self.fat < math.inf:
            raise BadParameter("fat", "must be a finite dimension of at least 0.")

    @property
    def up_to_constants(self) -> bool:
        return self.constant is not None

    def size(self, alpha: float) -> int:
        """Rows of the synthetic table before it is scaled."""
        a = alpha / 2
        if self.constant is not None:
            d = self._dimension(a / 5)
            return math.ceil(self.constant * (d * math.log(1 / a) ** 2 + math.log(2)) / a**2)
        d = max(1.0, self._dimension(a / 32))

        def converged(m: int) -> bool:
            # The exponent rises, then falls; its peak lies below its root and its root above 256 d/a^2.
            if m < 256 * d / a**2:
                return False
            cover = math.log(2) + d * math.log2(32 * math.e * m / (d * a)) * math.log(256 * m / a**2)
            return math.log(8) + cover - m * a**2 / 128 < 0

        rows = fewest(converged)
        assert rows is not None, "the exponential wins"
        return rows

    def _dimension(self, scale: float) -> float:
        return float(self.fat(scale)) if callable(self.fat) else float(self.fat)

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        return chosen(self.size(alpha) * self.log_universe, self.beta, alpha / 4, rows, epsilon)


def hoeffding(log_queries: float, accuracy: float) -> int:
    """Rows of which some choice is within `accuracy` on all queries: the smallest m with 2 |Q| exp(-2 m a^2) < 1."""
    return math.floor((math.log(2) + log_queries) / (2 * accuracy**2)) + 1
