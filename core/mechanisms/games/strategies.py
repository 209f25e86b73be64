"""Databases as moves of the query release game: what each of them answers, and what it pays (G section 5.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.base.arrays import Floats, IntArray
from core.kernel.databases.mixture_errors import MOST_WEIGHT, MixtureErrors
from core.kernel.query import Query, Statistic
from core.kernel.scores import grid_of
from core.models.nets.net_answers import class_answers
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import place_of, whole
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Strategies:
    """The databases that the data player mixes, and what each answers to every question of the query player."""

    queries: tuple[QueryClass, ...]
    domain: Domain
    members: IntArray
    rows: float
    """Of the private table, public or measured; every database is scaled to them."""

    def __len__(self) -> int:
        return len(self.members)

    def errors(self, mixture: Floats) -> MixtureErrors:
        """How much every question costs this mixture on average; its probabilities are rounded down."""
        weights = np.floor(mixture * MOST_WEIGHT).astype(np.int64)
        return MixtureErrors(self.queries, self.domain, self._whole, weights)

    def question(self, place: int) -> Query | Statistic:
        query, index = place_of(self.queries, self._sizes, place)
        if isinstance(query, Lipschitz):
            return query.statistic(self.domain, index)
        return query.member(self.domain, index)

    def costs(self, place: int, value: float) -> Floats:
        """What each database pays for a question that was measured, from 0 to 1."""
        query, _ = place_of(self.queries, self._sizes, place)
        most = query.denominator(self.domain) * self.rows
        return np.asarray(np.abs(self._answers[:, place] - min(max(value, 0.0), most)) / most)

    @cached_property
    def _lines(self) -> Sequence[Floats]:
        """For each class the totals of every database, in rows of the private table."""
        scale = self.rows / self.members.shape[1]
        return [class_answers(query, self.domain, self.members) * scale for query in self.queries]

    @cached_property
    def _answers(self) -> Floats:
        return np.concatenate(self._lines, axis=1)

    @cached_property
    def _whole(self) -> IntArray:
        grid = grid_of(self.queries, self.domain)
        factors = [grid // query.denominator(self.domain) for query in self.queries]
        return np.concatenate([whole(lines, each) for lines, each in zip(self._lines, factors, strict=True)], axis=1)

    @cached_property
    def _sizes(self) -> list[int]:
        return [lines.shape[1] for lines in self._lines]
