"""SELECT statements asked of sessions and of stored releases: the price, the answer, and what is never half asked."""

from __future__ import annotations

import numpy as np
import pytest

from core import Budget, Desk, Unit, question
from core.base.errors import BadParameter, OutOfBudget, Refused
from core.sessions.pace import Pace
from tests.core.people import DOMAIN, ONE, PAIRS, people

BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
MEANS = "SELECT ill, COUNT(*), AVG(age), SUM(age), MEDIAN(age) FROM people WHERE region <> 'east' GROUP BY ill"


@pytest.fixture
def waits():
    return []


@pytest.fixture
def desk(tmp_path, waits):
    desk = Desk(tmp_path / "workspace", pace=Pace(sleep=waits.append))
    yield desk
    desk.close()


@pytest.fixture
def held(desk):
    return desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=Budget(epsilon=100, delta=1e-9), name="people")


def noise(desk, held, questions):
    return desk.ask(held, mechanism="online-laplace", budget=ONE, questions=questions)


def truth(desk, held, columns):
    return desk.truth(held).marginal(columns)


def test_a_table_of_counts_is_asked_at_once_and_again_for_free(desk, held, waits):
    session = noise(desk, held, 10)
    price = session.sql_price(BY_REGION)
    assert (price.groups, price.questions, price.hard) == (4, 4, 1)
    assert session.transcript() == []
    found = session.sql(BY_REGION)
    assert (found.columns, found.titles) == (("region",), ("n",))
    assert [row.labels for row in found.rows] == [("north",), ("south",), ("east",), ("elsewhere",)]
    assert (found.questions, found.hard, found.left) == (4, 1, 9), "one measurement for all groups"
    assert len(waits) == 1, "in one slot"
    assert [answer.kind for answer in session.transcript()] == ["hard", "easy", "easy", "easy"]
    assert [answer.spent for answer in session.transcript()] == [1, 1, 1, 1]
    values = [row.estimates[0] for row in found.rows]
    assert np.abs(np.array([each.value for each in values]) - truth(desk, held, ("region",))).max() < 150
    assert all(each.low <= each.value <= each.high and each.confidence == 0.95 for each in values)
    assert session.sql(BY_REGION) == found
    assert len(session.transcript()) == 4
    assert list(found.frame().columns) == ["region", "n", "n from", "n to"]


def test_a_cell_of_a_table_and_the_same_cell_as_a_formula_are_one_question(desk, held):
    session = noise(desk, held, 10)
    before = session.answer(question("region = north", session.domain))
    found = session.sql(BY_REGION)
    assert found.rows[0].estimates[0].value == before.count
    assert len(session.transcript()) == 4


def test_a_statement_that_might_not_end_is_refused_before_anything_is_asked(desk, held):
    session = noise(desk, held, 3)
    medians = "SELECT ill, MEDIAN(age) FROM t WHERE region = 'north' GROUP BY ill"
    with pytest.raises(OutOfBudget, match="may take 14 hard answers and the session has 3 left; nothing was asked"):
        session.sql(medians)
    with pytest.raises(OutOfBudget, match="may take 17 hard answers"):
        session.sql("SELECT ill, SUM(age), AVG(age), MEDIAN(age) FROM t WHERE region = 'north' GROUP BY ill")
    assert session.transcript() == []
    averages = "SELECT ill, COUNT(*), AVG(age) FROM t WHERE region = 'north' GROUP BY ill"
    found = session.sql(averages)
    assert (found.questions, found.hard, found.left) == (4, 2, 1), "one table of counts and one of sums"
    assert session.sql(averages) == found, "what is stored needs nothing"
    assert session.sql(BY_REGION).left == 0
    with pytest.raises(OutOfBudget):
        session.sql("SELECT ill, SUM(age) FROM t GROUP BY ill")
    assert len(session.transcript()) == 8


def test_averages_sums_and_medians_lie_near_the_truth(desk, held):
    session = desk.ask(held, mechanism="online-histogram", budget=Budget(epsilon=20))
    frame = people()
    frame = frame[frame["region"] != "east"]
    frame["age"] = frame["age"] // 10 * 10 + 4.5
    for row, (_, group) in zip(session.sql(MEANS).rows, frame.groupby("ill"), strict=True):
        count, mean, total, median = row.estimates
        assert count.value == pytest.approx(len(group), abs=20)
        assert mean.value == pytest.approx(group["age"].mean(), abs=1)
        assert total.value == pytest.approx(group["age"].sum(), rel=0.02)
        assert abs(median.value - group["age"].median()) <= 10
        assert mean.confidence == pytest.approx(0.9)
        assert median.low <= group["age"].median() <= median.high
    assert session.sql_price(MEANS).hard == 0


@pytest.mark.exhaustive
def test_a_stored_release_answers_from_its_tables(desk, held):
    plan = desk.plan(held, PAIRS, mechanism="gaussian", budget=ONE)
    release = desk.release(plan)
    spent = desk.statement(held).spent_share
    session = desk.ask(held, release=plan.id)
    assert (
        session.sql_price(BY_REGION).sentence() == "It asks at most 4 questions for 4 groups and takes no hard answer."
    )
    found = session.sql("SELECT ill, region, COUNT(*) FROM t GROUP BY ill, region")
    table = release.marginal(("ill", "region"))
    expected = table * release.marginal(()).sum() / table.sum()
    assert np.allclose([row.estimates[0].value for row in found.rows], expected.ravel())
    assert desk.statement(held).spent_share == spent


def test_a_session_that_learns_measures_a_table_as_a_whole(desk, held):
    session = desk.ask(
        held, mechanism="online-weights", budget=Budget(epsilon=20, delta=1e-9), alpha=0.02, rows=3_000, opening=0.0
    )
    found = session.sql("SELECT region, ill, COUNT(*) FROM t GROUP BY region, ill")
    assert found.questions == 8
    assert found.hard == 1, "eight cells that a flat guess has wrong"
    values = np.array([row.estimates[0].value for row in found.rows])
    assert np.abs(values - truth(desk, held, ("region", "ill")).ravel()).max() < 100


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COUNT(*) FROM t GROUP BY age, region, ill, town", "there is no column 'town'"),
        (
            "SELECT region, ill, age, AVG(age), MEDIAN(age) FROM t GROUP BY region, ill, age",
            "80 groups would take up to",
        ),
        ("SELECT MAX(age) FROM t", "depends on single rows"),
    ],
)
def test_refusals_ask_nothing(desk, held, text, reason):
    session = noise(desk, held, 10)
    for refusing in (session.sql_price, session.sql):
        with pytest.raises(BadParameter, match=reason):
            refusing(text)
    assert session.transcript() == []


def test_a_closed_session_answers_nothing(desk, held):
    session = noise(desk, held, 10)
    session.close()
    with pytest.raises(Refused, match="This session is closed"):
        session.sql(BY_REGION)


@pytest.mark.exhaustive
def test_a_table_that_is_known_well_enough_takes_no_hard_answer(desk, held):
    session = desk.ask(
        held, mechanism="online-weights", budget=Budget(epsilon=20, delta=1e-9), alpha=0.2, rows=3_000, questions=10**6
    )
    found = session.sql(BY_REGION)
    assert (found.questions, found.hard) == (4, 0)
    assert {answer.kind for answer in session.transcript()} == {"easy"}


def test_groups_that_overlap_are_refused_for_nothing(desk, held):
    session = noise(desk, held, 10)
    overlapping = [question(text, session.domain) for text in ("region = north", "region in {north, south}")]
    with pytest.raises(BadParameter, match="same cell twice"):
        session.answer_table(overlapping)
    assert (session.transcript(), session.status) == ([], "open")


def test_a_session_that_cannot_ask_tables_asks_group_by_group(desk, held, waits):
    session = desk.ask(held, mechanism="online-histogram", budget=ONE)
    assert session.sql(BY_REGION).questions == 4
    assert len(waits) == 4
