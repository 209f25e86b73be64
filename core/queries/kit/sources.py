"""Reading a source: many tables at once, or only the combinations that occur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import Refused
from core.base.wording import amount
from core.models.points import Points
from core.queries.kit.checks import MOST_CELLS
from core.queries.kit.protocol import Columns, Source


def tables_of(source: Source, sets: Sequence[Columns]) -> list[NDArray[Any]]:
    """The tables over these column sets; a dense model computes them together, from shared partial sums."""
    together = getattr(source, "marginals", None)
    if together is not None and len(sets) > 1:
        found = together(sets)
        return [found[columns] for columns in sets]
    return [source.marginal(columns) for columns in sets]


def distinct(source: Source, columns: Columns) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Combinations of codes that occur, one per line, and how often; never larger than the table or its records.

    A private table knows them; a model that answers from tables is read where its table fits, otherwise by its records.
    """
    points = getattr(source, "points", None)
    if callable(points):
        codes, counts = points(columns)
        return codes, counts
    records = source if isinstance(source, Points) else points
    cells = source.domain.cells(columns)
    if isinstance(records, Points) and (records is source or cells > MOST_CELLS):
        places = [records.domain.names.index(column) for column in columns]
        return records.codes[:, places], records.weights
    if cells > MOST_CELLS:
        raise Refused(
            f"These columns have {amount(cells)} combinations and a model without records is read for at most "
            f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
        )
    table = source.marginal(columns)
    codes = np.argwhere(table).astype(np.int64)
    return codes, table[tuple(codes.T)]
