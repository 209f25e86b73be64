"""Accuracy of the online iterative construction: a public hypothesis answers, sparse vector finds where it is wrong.

Sparse vector with c comparisons above, out of 2k signed ones, errs by at most a n rows; with the threshold 2 a n every
answer from the hypothesis is then within 3 a n, and every question that is called hard is wrong by a n at least, so
that there are at most c = T(a) of them. The condition below is the one for a; the promised error is alpha = 3 a.

**The proven form of sparse vector is covered.** The theorems are stated for thresholds that are drawn anew after each
hard answer. Here one offset of scale 1/e1 serves all (delta = 0), with comparisons of scale 2c/e2, e1 : e2 =
1 : (2c)^(2/3) and e1 + e2 = 8 epsilon/9: since 1/e1 + 2c/e2 <= 6.6 c/epsilon, both noises together stay below 9 c
(ln(2k) + ln(4c/beta))/epsilon, except with probability beta/2; the c numbers of scale 9 c/epsilon do, except with
probability beta/4. With delta > 0 and c runs, each pure event has at least epsilon sqrt(8/9)/sqrt(3 c ln(2/delta)) for
epsilon <= ln(2/delta) by zero-concentrated composition, which leaves a factor of two to spare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.theory.bound import Theorem, check
from core.theory.iterative import MedianOfSmallTables, PerceptronBound, UpdateBound, WeightsBound


@dataclass(frozen=True, kw_only=True)
class OnlineBound(Theorem):
    """The online iterative construction with any update.

    **Accuracy** all of k answers, however the questions were chosen, are within alpha = 3 a if, with c = T(a) and
    w = ln(2k) + ln(4c/beta):

    - delta = 0: a >= 9 c w/(epsilon n);
    - delta > 0: a >= (sqrt(512) + 1) sqrt(c ln(2/delta)) w/(epsilon n).

    Theorem: G theorems 5.14 and 5.15 (algorithm 11 prints a root over the whole logarithm in the threshold for delta >
    0; the theorem has it outside, and so has this).
    """

    theorem: ClassVar[str] = "G theorems 5.14 and 5.15"

    update: UpdateBound
    log_queries: float
    delta: float = 0.0

    def hard_answers(self, alpha: float, rows: int) -> float:
        """T(alpha/3), the most questions that are measured; may be infinite as a float."""
        log_hard = self.update.log_updates(alpha / 3, rows)
        return math.exp(log_hard) if log_hard < 700 else math.inf

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_hard = self.update.log_updates(alpha / 3, rows)
        words = math.log(2) + self.log_queries + math.log(4 / self.beta) + log_hard
        if self.delta == 0:
            log_noise = math.log(9) + log_hard
        else:
            log_noise = math.log(math.sqrt(512) + 1) + (log_hard + math.log(math.log(2 / self.delta))) / 2
        return log_noise + math.log(words) - math.log(epsilon) - math.log(rows) <= math.log(alpha / 3)


def online_weights(*, log_universe: float, log_queries: float, beta: float = 0.05, delta: float = 0.0) -> OnlineBound:
    """Multiplicative weights: c = 36 ln|X|/alpha^2 hard answers."""
    _sizes(log_universe, log_queries)
    return OnlineBound(update=WeightsBound(log_universe=log_universe), log_queries=log_queries, beta=beta, delta=delta)


def online_perceptron(
    *,
    log_universe: float,
    log_queries: float,
    beta: float = 0.05,
    delta: float = 0.0,
    unevenness: float | None = None,
    cell_limit: int | None = None,
) -> OnlineBound:
    """Perceptron: c = 9 |X| (|x|_2/|x|_1)^2/alpha^2 hard answers."""
    _sizes(log_universe, log_queries)
    update = PerceptronBound(log_universe=log_universe, unevenness=unevenness, cell_limit=cell_limit)
    return OnlineBound(update=update, log_queries=log_queries, beta=beta, delta=delta)


def online_median(*, log_universe: float, log_queries: float, beta: float = 0.05, delta: float = 0.0) -> OnlineBound:
    """Median over all tables of 9 ln(k)/alpha^2 rows: c = 9 log2|X| ln(k)/alpha^2 hard answers."""
    _sizes(log_universe, log_queries)
    update = MedianOfSmallTables(log_universe=log_universe, log_queries=log_queries)
    return OnlineBound(update=update, log_queries=log_queries, beta=beta, delta=delta)


def _sizes(log_universe: float, log_queries: float) -> None:
    check("log_universe", log_universe)
    check("log_queries", log_queries)
