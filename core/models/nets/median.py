"""A set of databases that answers by its median, and the update that halves it (G definition 5.6, algorithm 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Floats, IntArray
from core.kernel.query import Statistic
from core.models.nets.net_answers import class_answers, places_of, question_answers
from core.models.points import Points
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import Learnt, Question
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class MedianSet:
    """Databases of equally many rows, each scaled to the number of rows of the private table.

    A question is answered by the median of its members' answers, which need not fit together as any one table's would.
    Records are drawn from all members together.

    **Runtime** a question O(members x rows); a class O(members x questions), from the answers prepared at the start.
    """

    domain: Domain
    members: IntArray
    """One database per line: the places of its rows in the universe."""
    total: float
    answers: tuple[tuple[QueryClass, Floats], ...]
    """For each class the answers of every member, one line per member."""

    def __len__(self) -> int:
        return len(self.members)

    @property
    def scale(self) -> float:
        """Rows of the private table that one row of a member stands for."""
        return self.total / self.members.shape[1]

    def values(self, question: Learnt) -> Floats:
        """Each member's answer to a question."""
        if isinstance(question, Statistic) and (lines := self._prepared(question.query)) is not None:
            return lines[:, question.index] * self.scale
        return question_answers(question, self.domain, self.members) * self.scale

    def total_for(self, question: Question) -> Any:
        return np.median(self.values(question))

    def totals_for(self, query: QueryClass) -> Floats:
        return np.median(self._lines(query), axis=0) * self.scale

    def kept(self, mask: NDArray[np.bool_]) -> MedianSet:
        answers = tuple((query, lines[mask]) for query, lines in self.answers)
        return replace(self, members=self.members[mask], answers=answers)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The median of every cell. Most cells are empty in most members, so only the others are looked at."""
        size, count = self.domain.cells(columns), len(self)
        if not columns:
            return np.asarray(self.total)
        places = places_of(columns, self.domain, self.members)
        pairs, times = np.unique(np.arange(count)[:, None] * size + places, return_counts=True)
        cells = pairs % size
        table = np.zeros(size)
        for cell in np.flatnonzero(np.bincount(cells, minlength=size) * 2 >= count):
            found = times[cells == cell]
            table[cell] = np.median(np.concatenate([found, np.zeros(count - found.size)]))
        return table.reshape(self.domain.shape(columns)) * self.scale

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.points.sample(rows, generator)

    @property
    def points(self) -> Points:
        """All members together, as weighted records."""
        places, times = np.unique(self.members, return_counts=True)
        codes = np.stack(np.unravel_index(places, self.domain.shape()), axis=1).astype(np.int64)
        return Points(self.domain, codes, times.astype(np.float64) * (self.scale / len(self)))

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {}

    def _lines(self, query: QueryClass) -> Floats:
        """As prepared at the start; a class that is asked later is answered member by member."""
        prepared = self._prepared(query)
        return class_answers(query, self.domain, self.members) if prepared is None else prepared

    def _prepared(self, query: object) -> Floats | None:
        return next((lines for own, lines in self.answers if own is query), None)


@dataclass(frozen=True, eq=False)
class Halving:
    """Throw away every database on the wrong side of the median: T(alpha) = log2 |net| (G theorem 5.8).

    Nothing here needs linear questions, so it also serves classes that are not linear (G theorem 5.10).
    """

    queries: tuple[QueryClass, ...]
    net: IntArray

    def start(self, domain: Domain, total: float) -> MedianSet:
        answers = tuple((query, class_answers(query, domain, self.net)) for query in self.queries)
        return MedianSet(domain, self.net, total, answers)

    def apply(self, hypothesis: MedianSet, question: Learnt, value: Any, slack: float = 0.0) -> MedianSet:
        """At least half of the members go; if that is all of them, those nearest to the value stay."""
        values, wanted = hypothesis.values(question), float(value)
        middle = float(np.median(values))
        if abs(wanted - middle) < slack:
            return hypothesis
        right = values < middle if wanted < middle else values > middle
        if not right.any():
            distance = np.abs(values - wanted)
            right = distance == distance.min()
        return hypothesis.kept(right)

    def steps(self, domain: Domain, alpha: float) -> float:
        return math.log2(len(self.net))
