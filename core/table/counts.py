"""The seam between private data and mechanisms: a thing that can be counted.

A mechanism sees neither rows nor counts. The kernel asks a `Counts` for tables of integer counts over declared columns;
`table.Table` is the one behind the desk, `Cells` holds a small histogram directly (tests, benchmarks, studies on public
data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.axes import summed
from core.privacy.unit import Unit
from core.schema.domain import Domain


class Source(Protocol):
    """Anything with counts over the public schema: a private table, a model, released records."""

    @property
    def domain(self) -> Domain: ...

    def marginal(self, columns: Sequence[str]) -> NDArray[Any]: ...


class Counts(Protocol):
    """Integer counts of a private table over its public schema."""

    @property
    def domain(self) -> Domain: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def public_rows(self) -> int | None:
        """The number of rows where `unit.public_rows`; otherwise None."""

    def marginal(self, columns: Sequence[str]) -> IntArray:
        """Counts of shape `domain.shape(columns)`; no columns gives the number of rows as a 0-d array."""

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Distinct combinations of codes that occur (one per line) and how often; never larger than the table."""

    def project(self, columns: Sequence[str]) -> Counts:
        """The same rows seen through some of their columns."""


@runtime_checkable
class CountsTogether(Protocol):
    """Counts that are had cheaper together: where rows are far away, every question costs a pass over all of them."""

    def prepare(self, tables: Sequence[Sequence[str]]) -> None:
        """Count these tables at once; they are asked for next."""


def prepare(source: Source, tables: Sequence[Sequence[str]]) -> None:
    """Say which tables will be asked for, to whoever makes use of it. Nothing comes back."""
    if isinstance(source, CountsTogether):
        source.prepare(tables)


@dataclass(frozen=True, eq=False)
class Projected:
    """The counts of a table over some of its columns.

    **Privacy** every row becomes one row, so neighbouring tables stay neighbours.
    """

    counts: Counts
    domain: Domain

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        return self.counts.public_rows

    def marginal(self, columns: Sequence[str]) -> IntArray:
        return self.counts.marginal([self.domain[name].name for name in columns])

    def prepare(self, tables: Sequence[Sequence[str]]) -> None:
        prepare(self.counts, [[self.domain[name].name for name in columns] for columns in tables])

    def project(self, columns: Sequence[str]) -> Projected:
        return Projected(self.counts, self.domain.project(columns))

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        return self.counts.combinations([self.domain[name].name for name in columns])


@dataclass(frozen=True)
class Cells:
    """A whole table given as its dense histogram over all columns of a small domain."""

    domain: Domain
    cells: IntArray
    unit: Unit = field(default_factory=Unit.row)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", np.asarray(self.cells, dtype=np.int64).reshape(self.domain.shape()))

    @property
    def public_rows(self) -> int | None:
        return int(self.cells.sum()) if self.unit.public_rows else None

    def marginal(self, columns: Sequence[str]) -> IntArray:
        return summed(self.cells, self.domain.names, columns)

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        table = self.marginal(columns)
        codes = np.argwhere(table)
        return codes.astype(np.int64), table[tuple(codes.T)]

    def project(self, columns: Sequence[str]) -> Projected:
        return Projected(self, self.domain.project(columns))
