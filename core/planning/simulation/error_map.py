"""Where a release will be off: the errors of every column, every pair and every class, on public stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.base.arrays import Columns
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism
from core.planning.scoring import score
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.planning.simulation.stand_ins import StandIns
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import rows_of
from core.queries.kit.sources import tables_of
from core.schema.domain import Domain

MOST_COLUMNS = 40
"""Columns whose pairs are compared, the first ones of the schema: 780 pairs."""
MOST_CELLS = 1_000_000
"""Of a pair whose table is compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorMap:
    """Mean absolute errors in rows, as one run on a stand-in had them."""

    columns: tuple[str, ...]
    tables: Mapping[Columns, float]
    """Of a count, by the one or two columns of its table; a pair that is too large to be compared is left out."""
    misplaced: Mapping[Columns, float]
    """The share of the rows that would have to move for the table to be right: half the sum of its errors."""
    classes: Mapping[str, tuple[float, float]]
    """Mean and largest error of each chosen class, by its sentence."""


def map_errors(mechanism: Mechanism, stand_ins: StandIns, place: int = 0) -> ErrorMap:
    """Run once on the stand-in at a place and compare all its tables, whether they were asked for or not."""
    generator = np.random.default_rng([2, place, *bytes.fromhex(stand_ins.key)[:8]])
    truth = stand_ins.table(place)
    domain = asked_columns(mechanism.queries, truth.domain)
    truth = truth.project(domain.names)
    cost = mechanism.cost(domain, truth.unit)
    model = mechanism.run(Kernel(truth, SimulatedNoise(generator), cost))
    rows = float(rows_of(truth))
    chosen = {
        each.sentence: (each.mean * rows, each.largest * rows)
        for each in score(mechanism.queries, truth, model, generator)
    }
    tables = _compared(domain)
    pairs = zip(tables_of(truth, tables), tables_of(model, tables), strict=True)
    errors = {columns: np.abs(true - said) for columns, (true, said) in zip(tables, pairs, strict=True)}
    return ErrorMap(
        columns=domain.names[:MOST_COLUMNS],
        tables={columns: float(found.mean()) for columns, found in errors.items()},
        misplaced={columns: float(found.sum()) / 2 / max(rows, 1.0) for columns, found in errors.items()},
        classes=chosen,
    )


def _compared(domain: Domain) -> list[Columns]:
    names = domain.names[:MOST_COLUMNS]
    return [
        columns for order in (1, 2) for columns in combinations(names, order) if domain.cells(columns) <= MOST_CELLS
    ]
