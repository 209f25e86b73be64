"""A few thousand invented people, and a desk that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.plans.statements import DeskTable
from core.schema.domain import Booleans, Categories, Integers

DOMAIN = Domain(
    (
        Categories(name="region", values=("north", "south", "east"), other="elsewhere"),
        Integers(name="age", low=0, high=99, bins=10),
        Booleans(name="ill"),
    )
)
PAIRS = [Marginals(order=2)]
TOTAL = Budget(epsilon=2, delta=1e-9)
ONE = Budget(epsilon=1, delta=1e-9)


def people(rows: int = 3_000) -> pd.DataFrame:
    generator = np.random.default_rng(4)
    age = generator.integers(0, 100, rows)
    return pd.DataFrame(
        {
            "person": generator.integers(0, rows // 2, rows),
            "region": generator.choice(["north", "south", "east", "=evil()"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "age": age,
            "ill": generator.random(rows) < age / 150,
        }
    )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def held(desk: Desk) -> DeskTable:
    return desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL, name="people")
