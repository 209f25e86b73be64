"""Small public tables that several tests count and release."""

from __future__ import annotations

import numpy as np

from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells

SMALL = Domain(
    (
        Categories(name="colour", values=("red", "green", "blue")),
        Integers(name="size", low=0, high=3),
        Booleans(name="old"),
    )
)


def small_cells(rows: int = 5_000, seed: int = 1) -> np.ndarray:
    """A correlated histogram over SMALL with the given number of rows."""
    generator = np.random.default_rng(seed)
    colour = generator.integers(0, 3, rows)
    size = np.clip(colour + generator.integers(0, 2, rows), 0, 3)
    old = (generator.random(rows) < (0.2 + 0.15 * size)).astype(int)
    return np.bincount((colour * 4 + size) * 2 + old, minlength=24).reshape(SMALL.shape())


def small_counts(rows: int = 5_000, unit: Unit | None = None, seed: int = 1) -> Cells:
    return Cells(SMALL, small_cells(rows, seed), unit or Unit.row())
