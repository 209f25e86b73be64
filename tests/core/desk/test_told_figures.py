"""What a desk tells before spending, from public facts: plans, ranked plans, budgets and certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.base.errors import DeskError
from core.planning.rehearsal import rehearse
from core.planning.simulation import kept_trials
from core.planning.simulation.expected_error import round_error
from core.planning.simulation.stand_ins import FIRST_GUESS
from core.plans.statements import DeskTable
from core.privacy.noise import Noise
from core.queries.intervals import Intervals
from core.registry import mechanism_from, offline
from core.schema.domain import Booleans, Integers
from core.table.stand_in import StandIn
from core.table.table import Table

DOMAIN = Domain((Integers(name="a", low=0, high=15), Booleans(name="b"), Integers(name="c", low=0, high=3)))
ASKED = [Marginals(order=2)]
ONE = Budget(1, 1e-9)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "workspace")
    yield opened
    opened.close()


def frame(rows: int = 900) -> pd.DataFrame:
    generator = np.random.default_rng(2)
    a = generator.binomial(15, 0.3, rows)
    return pd.DataFrame({"a": a, "b": a > 5, "c": generator.integers(0, 4, rows)})


@pytest.fixture
def table(desk: Desk) -> DeskTable:
    return desk.add_table(frame(), DOMAIN, unit=Unit.row(), budget=Budget(20, 1e-6))


@pytest.mark.exhaustive
def test_a_plan_is_told_without_opening_the_table(
    desk: Desk, table: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "open", lambda folder: pytest.fail("the private table was opened"))
    told = desk.plan(table, ASKED, mechanism="laplace", budget=ONE).expected_error
    assert (told.rows, told.how) == (FIRST_GUESS, "simulated"), "the number of rows is never read off the table"
    declared = desk.stand_ins(table, ASKED, rows=1_000)
    assert desk.plan(table, ASKED, mechanism="laplace", budget=ONE, stand_ins=declared).expected_error.rows == 1_000
    assert desk.recommend(table, ASKED, ONE, rows=1_000).offered[0].figure.rows == 1_000
    assert desk.statement(table).entries == ()


def test_the_number_of_rows_is_known_where_the_unit_makes_it_public(desk: Desk) -> None:
    known = desk.add_table(frame(), DOMAIN, unit=Unit.row("replace"), budget=Budget(20, 1e-6))
    assert desk.stand_ins(known, ASKED).rows == 900


@pytest.mark.exhaustive
def test_a_certificate_carries_what_the_desk_told_and_never_what_a_plan_says(desk: Desk, table: DeskTable) -> None:
    plan = desk.plan(table, ASKED, mechanism="laplace", budget=ONE)
    forged = replace(plan, expected_error=replace(plan.expected_error, mean=1e-6, worst=1e-6))
    certificate = desk.release(forged).certificate
    assert certificate.expected_error == plan.expected_error.to_json()
    assert certificate.expected_error["mean"] == round_error(plan.expected_error.mean)
    assert certificate.expected_error["about"] == plan.expected_error.about


@pytest.mark.exhaustive
def test_what_was_forgotten_is_told_again(desk: Desk, table: DeskTable) -> None:
    plan = desk.plan(table, ASKED, mechanism="laplace", budget=ONE)
    for file in (desk.folder / "figures").glob("plan-*.json"):
        file.write_text("{}")
    assert desk.release(plan).certificate.expected_error == plan.expected_error.to_json()


@pytest.mark.exhaustive
def test_an_earlier_release_stands_in_for_the_columns_it_was_asked_about(desk: Desk, table: DeskTable) -> None:
    desk.release(desk.plan(table, [Marginals(order=1, columns=("a", "b"))], mechanism="laplace", budget=ONE))
    near = desk.stand_ins(table, [Intervals(column="a")])
    assert near.origin == "records of an earlier release"
    assert 500 < near.rows < 2_000, "about as many rows as were released"
    shares = near.table(0).marginal(("a",)) / near.table(0).marginal(()).sum()
    assert np.abs(shares - np.bincount(frame()["a"], minlength=16) / 900).max() < 0.1
    assert desk.stand_ins(table, ASKED).origin == "", "nothing was released about the third column"


def test_a_public_sample_stands_in(desk: Desk, table: DeskTable) -> None:
    sample = pd.DataFrame({"a": [3, 3, 4], "b": [True, False, True], "c": [0, 1, 1]})
    public = desk.stand_ins(table, ASKED, rows=5_000, sample=sample)
    assert "public sample" in public.sentence
    assert set(np.flatnonzero(public.table(0).marginal(("a",)))) == {3, 4}
    sketched = desk.stand_ins(table, ASKED, sketch={"c": (1, 0, 0, 0)})
    assert sketched.table(0).marginal(("c",))[1:].sum() == 0


@pytest.mark.exhaustive
def test_every_mechanism_is_offered_studied_or_refused(desk: Desk, table: DeskTable) -> None:
    found = desk.recommend(table, ASKED, ONE)
    names = [each.plan.mechanism for each in found.all]
    assert {*names, *found.refused} == offline.keys() and len(names) + len(found.refused) == len(offline)
    assert all(isinstance(reason, DeskError) for reason in found.refused.values())
    assert all(each.reason.endswith(".") for each in found.all)
    best = found.offered[0]
    assert best.figure.mean == min(each.figure.mean for each in found.offered)
    assert desk.release(best.plan).certificate.expected_error == best.figure.to_json(), "the figure that was told"


@pytest.mark.exhaustive
def test_a_figure_is_refined_and_the_certificate_carries_the_latest(
    desk: Desk, table: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_trials, "QUICK_RUNS", 2)
    monkeypatch.setattr(kept_trials, "MOST_RUNS", 4)
    plan = desk.plan(table, ASKED, mechanism="laplace", budget=ONE)
    *_, last = desk.refine(plan)
    assert (plan.expected_error.runs, last.runs) == (2, 4)
    assert desk.release(plan).certificate.expected_error == last.to_json()


@pytest.mark.exhaustive
@pytest.mark.parametrize("mechanism", ["tree", "laplace"])
def test_an_earlier_release_makes_the_next_figure_come_true(desk: Desk, mechanism: str) -> None:
    """A release at epsilon 0.1 knows the table well enough for what is told of the next one, at epsilon 1."""
    own = desk.add_table(frame(8_000), DOMAIN, unit=Unit.row(), budget=Budget(20, 1e-6))
    desk.release(desk.plan(own, ASKED, mechanism="tree", budget=Budget("0.1", 1e-9)))
    told = desk.plan(own, ASKED, mechanism=mechanism, budget=ONE)
    assert told.expected_error.about.split(" on ")[1].startswith("records of an earlier release of ")
    made = mechanism_from(mechanism, ASKED, told.budget, {})
    seen = [rehearse(made, StandIn.of(frame(8_000), DOMAIN, Unit.row()), Noise()).scores[0].mean for _ in range(8)]
    assert 0.5 < 8_000 * np.mean(seen) / told.expected_error.mean < 2


@pytest.mark.exhaustive
def test_an_accuracy_has_its_budget(desk: Desk, table: DeskTable) -> None:
    found = desk.budget_for(table, ASKED, mechanism="laplace", within=40)
    assert desk.plan(table, ASKED, mechanism="laplace", budget=found).expected_error.worst <= 40
    harder = desk.budget_for(table, ASKED, mechanism="laplace", within=10)
    assert harder.epsilon > 2 * found.epsilon


@pytest.mark.exhaustive
def test_figures_are_found_again_by_another_process(
    desk: Desk, table: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = desk.plan(table, ASKED, mechanism="laplace", budget=ONE).expected_error
    again = Desk(desk.folder)
    monkeypatch.setattr(kept_trials, "make_trial", lambda *_: pytest.fail("it was simulated again"))
    assert again.plan(table.id, ASKED, mechanism="laplace", budget=ONE).expected_error == told
    again.close()
