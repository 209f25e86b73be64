"""A session where none is named: the best on public tables, and the same one whenever the same call is made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter
from core.plans.statements import DeskTable
from core.schema.domain import Booleans, Domain

DOMAIN = Domain(tuple(Booleans(name=f"c{place}") for place in range(10)))
BUDGET = Budget(1, 1e-9)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


def held(desk: Desk, unit: Unit) -> DeskTable:
    frame = pd.DataFrame(np.random.default_rng(0).random((400, 10)) < 0.5, columns=list(DOMAIN.names))
    return desk.add_table(frame, DOMAIN, unit=unit, budget=Budget(10, 1e-9))


@pytest.mark.exhaustive
def test_with_a_public_number_of_rows_trials_decide(desk: Desk) -> None:
    table = held(desk, Unit.row("replace"))
    trial = desk.try_session(table, BUDGET)
    assert "tables of 400 rows" in trial.sentence()
    assert trial.name == "online-tree", "with so few rows a histogram of 1,024 cells is mostly noise"
    assert trial.score <= desk.try_session(table, BUDGET, mechanism="online-histogram").score
    session = desk.ask(table, budget=BUDGET)
    assert session.mechanism.name == trial.name
    assert desk.ask(table, budget=BUDGET) is session


@pytest.mark.exhaustive
def test_what_is_released_later_makes_no_second_session(desk: Desk) -> None:
    table = held(desk, Unit.row())
    session = desk.ask(table, budget=BUDGET)
    assert session.mechanism.name == "online-histogram", "the number of rows is not public"
    desk.release(desk.plan(table, [Marginals(order=1)], mechanism="laplace", budget=BUDGET))
    assert desk.known_rows.of(table) is not None
    spent = desk.statement(table).spent_share
    assert desk.ask(table, budget=BUDGET).id == session.id
    assert desk.statement(table).spent_share == spent


def test_options_need_a_name_and_a_session_a_budget(desk: Desk) -> None:
    table = held(desk, Unit.row())
    with pytest.raises(BadParameter, match="alpha"):
        desk.try_session(table, BUDGET, alpha=0.1)
    with pytest.raises(BadParameter, match="budget"):
        desk.ask(table)
    assert desk.sessions(table) == []
