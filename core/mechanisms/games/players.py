"""The two players of the query release game (G section 5.3.3), and the play itself.

The data player picks a record, the query player a signed question q = +f or -f (minus stands for 1 - f, whose error is
the opposite); the data player pays q(record) - q(private table). A mixed strategy of the data player is a distribution
over all records, that is a synthetic table; one of the query player is known by what it costs at each record, a table
over the universe, up to a constant that no record can change.

**Privacy** only a `Draws` asks the kernel: each draw is one exponential mechanism over all signed questions, whose
scores are rounded public totals minus exact private ones (`kernel/scores.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from core.base.arrays import Columns, Floats
from core.base.axes import stretched
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.kernel.scores import PrefixErrors, SignedErrors
from core.models.histogram import Histogram
from core.privacy.events import Selection
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass, Source
from core.queries.kit.question import log_size_of, member_of, whole, whole_totals
from core.schema.domain import Domain

Pick = tuple[Query, int]
"""A question and its sign."""

TIE = 1e-9
"""Records whose costs differ by less are equally good: sums of the same weights in another order."""


class Questions(Protocol):
    """All signed questions that a query player can pick."""

    def draw(self, kernel: Kernel, seen: Source, event: Selection, times: int) -> list[Pick]:
        """So many signed questions, each at the price of one event, the likelier the more `seen` gets them wrong."""

    def log_size(self) -> float:
        """Natural logarithm of the number of signed questions."""


def questions_of(queries: tuple[QueryClass, ...], domain: Domain) -> Questions:
    only = queries[0] if len(queries) == 1 else None
    return IntervalQuestions(only, domain) if isinstance(only, Intervals) else ListedQuestions(queries, domain)


@dataclass(frozen=True)
class ListedQuestions:
    """Both signs of every member of classes that can be listed, scored in units of 1/grid rows."""

    queries: tuple[QueryClass, ...]
    domain: Domain

    def draw(self, kernel: Kernel, seen: Source, event: Selection, times: int) -> list[Pick]:
        believed = whole_totals(self.queries, seen)
        errors = SignedErrors(self.queries, self.domain, np.concatenate(believed))
        sizes = [totals.size for totals in believed]
        return [self._pick(kernel.choose(errors, event), sizes) for _ in range(times)]

    def log_size(self) -> float:
        return math.log(2) + log_size_of(self.queries, self.domain)

    def _pick(self, index: int, sizes: list[int]) -> Pick:
        opposite, place = divmod(index, sum(sizes))
        return member_of(self.queries, sizes, self.domain, place), -1 if opposite else 1


@dataclass(frozen=True)
class IntervalQuestions:
    """Both signs of all intervals of one column, drawn exactly through their two ends in O(cells)."""

    intervals: Intervals
    domain: Domain

    def draw(self, kernel: Kernel, seen: Source, event: Selection, times: int) -> list[Pick]:
        believed = whole(self.intervals.prefix(seen))
        edges = self.intervals.edges(self.domain)
        errors = PrefixErrors(self.intervals.column, edges, believed, opposite=True)
        return [self._pick(*kernel.choose_ends(errors, event)) for _ in range(times)]

    def log_size(self) -> float:
        return math.log(2) + self.intervals.log_size(self.domain)

    def _pick(self, start: int, stop: int) -> Pick:
        first, last = sorted((start, stop))
        return self.intervals.interval(self.domain, first, last), 1 if start < stop else -1


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
    kernel: Kernel
    rows: float
    epsilons: tuple[Fraction, ...]
    samples: int

    def reply(self, turn: int, seen: Floats) -> Floats:
        domain, epsilon = self.kernel.domain, self.epsilons[turn]
        if not epsilon:
            # Nothing is known yet, so all signed questions are equally likely, and the signs cancel: no need to draw.
            return np.zeros(domain.shape())
        believed = Histogram(domain, self.rows * seen)
        return cost_of(self.questions.draw(self.kernel, believed, Selection(epsilon), self.samples), domain)


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
