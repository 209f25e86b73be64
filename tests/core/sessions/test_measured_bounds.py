"""Answers of a measured release have an interval where a figure speaks of them, and none elsewhere."""

from __future__ import annotations

import pandas as pd
import pytest

from core import Budget, Desk, Domain, Intervals, Marginals, Unit
from core.formulas.question import question
from core.mechanisms.measured.targets import MOST_VALUES
from core.schema.domain import Integers
from tests.core.people import DOMAIN, people

TOTAL = Budget(200, "1e-9")


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def held(desk):
    return desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL)


def session(desk, held, queries, **options):
    plan = desk.plan(held, queries, mechanism="laplace", budget=Budget(20), **options)
    desk.release(plan)
    return desk.ask(held, release=plan.id), desk.result(plan.id).measured


@pytest.mark.exhaustive
def test_columns_and_pairs_have_the_figures_of_their_tables(desk, held):
    asked, measured = session(desk, held, [Marginals(order=2)], measure="0.05")
    pairs, columns = measured.parts
    for text, error in {
        "ill = true": columns.count_within,
        "age >= 30": columns.within,
        "age >= 30 and ill = true": pairs.within,
        "age >= 90 and region = north": pairs.count_within,
    }.items():
        answer = asked.answer(question(text, asked.domain))
        assert answer.interval is not None and answer.margin is not None
        low, high = answer.interval
        assert max(answer.share - low, high - answer.share) == pytest.approx(error, abs=1e-4)
        truth = float(question(text, asked.domain).total(desk.truth(held)))
        assert low - 0.02 <= truth / 3_000 <= high + 0.02
        assert answer.margin >= error * measured.rows_low - 1
    three = asked.answer(question("age >= 30 and ill = true and region = north", asked.domain))
    assert three.interval is None and three.margin is None


def test_members_of_a_measured_class_have_its_figure(desk):
    """A column of so many values has no figure of its own."""
    domain = Domain((Integers(name="x", low=0, high=MOST_VALUES),))
    held = desk.add_table(pd.DataFrame({"x": [*range(200)] * 10}), domain, unit=Unit.row(), budget=TOTAL)
    asked, measured = session(desk, held, [Intervals(column="x")], measure="0.05")
    [part] = measured.parts
    answer = asked.answer(question("x >= 100 and x <= 149", asked.domain))
    assert answer.interval is not None
    assert answer.interval[1] - answer.share == pytest.approx(part.within, abs=1e-4)
    assert asked.answer(question("x < 10 or x > 100", asked.domain)).interval is None


@pytest.mark.exhaustive
def test_a_release_that_was_not_measured_promises_nothing(desk, held):
    asked, measured = session(desk, held, [Marginals(order=2)], measure=0)
    assert measured is None
    answer = asked.answer(question("ill = true", asked.domain))
    assert answer.interval is None and answer.margin is None
