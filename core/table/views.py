"""A private table seen through a public function of its rows: columns that were recoded.

**Privacy** every row becomes one row, by a rule that looks at that row alone: neighbouring tables stay neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter, printable
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts, Projected, prepare

LARGEST_DENSE = 2**20
"""Tables with more cells than this are counted by the combinations that occur."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """A column as a public function of a column that is there."""

    source: str
    groups: IntArray
    """The new code of every code of the source."""

    def __post_init__(self) -> None:
        groups = np.array(self.groups, dtype=np.int64)
        groups.setflags(write=False)
        object.__setattr__(self, "groups", groups)


@dataclass(frozen=True, eq=False)
class Recoded:
    """The counts of a table under a schema of recoded columns."""

    counts: Counts
    domain: Domain
    recodings: Mapping[str, Recoding]

    def __post_init__(self) -> None:
        for name in self.domain.names:
            recoding, size = self.recodings[name], self.domain[name].size
            if recoding.groups.shape != (self.counts.domain[recoding.source].size,):
                raise BadParameter("groups", f"'{printable(name)}' needs one code for every code of its source.")
            if recoding.groups.min(initial=0) < 0 or recoding.groups.max(initial=0) >= size:
                raise BadParameter("groups", f"'{printable(name)}' has the codes 0 to {size - 1:,}.")

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        return self.counts.public_rows

    def project(self, columns: Sequence[str]) -> Projected:
        return Projected(self, self.domain.project(columns))

    def marginal(self, columns: Sequence[str]) -> IntArray:
        sources = [self.recodings[name].source for name in columns]
        plain = len(set(sources)) == len(sources)
        if plain and (self.counts.domain.cells(sources) <= LARGEST_DENSE or len(columns) < 2):
            table = self.counts.marginal(sources)
            for axis, name in enumerate(columns):
                table = _merged(table, self.recodings[name].groups, self.domain[name].size, axis)
            return table
        codes, often = self.combinations(columns)
        table = np.zeros(self.domain.shape(columns), dtype=np.int64)
        np.add.at(table, tuple(codes.T), often)
        return table

    def prepare(self, tables: Sequence[Sequence[str]]) -> None:
        prepare(self.counts, [list(dict.fromkeys(self.recodings[name].source for name in each)) for each in tables])

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Combinations of codes that occur; one may be listed more than once."""
        sources = list(dict.fromkeys(self.recodings[name].source for name in columns))
        codes, often = self.counts.combinations(sources)
        recoded = [self.recodings[name] for name in columns]
        groups = [each.groups[codes[:, sources.index(each.source)]] for each in recoded]
        return np.stack(groups, axis=1) if groups else codes, often


def _merged(table: IntArray, groups: IntArray, size: int, axis: int) -> IntArray:
    """Sums over the cells of each group along one axis."""
    if np.array_equal(groups, np.arange(size)):
        return table
    order = np.argsort(groups, kind="stable")
    present = np.unique(groups)
    starts = np.searchsorted(groups[order], present)
    summed = np.add.reduceat(table.take(order, axis=axis), starts, axis=axis)
    if present.size == size:
        return np.asarray(summed)
    shape = list(table.shape)
    shape[axis] = size
    found = np.zeros(shape, dtype=np.int64)
    found[(slice(None),) * axis + (present,)] = summed
    return found
