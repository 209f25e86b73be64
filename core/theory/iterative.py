"""Accuracy of the iterative construction: choose a query that the hypothesis gets wrong, check it, update, repeat.

An update rule is described by T(alpha): no sequence of queries that are wrong by alpha is longer. A distinguisher is
described by F: the query it finds is within F of the worst one. Theorem 5.4 joins the two; everything here is a choice
of T and F. T depends on alpha, so the bounds are implicit in alpha; and T may be larger than any float (a perceptron on
2^2000 cells), so it is handled as a logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from core.base.errors import BadParameter
from core.theory.bound import Theorem, check, whole
from core.theory.release import NetBound


class UpdateBound(Protocol):
    """A T(alpha)-database update algorithm (G definition 5.4)."""

    def log_updates(self, alpha: float, rows: int) -> float:
        """Natural logarithm of T(alpha), at least 0; some rules depend on the number of rows."""


class DistinguisherBound(Protocol):
    """An (F, gamma)-private distinguisher (G definition 5.5)."""

    def log_shortfall(self, log_gamma: float, log_scale: float) -> float:
        """Natural logarithm of F, where exp(log_scale) = n epsilon_0 and exp(log_gamma) is its failure probability."""


@dataclass(frozen=True, kw_only=True)
class WeightsBound:
    """Multiplicative weights: T = 4 ln|X|/alpha^2 (G theorem 4.10)."""

    log_universe: float

    def log_updates(self, alpha: float, rows: int) -> float:
        return max(0.0, math.log(4 * self.log_universe) - 2 * math.log(alpha))


@dataclass(frozen=True, kw_only=True)
class PerceptronBound:
    """Perceptron: T = (|x|_2/|x|_1)^2 |X|/alpha^2 (G theorem 5.11).

    `unevenness` promises a bound on |X| (|x|_2/|x|_1)^2, from 1 (all possible records equally often) to |X| (all rows
    equal), which is assumed without it. `cell_limit` c promises that no possible record occurs more than c times, which
    makes it at most c |X|/n (edges of a graph: c = 1). Neither may be read off the private table.
    """

    log_universe: float
    unevenness: float | None = None
    cell_limit: int | None = None

    def __post_init__(self) -> None:
        if self.unevenness is not None and not 1 <= self.unevenness < math.inf:
            raise BadParameter("unevenness", "must be at least 1, the value of a table with equal cells.")
        if self.cell_limit is not None:
            whole("cell_limit", self.cell_limit)

    def log_updates(self, alpha: float, rows: int) -> float:
        uneven = self.log_universe
        if self.unevenness is not None:
            uneven = min(uneven, math.log(self.unevenness))
        if self.cell_limit is not None:
            uneven = min(uneven, math.log(self.cell_limit) + self.log_universe - math.log(rows))
        return max(0.0, uneven) - 2 * math.log(alpha)


@dataclass(frozen=True, kw_only=True)
class Median:
    """Median over a net that is as fine as alpha asks: T = log2|Net| (G theorem 5.8, where log is to base 2)."""

    log_net: float

    def log_updates(self, alpha: float, rows: int) -> float:
        return max(0.0, math.log(max(self.log_net / math.log(2), 1.0)))


@dataclass(frozen=True, kw_only=True)
class MedianOfSmallTables:
    """Median over all tables of ln|Q|/alpha^2 rows: T = log2|X| ln|Q|/alpha^2 (G remark 5.2)."""

    log_universe: float
    log_queries: float

    def log_updates(self, alpha: float, rows: int) -> float:
        # At least 4 queries, for the reason given at `SmallDb`.
        log_net = self.log_universe * max(self.log_queries, math.log(4)) / alpha**2
        return max(0.0, math.log(log_net / math.log(2)))


@dataclass(frozen=True, kw_only=True)
class MedianOfAllTables:
    """Median over all tables of n rows: T = n log2|X| for any queries at all (G theorem 5.9).

    At least 4, so that sqrt(T) ln(2 |Q| T/beta)/n falls with n from the first row on.
    """

    log_universe: float

    def log_updates(self, alpha: float, rows: int) -> float:
        return max(math.log(4), math.log(rows) + math.log(self.log_universe / math.log(2)))


@dataclass(frozen=True, kw_only=True)
class ExponentialDistinguisher:
    """The exponential mechanism over the class: F = 2 ln(|Q|/gamma)/(n epsilon_0) (G theorem 5.5)."""

    log_queries: float

    def log_shortfall(self, log_gamma: float, log_scale: float) -> float:
        return math.log(2 * (self.log_queries - log_gamma)) - log_scale


@dataclass(frozen=True, kw_only=True)
class IterativeBound(Theorem):
    """The iterative construction with any update and any distinguisher.

    **Accuracy** the error is at most alpha if alpha >= 8 ln(2 T/beta)/(n epsilon_0) and alpha >= 8 F, where
    T = T(alpha/2), gamma = beta/(2 T), and each of the 2 T steps spends epsilon_0:

    - delta = 0: epsilon_0 = epsilon/(2 T);
    - delta > 0: epsilon_0 = epsilon/(4 sqrt(T ln(1/delta))), and not above ln(1 + sqrt(ln(1/delta)/T)), beyond which (a
      very large epsilon) the advanced composition of theorem 5.3 no longer gives epsilon.

    With the exponential mechanism and w = ln(2 T |Q|/beta): alpha = 32 T w/(n epsilon) for delta = 0, and
    alpha = 64 sqrt(T ln(1/delta)) w/(n epsilon). Theorem 5.7 prints 8 and 16 instead, a quarter of what 5.3 and 5.6
    give; theorem 5.12 has the larger ones again. `printed` shows 5.7 as printed, for comparison only.

    Theorem: G theorems 5.3 to 5.7.
    """

    theorem: ClassVar[str] = "G theorems 5.3 to 5.7"

    update: UpdateBound
    distinguisher: DistinguisherBound
    delta: float = 0.0
    printed: bool = False

    @property
    def up_to_constants(self) -> bool:
        return self.printed

    def updates(self, alpha: float, rows: int) -> float:
        """T(alpha/2), the number of rounds with which the error alpha is promised; may be infinite as a float."""
        log_updates = self.update.log_updates(alpha / 2, rows)
        return math.exp(log_updates) if log_updates < 700 else math.inf

    def log_share(self, log_updates: float, epsilon: float) -> float:
        """Natural logarithm of epsilon_0, what each of the 2 T steps spends."""
        if self.delta == 0:
            return math.log(epsilon / 2) - log_updates
        spread = math.log(1 / self.delta)
        advanced = math.log(epsilon / 4) - (log_updates + math.log(spread)) / 2
        highest = math.log1p(math.exp((math.log(spread) - log_updates) / 2))
        return min(advanced, math.log(highest)) if highest > 0 else advanced

    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        log_updates = self.update.log_updates(alpha / 2, rows)
        log_gamma = math.log(self.beta / 2) - log_updates
        log_scale = math.log(rows) + self.log_share(log_updates, epsilon)
        noise = math.log(-log_gamma) - log_scale
        needed = math.log(8) + max(noise, self.distinguisher.log_shortfall(log_gamma, log_scale))
        return needed - (math.log(4) if self.printed else 0) <= math.log(alpha)


def iterative_weights(
    *, log_universe: float, log_queries: float, beta: float = 0.05, delta: float = 0.0, printed: bool = False
) -> IterativeBound:
    """Multiplicative weights: alpha^3 = 512 ln|X| ln(2 T |Q|/beta)/(n epsilon) for delta = 0."""
    _sizes(log_universe, log_queries)
    update = WeightsBound(log_universe=log_universe)
    return _exponential(update, log_queries, beta, delta, printed)


def iterative_perceptron(
    *,
    log_universe: float,
    log_queries: float,
    beta: float = 0.05,
    delta: float = 0.0,
    unevenness: float | None = None,
    cell_limit: int | None = None,
    printed: bool = False,
) -> IterativeBound:
    """Perceptron (G theorem 5.12): alpha^2 = 128 |x|_2 sqrt(|X| ln(1/delta)) ln(2 T |Q|/beta)/(|x|_1^2 epsilon)."""
    _sizes(log_universe, log_queries)
    update = PerceptronBound(log_universe=log_universe, unevenness=unevenness, cell_limit=cell_limit)
    return _exponential(update, log_queries, beta, delta, printed)


def iterative_median(
    *, log_universe: float, log_queries: float, beta: float = 0.05, delta: float = 0.0, printed: bool = False
) -> IterativeBound:
    """Median over small tables, for linear queries (G theorem 5.8 and remark 5.2)."""
    _sizes(log_universe, log_queries)
    update = MedianOfSmallTables(log_universe=log_universe, log_queries=log_queries)
    return _exponential(update, log_queries, beta, delta, printed)


def iterative_median_any(
    *, log_universe: float, log_queries: float, beta: float = 0.05, delta: float = 1e-9, printed: bool = False
) -> IterativeBound:
    """Median over all tables, for any queries that one row moves by at most 1/n, linear or not.

    alpha = 64 sqrt(log2|X| ln(1/delta)) ln(2 |Q| n log2|X|/beta)/(sqrt(n) epsilon), G theorem 5.10 with the constant of
    5.3 and 5.6 (the page shows sqrt(n epsilon) for sqrt(n) epsilon). With delta = 0 there is no such bound.
    """
    _sizes(log_universe, log_queries)
    if delta == 0:
        raise BadParameter("delta", "must be above 0: without it the net of all tables promises nothing; try 1e-9.")
    return _exponential(MedianOfAllTables(log_universe=log_universe), log_queries, beta, delta, printed)


def iterative_net(*, log_universe: float, log_queries: float, net_alpha: float, beta: float = 0.05) -> NetBound:
    """The net mechanism over everything that multiplicative weights can end at (G section 5.3.1).

    What it ends at is determined by at most T = 4 ln|X|/a^2 signed queries, so there are at most (2|Q|)^T such tables,
    and one of them is within a of any table. SmallDB's net has the tables of ln|Q|/a^2 records instead: T queries of
    ln|Q| each, or so many records of ln|X| each, are equally many but for the 4 and the signs.
    """
    _sizes(log_universe, log_queries)
    updates = math.exp(WeightsBound(log_universe=log_universe).log_updates(net_alpha, 1))
    log_net = math.ceil(updates) * (math.log(2) + log_queries)
    return NetBound(log_net=log_net, net_alpha=net_alpha, beta=beta)


def _exponential(update: UpdateBound, log_queries: float, beta: float, delta: float, printed: bool) -> IterativeBound:
    chooser = ExponentialDistinguisher(log_queries=log_queries)
    return IterativeBound(update=update, distinguisher=chooser, beta=beta, delta=delta, printed=printed)


def _sizes(log_universe: float, log_queries: float) -> None:
    check("log_universe", log_universe)
    check("log_queries", log_queries)
