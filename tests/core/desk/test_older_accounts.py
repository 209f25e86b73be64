"""An account that an older version opened pays, under this one, exactly what it promised."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import OutOfBudget
from core.privacy import privacy_filter
from core.privacy.privacy_filter import HALVED
from core.schema.domain import Booleans, Domain, Integers

DOMAIN = Domain((Booleans(name="ill"), Integers(name="age", low=0, high=9)))
PEOPLE = pd.DataFrame({"ill": [row % 3 == 0 for row in range(300)], "age": [row % 10 for row in range(300)]})
WHOLE, HALF = Budget("1", "1e-9"), Budget("1/2", "1e-9")
TABLES = [Marginals(order=1)]


@pytest.mark.parametrize("mechanism", ["gaussian", "iterative-weights"])
def test_what_was_paid_before_an_update_is_made_after_it(
    mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of delta was for Gaussian noise; a plan that was paid then is no larger now, and the rest can be spent."""
    with monkeypatch.context() as then:
        then.setattr(privacy_filter, "SHARES", HALVED)
        desk = Desk(tmp_path / "desk")
        held = desk.add_table(PEOPLE, DOMAIN, unit=Unit.row(), budget=WHOLE, name="people")
        older = desk.plan(held, TABLES, mechanism=mechanism, budget=HALF)
        identity, paid = held.id, desk._parts.payments.reserve(older)
        desk.close()

    desk = Desk(tmp_path / "desk")
    held = desk.table(identity)
    again = desk.plan(held, TABLES, mechanism=mechanism, budget=HALF)
    assert again.id == paid and again.cost == older.cost
    assert desk.release(again).certificate.epsilon == Fraction(1, 2)
    left = Budget(desk.statement(held).left_epsilon, WHOLE.delta)
    rest = desk.plan(held, TABLES, mechanism=mechanism, budget=left, edition=2)
    desk.release(rest)
    with pytest.raises(OutOfBudget):
        desk.release(desk.plan(held, TABLES, mechanism=mechanism, budget=Budget("1/100", "1e-9"), edition=3))
    desk.close()
