"""Plan as it opens, on schemas of one to forty columns: something is recommended, and nothing is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.planning.rehearsal import rehearse
from core.planning.simulation.stand_ins import Repeated
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.stand_in import StandIn
from tests.core.schemas import SCHEMAS
from tests.dashboard.pages.kit.elements import button, errors, go_on
from tests.dashboard.pages.kit.plan_page import mechanism, planned

Open = Callable[..., AppTest]
WIDE = 500
FEW = 50
ROWS = (30_000, 10**6, 50, 300_000, 1_000, 10**6, 50, 100_000, 10_000, 50, 3_000)
"""Of the table that what is offered first is run on, for each schema."""


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "rows"), list(zip(SCHEMAS, ROWS, strict=True)))
def test_plan_opens_with_something_that_can_be_released(page: Open, desk: Desk, schema: str, rows: int) -> None:
    domain, generator = SCHEMAS[schema], np.random.default_rng(0)
    few = StandIn.uniform(domain, Unit.row(), FEW, generator)
    desk.add_table(domain.decode(few.codes, generator), domain, unit=Unit.row(), budget=Budget(4, "1e-9"), name="first")
    app = page("plan")
    assert not errors(app)
    # The table that stands for a larger one has 50 rows, which its curator is told; nothing else is warned of.
    assert [warning for warning in app.warning if not warning.value.startswith("The table is small")] == []
    assert "recommended" in mechanism(app).options[0]
    chosen = planned(app).build()
    assert chosen.name == mechanism(app).value
    assert not button(go_on(app), "Release").disabled
    table = Repeated(few, rows // FEW)
    assert np.isfinite(rehearse(chosen, table, Noise()).scores[0].largest)


@pytest.mark.slow
def test_500_columns_are_too_many_for_all_pairs_and_not_for_single_columns(page: Open, desk: Desk) -> None:
    names = [f"q{place}" for place in range(WIDE)]
    domain = Domain(tuple(Integers(name=name, low=0, high=4) for name in names))
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 5, (FEW, WIDE)), columns=names)
    desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(4, "1e-9"), name="wide")
    app = page("plan")
    assert errors(app) == ["Order: gives over 20,000 tables; choose fewer columns or a lower order."]
    app.number_input[0].set_value(1).run()
    assert not errors(app)
    assert "recommended" in mechanism(app).options[0]
    assert not button(go_on(app), "Release").disabled
