"""Plan as it opens, on schemas of one to forty columns: something is recommended, and nothing is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.planning.rehearsal import rehearse
from core.planning.simulation.stand_ins import Repeated
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.stand_in import StandIn
from tests.core.schemas import SCHEMAS
from tests.dashboard.pages.kit.elements import button, errors, go_on
from tests.dashboard.pages.kit.plan_page import mechanism, planned

Open = Callable[..., AppTest]
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
