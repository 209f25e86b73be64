"""What a model gives to the public, before it is sealed: records drawn once, tables rounded once.

**Privacy** Post-processing of a released model; the private table is not seen. What is measured against the table is
measured on this, and what is sealed is this (`sealing.py`), so that a figure speaks of what a reader gets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns
from core.models.protocol import Model
from core.models.tables import lookup
from core.release.lawful import Lawful
from core.release.listing import fitting, room_for
from core.release.published import OwnAnswers, Published

MOST_TABLE_CELLS = 2**22
"""Released tables beyond this many counts stay out of the artefact; the records answer in their place."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Records and tables of a release that is about to be sealed."""

    model: Model
    records: pd.DataFrame
    """In the order of the source's columns."""
    published: Published
    asked: tuple[Columns, ...]
    """Tables that the plan asks for and for which there is room."""
    left_out: tuple[Columns, ...]
    """Those for which there is none; the certificate names them."""

    @classmethod
    def of(
        cls,
        model: Model,
        rows: int,
        layout: Sequence[str],
        generator: np.random.Generator,
        announced: Sequence[Columns] = (),
        own: OwnAnswers = (),
    ) -> Drawn:
        """So many records, and the tables that were announced beside those that the model has of its own.

        `layout` gives the columns in the order of the source; their types are those of the schema. `own` are answers of
        the mechanism that neither records nor tables give.
        """
        domain = model.domain
        codes, records = draw_records(model, rows, layout, generator)
        asked = tuple(fitting(announced, domain, room_for(domain)))
        released = Lawful.of(domain).tables(_released(model, asked), codes)
        tables = {columns: rounded(table) for columns, table in released.items()}
        left_out = tuple(columns for columns in dict.fromkeys(announced) if columns not in set(asked))
        return cls(model, records, Published.of(domain, tables, codes, own), asked, left_out)


def draw_records(
    model: Model, rows: int, layout: Sequence[str], generator: np.random.Generator
) -> tuple[Codes, pd.DataFrame]:
    """Records of a model that keep the rules of its schema: as codes, and as they are written, in another order."""
    lawful = Lawful.of(model.domain)
    codes = lawful.records(model.sample(rows, generator), generator)
    # Models lay records out in the order of their cells; nobody expects a sorted table.
    return codes, lawful.decoded(generator.permutation(codes, axis=0), generator)[list(layout)]


def rounded(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts to a thousandth of a row, or of the mean count where that is below one: many small counts add up."""
    mean = float(table.mean()) if table.size else 1.0
    return np.round(table, 3 + max(0, math.ceil(-math.log10(mean)) if mean > 0 else 0))


def _released(model: Model, asked: Sequence[Columns]) -> dict[Columns, NDArray[np.float64]]:
    """The tables of a model, and those that were asked for and that none of them holds.

    A model that publishes no table means its records to answer.
    """
    own = model.tables()
    tables = {columns: own[columns] for columns in fitting(own, model.domain, MOST_TABLE_CELLS)}
    missing = [columns for columns in asked if own and lookup(tables, columns) is None]
    return tables | {columns: model.marginal(columns) for columns in missing}
