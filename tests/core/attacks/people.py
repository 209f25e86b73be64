"""Invented people with many columns, so that most of them are alone with their facts."""

from __future__ import annotations

import numpy as np

from core.base.arrays import Codes
from core.schema.domain import Booleans, Domain, Integers

DOMAIN = Domain(
    (
        *(Integers(name=f"fact {place}", low=0, high=11) for place in range(6)),
        Booleans(name="ill"),
    )
)


def invented(rows: int) -> Codes:
    """Columns hang together a little, and the illness on two of them."""
    generator = np.random.default_rng()
    base = generator.integers(0, 12, (rows, 1))
    facts = np.clip((base + generator.integers(-5, 6, (rows, 6))), 0, 11)
    ill = generator.random(rows) < 0.1 + 0.06 * (facts[:, 0] + facts[:, 1]) / 2
    return np.column_stack([facts, ill]).astype(np.int64)
