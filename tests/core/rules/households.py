"""A schema with every kind of rule, and tables over it."""

from __future__ import annotations

from datetime import date

import numpy as np

from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals

COLUMNS = (
    Integers(name="age", low=0, high=99, bins=20),
    Categories(name="marital", values=("single", "married")),
    Booleans(name="smoker", missing=True),
    Integers(name="cigarettes", low=0, high=40),
    Dates(name="admission", low=date(2024, 1, 1), high=date(2024, 12, 31), bins=12),
    Dates(name="discharge", low=date(2024, 1, 1), high=date(2024, 12, 31), bins=12, missing=True),
    Reals(name="wages", low=0, high=1000, bins=10, decimals=2),
    Reals(name="benefits", low=0, high=1000, bins=10, decimals=2),
    Reals(name="total", low=0, high=2000, bins=10, decimals=2),
    Categories(name="region", values=("north", "south")),
    Categories(name="postcode", values=(1, 2, 3, 4)),
)
IMPOSSIBLE = "never: age < 15 and marital = married"
IMPLIED = "if smoker = false then cigarettes = 0"
ORDER = "discharge >= admission"
SUM = "total = wages + benefits"
KEY = "postcode -> region"
COUNTS = ("count(region = north) = 120", "count(region = south) = 80", "count(age >= 65) = 30")
RULES = (IMPOSSIBLE, IMPLIED, ORDER, SUM, KEY, *COUNTS)
PLAIN = Domain(COLUMNS)


def households(*rules: str) -> Domain:
    return PLAIN.obeying(rules)


def any_codes(rows: int, seed: int = 1) -> np.ndarray:
    """Records of any kind, most of which break a rule."""
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, size, rows) for size in PLAIN.sizes], axis=1).astype(np.int64)
