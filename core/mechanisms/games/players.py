"""The two players of the query release game (G section 5.3.3), and the play itself.

The data player picks a record, the query player a signed question q = +f or -f (minus stands for 1 - f, whose error is
the opposite); the data player pays q(record) - q(private table). A mixed strategy of the data player is a distribution
over all records, that is a synthetic table; one of the query player is known by what it costs at each record, a table
over the universe, up to a constant that no record can change.

**Privacy** only a `Draws` looks at private counts: each draw is one exponential mechanism over all signed questions,
whose scores are rounded public totals minus exact private ones. A unit changes a score by at most `unit.limit * grid`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.axes import stretched
from core.kernel.query import Query
from core.mechanisms.iterative.distinguish import Members, grid_of
from core.models.histogram import Histogram
from core.models.points import Points
from core.models.protocol import Floats
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.protocol import Columns, QueryClass, Source
from core.queries.kit.question import member_of
from core.schema.domain import Domain

Integers = NDArray[np.int64]
Pick = tuple[Query, int]
"""A question and its sign."""

LARGEST = 2.0**60
"""Totals are clipped here, so that no difference of two of them leaves 64 bits."""
TIE = 1e-9
"""Records whose costs differ by less are equally good: sums of the same weights in another order."""


class Questions(Protocol):
    """All signed questions that a query player can pick."""

    def totals(self, source: Source) -> Integers:
        """Whole numbers whose differences between two tables score the signed questions."""

    def draw(self, excess: Integers, noise: NoiseSource, epsilon: Fraction, unit: Unit) -> Pick:
        """A signed question by the exponential mechanism: `excess` is public totals minus private ones."""

    def log_size(self) -> float:
        """Natural logarithm of the number of signed questions."""


def questions_of(queries: tuple[QueryClass, ...], domain: Domain) -> Questions:
    only = queries[0] if len(queries) == 1 else None
    return Spans(only, domain) if isinstance(only, Intervals) else Listed(queries, domain)


@dataclass(frozen=True)
class Listed:
    """Both signs of every member of classes that can be listed, scored in units of 1/grid rows."""

    queries: tuple[QueryClass, ...]
    domain: Domain

    def totals(self, source: Source) -> Integers:
        grid = grid_of(self.queries, self.domain)
        parts = (_whole(query.totals(source), grid // query.denominator(self.domain)) for query in self.queries)
        return np.concatenate(list(parts))

    def draw(self, excess: Integers, noise: NoiseSource, epsilon: Fraction, unit: Unit) -> Pick:
        sensitivity = unit.limit * grid_of(self.queries, self.domain)
        index = noise.select(np.concatenate([excess, -excess]), epsilon=epsilon, sensitivity=sensitivity)
        sign, place = (1, index) if index < excess.size else (-1, index - excess.size)
        return member_of(self.queries, self._sizes, self.domain, place), sign

    def log_size(self) -> float:
        return math.log(2) + Members(self.queries).log_size(self.domain)

    @cached_property
    def _sizes(self) -> list[int]:
        empty = Points(self.domain, np.zeros((0, len(self.domain)), dtype=np.int64), np.zeros(0))
        return [np.size(query.totals(empty)) for query in self.queries]


@dataclass(frozen=True)
class Spans:
    """Both signs of all intervals of one column, drawn exactly through their two ends in O(cells)."""

    intervals: Intervals
    domain: Domain

    def totals(self, source: Source) -> Integers:
        return _whole(self.intervals.prefix(source), 1)

    def draw(self, excess: Integers, noise: NoiseSource, epsilon: Fraction, unit: Unit) -> Pick:
        start, stop = noise.select_pair(excess, epsilon=epsilon, sensitivity=unit.limit)
        first, last = sorted((start, stop))
        return self.intervals.interval(self.domain, first, last), 1 if start < stop else -1

    def log_size(self) -> float:
        return math.log(2) + self.intervals.log_size(self.domain)


def _whole(totals: NDArray[np.int64] | Floats, factor: int) -> Integers:
    """Totals as whole numbers: exact ones stay exact; of estimates, halves are rounded up, always the same way."""
    if totals.dtype.kind == "i":
        most = int(LARGEST) // factor
        return (np.clip(totals, -most, most) * factor).astype(np.int64)
    return np.clip(np.floor(totals * factor + 0.5), -LARGEST, LARGEST).astype(np.int64)


class QueryPlayer(Protocol):
    """Answers a data player's strategy with a strategy of its own."""

    def reply(self, turn: int, seen: Floats) -> Floats:
        """What each record costs on average; `seen` is a distribution over the universe (0 if nothing was played)."""


@dataclass(frozen=True, eq=False)
class Draws:
    """A query player who draws a few signed questions per turn, the likelier the more `seen` gets them wrong.

    With the same epsilon each turn and `seen` the current strategy this is a noisy best response. With `seen` the
    average of t strategies and epsilon growing like t it is multiplicative weights: epsilon_t times the average error
    is a constant times the sum of errors, whose sensitivity also grows like t.
    """

    questions: Questions
    domain: Domain
    unit: Unit
    hidden: Integers
    """Private totals of the questions."""
    rows: float
    epsilons: tuple[Fraction, ...]
    samples: int
    noise: NoiseSource

    def reply(self, turn: int, seen: Floats) -> Floats:
        epsilon = self.epsilons[turn]
        if not epsilon:
            # Nothing is known yet, so all signed questions are equally likely, and the signs cancel: no need to draw.
            return np.zeros(self.domain.shape())
        excess = self.questions.totals(Histogram(self.domain, self.rows * seen)) - self.hidden
        picks = (self.questions.draw(excess, self.noise, epsilon, self.unit) for _ in range(self.samples))
        return cost_of(list(picks), self.domain)


def cost_of(picks: list[Pick], domain: Domain) -> Floats:
    """The mean of signed questions at every record; those about the same columns are added before they are spread."""
    tables: dict[Columns, Floats] = {}
    for query, sign in picks:
        share = np.asarray(query.weights * (sign / (query.denominator * len(picks))), dtype=np.float64)
        tables[query.columns] = tables[query.columns] + share if query.columns in tables else share
    cost = np.zeros(domain.shape())
    for columns, table in tables.items():
        cost += stretched(table, columns, domain.names)
    return cost


def learned(past: Floats, rate: float) -> Floats:
    """Multiplicative weights after these summed costs: each record weighs exp(-rate cost)."""
    weights = np.exp(rate * (past.min() - past))
    return weights / weights.sum()


def best(cost: Floats) -> Floats:
    """Best response: the cheapest records, all of them equally, which is steadier than any single one."""
    cheapest = cost <= cost.min() + TIE
    return cheapest / cheapest.sum()


@dataclass(frozen=True, eq=False)
class Position:
    """Sums over the turns played so far."""

    turns: int
    played: Floats
    """Strategies of the data player."""
    asked: Floats
    """Costs that the query player put on each record."""

    @property
    def strategy(self) -> Floats:
        """The data player's average strategy: the approximate min-max strategy."""
        return self.played / self.turns


def play(
    domain: Domain, turns: int, query: QueryPlayer, *, rate: float | None, query_learns: bool
) -> Iterator[Position]:
    """The game after each turn; its two sums are updated in place.

    A data player with a `rate` learns, and moves first in each turn; without one it responds, and moves second. A query
    player who learns sees the average of all strategies so far; one who responds sees the last one.
    """
    played, asked = np.zeros(domain.shape()), np.zeros(domain.shape())
    for turn in range(turns):
        if rate is None:
            cost = query.reply(turn, played / max(1, turn))
            played += best(cost)
        else:
            strategy = learned(asked, rate)
            played += strategy
            cost = query.reply(turn, played / (turn + 1) if query_learns else strategy)
        asked += cost
        yield Position(turn + 1, played, asked)
