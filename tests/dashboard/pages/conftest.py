"""Tables at the desk that tests of several pages begin with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain


@pytest.fixture
def small(desk: Desk) -> DeskTable:
    """A small table at the desk."""
    frame = pd.DataFrame({"age": range(100), "ill": [True, False] * 50})
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 5},
            {"name": "ill", "kind": "booleans"},
        ]
    )
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2, "1e-9"), name="small")


@pytest.fixture
def mixed(desk: Desk) -> DeskTable:
    """A table with columns of every kind."""
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": generator.integers(0, 100, 400),
            "height": generator.normal(170, 10, 400),
            "town": generator.choice(["north", "south", "west"], 400),
            "ill": generator.random(400) < 0.3,
            "insured": generator.random(400) < 0.8,
        }
    )
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 16},
            {"name": "height", "kind": "reals", "low": 140, "high": 200, "bins": 8},
            {"name": "town", "kind": "categories", "values": ["north", "south", "west"]},
            {"name": "ill", "kind": "booleans"},
            {"name": "insured", "kind": "booleans"},
        ]
    )
    return desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(20, "1e-9"), name="mixed")
