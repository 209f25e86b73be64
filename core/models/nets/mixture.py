"""A distribution over databases that answers by its mean: a strategy in a game whose moves are databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.base.arrays import Codes, Floats, IntArray
from core.models.nets.net_answers import class_answers, places_of, question_answers
from core.models.points import Points
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import Question
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class DatabaseMixture:
    """Databases of equally many rows with their probabilities, each scaled to the number of rows of the private table.

    A question is answered by the mean of its members' answers, whether it is a sum over the rows or not; for sums that
    is the answer of all members together, from which records are drawn. Where members miss a question by a on average,
    the mean misses it by at most a.

    **Runtime** a question O(members x rows), a class O(members x questions).
    """

    domain: Domain
    members: IntArray
    """One database per line: the places of its rows in the universe."""
    shares: Floats
    """The probability of each."""
    total: float

    @property
    def scale(self) -> float:
        """Rows of the private table that one row of a member stands for."""
        return self.total / self.members.shape[1]

    def total_for(self, question: Question) -> Any:
        return self.shares @ question_answers(question, self.domain, self.members) * self.scale

    def totals_for(self, query: QueryClass) -> Floats:
        return np.asarray(self.shares @ class_answers(query, self.domain, self.members) * self.scale)

    def marginal(self, columns: Sequence[str]) -> Floats:
        places = places_of(columns, self.domain, self.members)
        weights = np.broadcast_to(self.shares[:, None] * self.scale, places.shape)
        table = np.bincount(places.ravel(), weights.ravel(), minlength=self.domain.cells(columns))
        return table.astype(np.float64).reshape(self.domain.shape(columns))

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return self.points.sample(rows, generator)

    @property
    def points(self) -> Points:
        """All members together, as weighted records."""
        places, inverse = np.unique(self.members, return_inverse=True)
        weights = np.bincount(inverse.ravel(), np.repeat(self.shares * self.scale, self.members.shape[1]))
        codes = np.stack(np.unravel_index(places, self.domain.shape()), axis=1).astype(np.int64)
        return Points(self.domain, codes, weights.astype(np.float64))

    def tables(self) -> dict[tuple[str, ...], Floats]:
        return {}
