"""Reading a source: many tables at once, or only the combinations that occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.base.errors import Refused
from core.base.wording import amount
from core.queries.kit.checks import MOST_CELLS
from core.queries.kit.protocol import Source
from core.table.counts import prepare


@runtime_checkable
class Together(Protocol):
    """A source that computes many tables at once, from shared partial sums."""

    def marginals(self, sets: Sequence[Columns]) -> Mapping[Columns, NDArray[Any]]: ...


@runtime_checkable
class Listed(Protocol):
    """A source that knows which combinations occur: a private table, or records."""

    def combinations(self, columns: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[Any]]: ...


@runtime_checkable
class WithRecords(Protocol):
    """A model that answers from tables, and from records where it has no table."""

    @property
    def points(self) -> Listed: ...


def tables_of(source: Source, sets: Sequence[Columns]) -> list[NDArray[Any]]:
    """The tables over these column sets, computed together where the source can."""
    if isinstance(source, Together) and len(sets) > 1:
        found = source.marginals(sets)
        return [found[columns] for columns in sets]
    prepare(source, sets)
    return [source.marginal(columns) for columns in sets]


def distinct(source: Source, columns: Columns) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Combinations of codes that occur, one per line, and how often; never larger than the table or its records.

    A model that answers from tables is read where its table fits, otherwise by its records.
    """
    if isinstance(source, Listed):
        return source.combinations(columns)
    cells = source.domain.cells(columns)
    if cells > MOST_CELLS and isinstance(source, WithRecords):
        return source.points.combinations(columns)
    if cells > MOST_CELLS:
        raise Refused(
            f"These columns have {amount(cells)} combinations and a model without records is read for at most "
            f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
        )
    table = source.marginal(columns)
    codes = np.argwhere(table).astype(np.int64)
    return codes, table[tuple(codes.T)]
