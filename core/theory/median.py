"""Accuracy of the median mechanism (T chapter 4), with its constants as the thesis sets them.

T writes alpha for privacy, epsilon for accuracy; here epsilon is privacy and alpha accuracy. `log_queries` is ln k, the
number of questions that are planned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.theory.bound import Theorem, whole
from core.theory.smalldb import DimensionBound, SmallDbFatBound


@dataclass(frozen=True, kw_only=True)
class MedianBound(Theorem):
    """The basic median mechanism: k questions over the net of all databases of m rows.

    - m = 160,000 ln k ln(1/alpha)/alpha^2 (4.1), but at least 5,000 ln(2k)/alpha^2, without which no database of m rows
      needs to be within alpha/100 on all k questions (Hoeffding), as the proof of lemma 6 wants; T's own m is smaller
      than that only where alpha is nearly 1 or k is 1;
    - epsilon' = epsilon/(720 m ln|X|) (4.2);
    - at most 20 m ln|X| answers are hard (lemma 6).

    **Accuracy** every answer is within alpha n, except with probability 2 k exp(-alpha n epsilon'/200). T only says
    k exp(-Omega(alpha n epsilon')); its lemmas 3 and 4 ask that k Laplace numbers of scale 2/(alpha n epsilon') stay
    below 1/100 and as many of scale 1/(n epsilon') below alpha/100, the second of which is the rarer failure.

    `printed` adds the condition (4.6), n >= 30 ln(2k/epsilon) log2(k)/(alpha epsilon'), which T's privacy proof needs.
    The mechanism here does not: see `median_basic`.

    Theorem: T theorems 18 and 19, lemmas 3 to 6.
    """

    theorem: ClassVar[str] = "T theorems 18 and 19"
    contraction: ClassVar[float] = 20.0
    """Hard answers at most, in units of m ln|X|."""

    log_universe: float
    log_queries: float
    printed: bool = False

    def size(self, alpha: float) -> float:
        """m, the rows of each database of the net."""
        thesis = 160_000 * self.log_queries * math.log(1 / alpha)
        return max(thesis, 5_000 * (self.log_queries + math.log(2))) / alpha**2

    def log_net(self, alpha: float) -> float:
        """Natural logarithm of the number of databases, |X|^m, as T counts them."""
        return self.size(alpha) * self.log_universe

    def hard(self, alpha: float) -> float:
        """How many answers can be hard."""
        return self.contraction * self.log_net(alpha)

    def share(self, alpha: float, epsilon: float) -> float:
        """epsilon', what one comparison or one measured number spends."""
        return epsilon / (720 * self.log_net(alpha))

    def gap(self, alpha: float, rows: int, epsilon: float) -> float:
        """gamma, the distance between two of the random thresholds (4.3)."""
        scale = math.log(4) - math.log(alpha) - math.log(rows) - math.log(self.share(alpha, epsilon))
        return math.exp(scale) * (math.log(2 / epsilon) + self.log_queries) if scale < 700 else math.inf

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_signal = math.log(alpha) + math.log(rows) + math.log(self.share(alpha, epsilon))
        needed = 200 * (math.log(2) + self.log_queries - math.log(self.beta))
        if self.printed:
            needed = max(needed, 30 * (math.log(2 / epsilon) + self.log_queries) * self.log_queries / math.log(2))
        return log_signal >= math.log(needed)


@dataclass(frozen=True, kw_only=True)
class MedianWalkBound(MedianBound):
    """The polynomial-time median mechanism, over fractional histograms.

    As the basic one with at most 40 m ln|X| hard answers, and only for all but a share |X|^-m of all distributions
    over X: the others may run out of hard answers, but answer none wrongly (T lemma 11). It supposes that the samples
    are uniform on the polytope and numerous enough; what a finite walk misses of that adds to the error.

    Theorem: T theorems 22 and 23, lemmas 9 to 11.
    """

    theorem: ClassVar[str] = "T theorems 22 and 23"
    contraction: ClassVar[float] = 40.0


@dataclass(frozen=True, kw_only=True)
class MedianFatBound(MedianBound):
    """The median mechanism for linear questions of a class of finite fat-shattering dimension, however large it is.

    As the basic one, but a database is as large as corollary 1 of F asks for an error of alpha/100 on the whole class,
    with the published constants of `SmallDbFatBound`, and not as the number of questions does. k, the questions that
    are asked, still counts their chances to fail.

    Theorem: F theorem 6; T theorem 32.
    """

    theorem: ClassVar[str] = "F theorem 6"

    fat: DimensionBound

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._table  # refuses a dimension that is none

    @property
    def _table(self) -> SmallDbFatBound:
        return SmallDbFatBound(log_universe=self.log_universe, fat=self.fat)

    def size(self, alpha: float) -> float:
        return float(self._table.size(alpha / 50))


def rows_for_unknown(asked: int, alpha: float, epsilon: float, *, log_universe: float, beta: float = 0.05) -> int:
    """Rows for so many questions where nobody said how many there would be: guesses that double (T end of 4.2).

    Guess i = 0, 1, ... is 2^i questions; once it is used up a new mechanism begins with the next one. Guess i spends
    epsilon/((i + 1)(i + 2)) and fails with beta/((i + 1)(i + 2)): all guesses that ever come sum to epsilon and beta. T
    counts a factor of O(log k); where nothing at all is known of k a second one is the price of never running out.
    """
    whole("asked", asked)
    needed = 0
    for guess in range(max(1, math.ceil(math.log2(asked)) + 1)):
        part = (guess + 1) * (guess + 2)
        bound = MedianBound(log_universe=log_universe, log_queries=guess * math.log(2), beta=beta / part)
        needed = max(needed, bound.rows(alpha, epsilon / part))
    return needed


def database_sample(cells: int, rows: int, generator: np.random.Generator) -> IntArray:
    """T's DatabaseSample: counts of rows drawn from a distribution that is itself uniform over all distributions.

    A uniform point of the simplex is a list of exponential numbers, divided by their sum.
    """
    whole("cells", cells)
    whole("rows", rows)
    drawn = generator.exponential(size=cells)
    return np.asarray(generator.multinomial(rows, drawn / drawn.sum()), dtype=np.int64)


def untypical_share(log_universe: float, rows: int, sampled: float = 0.0) -> float:
    """The share of databases of n rows for which the fast median mechanism may run out of hard answers (corollary 25).

    At most `sampled`/(1 - 2 n^2/|X|) + n^2/|X|, where `sampled` is that share of `database_sample`, |X|^-m up to a
    constant (lemma 12 and corollary 24); 1 where n is not far below the root of |X|.
    """
    whole("rows", rows)
    if not 0 <= sampled <= 1:
        raise BadParameter("sampled", "must be a share from 0 to 1.")
    log_share = 2 * math.log(rows) - log_universe
    share = math.exp(log_share) if log_share < 0 else 1.0
    return 1.0 if 2 * share >= 1 else min(1.0, sampled / (1 - 2 * share) + share)
