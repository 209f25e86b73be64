"""What is published about some people, and how it tells whether a person is among them and what their secret is.

Two documented ways to decide about a person whose row is known:

- **the closest record** (distance to the closest record): members are near to what was published of them;
- **density**: the logarithm of how many rows a table has in the person's cells against how many a reference has, summed
  over the tables. Members raise their own cells (Homer et al. 2008, by likelihood ratios).

And of the secret of a person whose other columns are known: what the closest records say most often, or what the cells
with the secret make likeliest. Everything is encoded; a larger number always speaks for membership.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Flags, Floats, IntArray
from core.schema.domain import Domain
from core.table.counts import Source

MOST_TABLES = 200
"""Tables that a density looks at; more columns give a random choice of them."""
MOST_CELLS = 2**20
SMOOTHED = 0.1
"""Rows added to each count, so that an empty cell speaks strongly and not infinitely."""
CERTAIN = 1e6
"""More than any sum of logarithms."""
_CHUNK = 2**22
"""Distances worked out at a time."""


class Publication(Protocol):
    """Something that was published about the rows inside."""

    @property
    def name(self) -> str: ...

    def suspicions(self, targets: Codes, reference: Codes) -> Mapping[str, Floats]:
        """For each way to attack, how much speaks for each target being inside; the reference is of the same people."""

    def guesses(self, targets: Codes, secret: int) -> Mapping[str, IntArray]:
        """For each way to attack, the code of a secret column of each target, from the others."""


@dataclass(frozen=True, eq=False)
class PublishedRecords:
    """Records as they are: the rows without their names, or synthetic ones, with tables of a model if there is one."""

    name: str
    domain: Domain
    records: Codes
    model: Source | None = None
    """Whatever answers tables more exactly than the records do."""

    def suspicions(self, targets: Codes, reference: Codes) -> Mapping[str, Floats]:
        known, last = self._distances(targets, len(self.domain) - 1)
        nearest = np.concatenate([(a + b).min(axis=1) for a, b in zip(known, last, strict=True)])
        found = {"closest record": -nearest.astype(np.float64)}
        if self.model is not None:
            sets = column_sets(self.domain, 2)
            found["density"] = density(self.domain, self._model_table, sets, targets, reference)
        return found

    def guesses(self, targets: Codes, secret: int) -> Mapping[str, IntArray]:
        chunks, _ = self._distances(targets, secret)
        values = self.records[:, secret]
        size = self.domain[self.domain.names[secret]].size
        found = []
        for chunk in chunks:
            nearest = chunk <= chunk.min(axis=1, keepdims=True) + 1e-6
            votes = np.stack([nearest @ (values == code) for code in range(size)], axis=1)
            found.append(votes.argmax(axis=1))
        told = {"closest record": np.concatenate(found)}
        if self.model is not None:
            sets = [columns for columns in column_sets(self.domain, 2) if secret in columns]
            told["density"] = likeliest(self.domain, self._model_table, sets, targets, secret)
        return told

    def _distances(self, targets: Codes, secret: int) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """From each target to each record, over all columns but one, and over that one: 0 to 1 for each column.

        Ordered columns differ by their share of the range, others by 0 or 1.
        """
        known: list[NDArray[np.float32]] = []
        last: list[NDArray[np.float32]] = []
        step = max(1, _CHUNK // max(1, len(self.records)))
        for start in range(0, len(targets), step):
            chunk = targets[start : start + step]
            total = np.zeros((len(chunk), len(self.records)), dtype=np.float32)
            for place, attribute in enumerate(self.domain):
                mine, theirs = chunk[:, place, None].astype(np.float32), self.records[None, :, place].astype(np.float32)
                if attribute.ordered and attribute.size > 1:
                    off = np.abs(mine - theirs) / np.float32(attribute.size - 1)
                else:
                    off = (mine != theirs).astype(np.float32)
                if place == secret:
                    last.append(off)
                else:
                    total += off
            known.append(total)
        return known, last

    def _model_table(self, columns: tuple[int, ...]) -> Floats:
        assert self.model is not None
        names = [self.domain.names[place] for place in columns]
        return np.maximum(np.asarray(self.model.marginal(names), dtype=np.float64), 0.0)


@dataclass(frozen=True, eq=False)
class ExactTables:
    """The exact counts of tables over four columns at a time (or over all, where there are fewer).

    Whoever would fall into an empty cell of an exact table is certainly not inside.
    """

    name: str
    domain: Domain
    rows: Codes

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        return column_sets(self.domain, min(4, len(self.domain)))

    def suspicions(self, targets: Codes, reference: Codes) -> Mapping[str, Floats]:
        found = density(self.domain, self._table, self._sets, targets, reference)
        return {"density": found - CERTAIN * self._outside(targets)}

    def _outside(self, targets: Codes) -> Flags:
        empty = np.zeros(len(targets), dtype=bool)
        for columns in self._sets:
            empty |= self._table(columns)[tuple(targets[:, list(columns)].T)] == 0
        return empty

    def guesses(self, targets: Codes, secret: int) -> Mapping[str, IntArray]:
        sets = [columns for columns in self._sets if secret in columns]
        return {"density": likeliest(self.domain, self._table, sets, targets, secret)}

    def _table(self, columns: tuple[int, ...]) -> Floats:
        return counted(self.domain, self.rows, columns)


def column_sets(domain: Domain, size: int) -> list[tuple[int, ...]]:
    """Sets of places of columns whose tables are small enough, at most so many of them, spread evenly."""
    width = min(size, len(domain))
    every = [
        columns
        for columns in combinations(range(len(domain)), width)
        if domain.cells([domain.names[place] for place in columns]) <= MOST_CELLS
    ]
    if len(every) <= MOST_TABLES:
        return every
    return [every[place] for place in np.linspace(0, len(every) - 1, MOST_TABLES).astype(int)]


def counted(domain: Domain, rows: Codes, columns: Sequence[int]) -> Floats:
    shape = tuple(domain[domain.names[place]].size for place in columns)
    places = np.ravel_multi_index(tuple(rows[:, list(columns)].T), shape)
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def density(
    domain: Domain,
    table: Callable[[tuple[int, ...]], Floats],
    sets: Sequence[tuple[int, ...]],
    targets: Codes,
    reference: Codes,
) -> Floats:
    """The sum over tables of ln(published count/reference count) in each target's cells, both smoothed."""
    found = np.zeros(len(targets))
    for columns in sets:
        told, usual = table(columns), counted(domain, reference, columns)
        usual = usual * (told.sum() / max(1.0, usual.sum()))
        cells = tuple(targets[:, list(columns)].T)
        found += np.log(told[cells] + SMOOTHED) - np.log(usual[cells] + SMOOTHED)
    return found


def likeliest(
    domain: Domain,
    table: Callable[[tuple[int, ...]], Floats],
    sets: Sequence[tuple[int, ...]],
    targets: Codes,
    secret: int,
) -> IntArray:
    """The code that the cells of the other columns make likeliest: logarithms of its share in each of them, summed."""
    size = domain[domain.names[secret]].size
    found = np.zeros((len(targets), size))
    for columns in sets:
        told = np.moveaxis(table(columns), columns.index(secret), -1)
        others = [place for place in columns if place != secret]
        lines = told[tuple(targets[:, others].T)].reshape(-1, size) + SMOOTHED / size
        found += np.log(lines) - np.log(lines.sum(axis=1, keepdims=True))
    return found.argmax(axis=1)
