"""Database update algorithms (G section 5.2): how a public hypothesis learns from one measured answer.

An update is a T(alpha)-database update algorithm (G definition 5.4) if no sequence of questions, each answered wrongly
by alpha or more and measured to within alpha, is longer than T(alpha). It sees no private data: only the hypothesis,
the question and the measured value. All values are totals in rows (times the question's denominator), as in
`Query.total`; alpha is a share of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from core.base.arrays import Floats
from core.base.bisection import narrowed
from core.kernel.query import Query, Statistic
from core.kernel.tables import Marginal
from core.models.dense import Dense
from core.models.signed import Signed
from core.queries.kit.grouped import GroupedTable
from core.queries.kit.protocol import Source
from core.queries.kit.question import Learnt
from core.schema.domain import Domain

FAINTEST = 1e-9
"""Smallest share of the rows that a step leaves to a question, so that a later measurement can raise it again."""
STEEPEST = 200.0
"""Logarithm of the largest factor of one step: cells that earlier steps made almost empty cannot overflow another."""


NOT_LINEAR = "only a set of databases learns from a statistic that is not linear"
NO_GROUPS = "only weights learn from a coarse table"


H = TypeVar("H", bound=Source)
"""Whatever an update keeps; the loop only counts it."""


class Update(Protocol[H]):
    """How a hypothesis starts and learns."""

    def start(self, domain: Domain, total: float) -> H:
        """The hypothesis before anything is known except the number of rows."""

    def apply(self, hypothesis: H, question: Learnt, value: Any, slack: float = 0.0) -> H:
        """The hypothesis after a measurement; within `slack` of the value it is left as it is."""

    def steps(self, domain: Domain, alpha: float) -> float:
        """T(alpha): the most mistakes of size alpha that can ever be pointed out."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Multiplicative weights (G theorem 4.10): T(alpha) = 4 ln|X|/alpha^2.

    With `alpha` set, the paper's step: every cell times exp(-eta f) or exp(eta f), eta = alpha/2. Without it, the
    step that makes the hypothesis meet the measured value: the same family of factors with eta solved for. For a whole
    table that is proportional fitting.
    """

    alpha: float | None = None
    begin: Callable[[Domain, float], Any] = Dense.uniform

    def start(self, domain: Domain, total: float) -> Any:
        return self.begin(domain, total)

    def apply(self, hypothesis: Any, question: Learnt, value: Any, slack: float = 0.0) -> Any:
        mass = hypothesis.marginal(question.columns)
        factors: Floats | None
        if isinstance(question, Marginal):
            factors = _fitted(mass, np.asarray(value, dtype=np.float64), slack)
        elif isinstance(question, GroupedTable):
            factors = question.spread(_fitted(question.merged(mass), np.asarray(value, dtype=np.float64), slack))
        elif isinstance(question, Statistic):
            raise TypeError(NOT_LINEAR)
        elif self.alpha is None:
            factors = _met(mass, question, float(value), slack)
        else:
            sign = 1 if float(value) >= float((question.weights * mass).sum()) else -1
            factors = np.exp(sign * self.alpha / 2 / question.denominator * question.weights)
        if factors is None:
            return hypothesis
        kept = float((mass * factors).sum())
        return hypothesis.scaled(question.columns, factors * (float(mass.sum()) / kept)) if kept > 0 else hypothesis

    def steps(self, domain: Domain, alpha: float) -> float:
        return 4 * math.log(domain.cells()) / alpha**2


def _fitted(mass: Floats, value: Floats, slack: float) -> Floats:
    """Factors that move every cell of a table to within `slack` of its measured count.

    Fitting the noise itself would cost accuracy everywhere else: maximum entropy with box constraints (Dudík, Phillips
    and Schapire 2007).
    """
    faintest = FAINTEST * float(mass.sum())
    moved = np.clip(mass, np.maximum(value - slack, faintest), np.maximum(value + slack, faintest))
    present = mass > 0
    factors = np.ones_like(mass)
    factors[present] = np.exp(np.clip(np.log(moved[present]) - np.log(mass[present]), -STEEPEST, STEEPEST))
    return factors


def _met(mass: Floats, question: Query, value: float, slack: float) -> Floats | None:
    """Factors exp(eta f) after which the question's total is within `slack` of its measured value."""
    total, most = float((question.weights * mass).sum()), question.denominator * float(mass.sum())
    target = min(max(total, value - slack), value + slack)
    target = min(max(target, FAINTEST * most), (1 - FAINTEST) * most)
    if target == total or not 0 < total < most:
        return None
    if question.denominator == 1:
        steps = math.log(target) - math.log(most - target) - math.log(total) + math.log(most - total)
        return np.where(question.weights == 1, math.exp(min(max(steps, -STEEPEST), STEEPEST)), 1.0)
    weights = question.weights / question.denominator
    return np.exp(_tilt(mass, weights, target / most) * weights)


def _tilt(mass: Floats, weights: Floats, share: float) -> float:
    """The eta at which weights tilted by exp(eta f) have the mean `share`; the mean rises with eta, so bisect."""
    level, place = np.unique(weights, return_inverse=True)
    held = np.bincount(place.ravel(), weights=mass.ravel(), minlength=level.size)

    def enough(eta: float) -> bool:
        tilted = held * np.exp(eta * (level - level[-1] if eta > 0 else level - level[0]))
        return float(tilted @ level) >= share * float(tilted.sum())

    return sum(narrowed(enough, -64.0, 64.0, halvings=60)) / 2


@dataclass(frozen=True, kw_only=True)
class Perceptron:
    """The perceptron (G algorithm 10, theorem 5.11): T(alpha) = (|x|_2/|x|_1)^2 |X|/alpha^2.

    The number of rows is known, so the hypothesis moves among the signed tables that sum to it: it starts from the
    uniform one, and a step goes along f less its mean. With `alpha` set, the step is the paper's, plus or minus
    alpha/|X| (times the rows, since everything here counts in rows). Without it, the shortest one that meets the
    measured value.

    **Proof** of T for these steps. R = x^t - x sums to 0, so <f, R> = <f - mean f, R>. With alpha' = alpha |x|_1 a step
    lowers |R|_2^2 by at least 2 alpha'/|X| <f, R> - (alpha'/|X|)^2 |f - mean f|_2^2 >= alpha'^2/|X|, since
    |f - mean f|_2^2 <= |f|_2^2 <= |X|. At the start |R|_2^2 = |x|_2^2 - |x|_1^2/|X|, less than the paper's |x|_2^2.
    """

    alpha: float | None = None
    unevenness: float = 4.0
    """Public bound on |X| (|x|_2/|x|_1)^2, which is 1 for a table with equal cells and |X| for a single cell."""

    def start(self, domain: Domain, total: float) -> Signed:
        return Signed.uniform(domain, total)

    def apply(self, hypothesis: Signed, question: Learnt, value: Any, slack: float = 0.0) -> Signed:
        domain = hypothesis.domain
        mass = hypothesis.marginal(question.columns)
        # Each combination of the question's columns holds so many cells of the universe.
        spread = domain.cells() / domain.cells(question.columns)
        if isinstance(question, Statistic | GroupedTable):
            raise TypeError(NOT_LINEAR if isinstance(question, Statistic) else NO_GROUPS)
        if isinstance(question, Marginal):
            wanted = np.asarray(value, dtype=np.float64)
            missing = np.clip(mass, wanted - slack, wanted + slack) - mass
            return hypothesis.shifted(question.columns, missing / spread)
        total, wanted_total = float((question.weights * mass).sum()), float(value)
        if self.alpha is not None:
            step = (1 if total <= wanted_total else -1) * self.alpha * hypothesis.total / domain.cells()
            return hypothesis.shifted(question.columns, question.weights * np.float64(step / question.denominator))
        gap = min(max(total, wanted_total - slack), wanted_total + slack) - total
        length = float(((question.weights - question.weights.mean()) ** 2).sum()) * spread
        if length == 0:
            return hypothesis
        return hypothesis.shifted(question.columns, question.weights * np.float64(gap / length))

    def steps(self, domain: Domain, alpha: float) -> float:
        return min(self.unevenness, domain.cells()) / alpha**2
