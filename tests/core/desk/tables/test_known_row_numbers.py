"""The number of rows counts as known only where it is public, and measuring becomes usual by it alone."""

from __future__ import annotations

import pytest

from core import Budget, Desk, Unit
from tests.core.people import DOMAIN, PAIRS, people

TOTAL = Budget(50, "1e-9")


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.mark.exhaustive
def test_a_public_number_of_rows_is_known(desk):
    held = desk.add_table(people(), DOMAIN, unit=Unit.row("replace"), budget=TOTAL)
    assert desk.known_rows.of(held) == 3_000
    assert desk.plan(held, PAIRS, mechanism="laplace", budget=Budget(20)).measure
    assert not desk.plan(held, PAIRS, mechanism="laplace", budget=Budget("0.1")).measure


@pytest.mark.exhaustive
def test_a_private_one_only_by_what_was_released(desk):
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert desk.known_rows.of(held) is None
    first = desk.plan(held, PAIRS, mechanism="laplace", budget=Budget(20))
    assert not first.measure
    rows = desk.release(first).certificate.synthetic_rows
    assert desk.known_rows.of(held) == rows != 0
    assert desk.plan(held, PAIRS, mechanism="laplace", budget=Budget(20)) == first, "paid for: the same plan again"
    second = desk.plan(held, PAIRS, mechanism="laplace", budget=Budget(20), edition=2)
    assert second.measure
    released = desk.release(second)
    assert released.measured is not None
    assert desk.known_rows.of(held) == released.measured.rows


@pytest.mark.exhaustive
def test_a_chosen_number_of_records_tells_nothing(desk):
    held = desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)
    desk.release(desk.plan(held, PAIRS, mechanism="laplace", budget=Budget(1), records=12))
    assert desk.known_rows.of(held) is None
