"""Attacks on a stored release at the desk: free of charge, on a sample where the table is too large."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.attacks import release_attack
from core.base.errors import BadParameter, Unknown
from core.desk import release_attacks
from core.schema.domain import Integers

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=9) for name in "abcd"))


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def released(desk):
    """A table and the id of its release, whose tables are of three of its four columns."""
    frame = pd.DataFrame(np.random.default_rng(2).integers(0, 10, (500, 4)), columns=list("abcd"))
    table = desk.add_table(frame, DOMAIN, unit=Unit.row("replace"), budget=Budget(3))
    plan = desk.plan(table, [Marginals(order=2, columns=("a", "b", "c"))], mechanism="laplace", budget=Budget(1))
    desk.release(plan)
    return table, plan.id


@pytest.mark.exhaustive
def test_it_costs_nothing_and_looks_at_the_columns_of_the_release(desk, released):
    table, plan_id = released
    before = desk.statement(table)
    stages = []
    found = desk.attack(plan_id, "c", runs=2, progress=lambda stage, share: stages.append((stage, share)))
    assert desk.statement(table) == before
    assert found.bound == pytest.approx(0.4621, abs=1e-4) and (found.epsilon, found.delta) == (1.0, 0.0)
    assert (found.report.rows, found.report.sampled, found.report.targets) == (500, False, 250 // 2 * 2)
    assert found.stored.people == 500 and 0 <= found.stored.right <= 1
    assert found.stored.common >= 0.1
    assert [stage for stage, _ in stages].count("Attacking") == 2
    with pytest.raises(BadParameter, match="'d' must be one of several columns"):
        desk.attack(plan_id, "d")


@pytest.mark.exhaustive
def test_a_table_that_is_too_large_is_sampled_and_says_so(desk, released, monkeypatch):
    monkeypatch.setattr(release_attacks, "MOST_ROWS", 200)
    found = desk.attack(released[1], "c", runs=1)
    assert found.report.rows == 200 and found.report.sampled


@pytest.mark.exhaustive
def test_only_stored_releases_are_attacked(desk, released):
    with pytest.raises(Unknown, match="no stored release"):
        desk.attack("nothing", "c")
    assert release_attack.MOST_TARGETS == 1_000
