"""What single columns say of a question: the truth is inside, and what they tell well enough is not tested."""

from __future__ import annotations

import numpy as np
import pytest

from core.kernel.disjoint import DisjointQueries
from core.kernel.query import Query
from core.mechanisms.kit.intervals import MISS
from core.mechanisms.online.column_bounds import bounds, reach_by_columns
from core.mechanisms.online.online_tree import OnlineTree
from core.mechanisms.online.reading import easy_reach
from core.models.column_counts import ColumnCounts
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.kernels import answered, kernel_for, opened
from tests.privacy.kit.cases import few_points

KNOWN = {"x": ColumnCounts.flat(np.array([10.0, 30.0, 60.0]), 0.0), "y": ColumnCounts.flat(np.array([95.0, 5.0]), 0.0)}
DOMAIN = Domain(
    (
        Categories(name="town", values=tuple(range(30))),
        Integers(name="age", low=0, high=59),
        Booleans(name="paid"),
        Booleans(name="rare"),
    )
)


def table() -> StandIn:
    generator, rows = np.random.default_rng(6), 30_000
    town = np.minimum(generator.geometric(0.2, rows) - 1, 29)
    age = np.clip(generator.normal(25 + town, 10), 0, 59)
    paid, rare = generator.random(rows) < age / 60, generator.random(rows) < 0.004
    return StandIn(DOMAIN, np.column_stack([town, age, paid, rare]).astype(np.int64), Unit.row())


def cell(**values: int) -> Query:
    weights = np.zeros(DOMAIN.shape(tuple(values)), dtype=np.int64)
    weights[tuple(values.values())] = 1
    return Query(columns=tuple(values), weights=weights)


@pytest.mark.parametrize(
    ("columns", "weights", "denominator", "expected"),
    [
        (("x",), [1, 1, 0], 1, (40, 40)),
        (("x",), [4, 4, 0], 8, (20, 20)),
        (("x",), [1, 2, 0], 2, (35, 35)),
        ((), 3, 4, (75, 75)),
        (("x", "y"), [[0, 0], [0, 0], [1, 0]], 1, (0, 60)),
        (("x", "y"), [[0, 0], [0, 0], [0, 1]], 1, (0, 5)),
        (("z", "y"), [[1, 0], [0, 0]], 1, (0, 95)),
        (("x",), [0, 0, 0], 1, (0, 0)),
    ],
)
def test_no_more_rows_than_the_narrowest_condition_leaves(columns, weights, denominator, expected):
    question = Query(columns=columns, weights=np.array(weights), denominator=denominator)
    assert bounds(question, KNOWN, MISS) == pytest.approx(expected)


def test_nothing_is_said_where_nothing_is_known():
    question = Query(columns=("z",), weights=np.array([1, 0]))
    assert bounds(question, KNOWN, MISS) is None
    assert reach_by_columns(question, KNOWN, 3.0) is None


def test_a_guess_is_off_by_the_farther_bound():
    reach = reach_by_columns(Query(columns=("x",), weights=np.array([1, 0, 0])), KNOWN, 4.0)
    assert reach is not None
    assert reach(MISS) == 6


def test_narrow_questions_are_answered_without_a_test_and_the_truth_is_inside():
    rows, made = table(), OnlineTree(budget=Budget(1, 1e-9), alpha=0.02)
    with few_points():
        session = opened(made, rows)
        tested = easy_reach(session.state, MISS)
        for question in (cell(town=25), cell(rare=1), cell(town=3, rare=1), cell(town=25, age=40, paid=1)):
            session, reply = answered(made, session, question, rows)
            truth = float(question.total(rows))
            assert reply.kind == "easy"
            assert reply.margin < tested
            assert abs(reply.count - truth) <= reply.margin


def test_only_what_single_columns_leave_open_is_compared(monkeypatch):
    rows, made, compared = table(), OnlineTree(budget=Budget(1, 1e-9), alpha=0.02), []
    plain = OnlineTree._compare

    def noted(self, state, question, guess, kernel):
        compared.append(question.columns)
        return plain(self, state, question, guess, kernel)

    monkeypatch.setattr(OnlineTree, "_compare", noted)
    with few_points():
        kernel = kernel_for(made, rows)
        state = made.open(kernel)
        for question in (cell(rare=1), cell(paid=1, rare=1), cell(paid=1, rare=0)):
            state, _ = made.answer(state, question, kernel)
    assert compared == [("paid", "rare")]


def test_groups_of_one_column_are_told_by_it():
    rows, made = table(), OnlineTree(budget=Budget(1, 1e-9), alpha=0.02)
    with few_points():
        kernel = kernel_for(made, rows)
        state = made.open(kernel)
    towns = DisjointQueries(tuple(cell(town=place) for place in range(30)))
    after, replies = made.answer_table(state, towns, kernel)
    assert after is state
    assert max(reply.margin for reply in replies) < easy_reach(state, MISS)
    truth = rows.marginal(("town",))
    assert all(abs(reply.count - count) <= reply.margin for reply, count in zip(replies, truth, strict=True))


def test_after_the_last_hard_answer_an_interval_says_what_is_still_known():
    rows, made = table(), OnlineTree(budget=Budget(1, 1e-9))
    with few_points():
        session = opened(made, rows)
    state = session.state
    kernel = kernel_for(made, rows)
    done = type(state)(**{**state.__dict__, "watch": type(state.watch)(state.watch.id, 0)})
    wide = cell(paid=1, rare=0)
    _, reply = made.answer(done, wide, kernel)
    assert reply.kind == "unchecked"
    assert reply.margin > 0.3 * 30_000, "nothing narrower is known"
    assert abs(reply.count - float(wide.total(rows))) <= reply.margin


def test_means_and_the_number_of_rows_are_told_by_columns():
    rows, made = table(), OnlineTree(budget=Budget(1, 1e-9), alpha=0.02)
    everybody = Query(columns=(), weights=np.array(1))
    ages = Query(columns=("age",), weights=np.arange(60), denominator=64)
    with few_points():
        session = opened(made, rows)
        tested = easy_reach(session.state, MISS)
        for question, part in ((everybody, 0.3), (ages, 0.8)):
            session, reply = answered(made, session, question, rows)
            assert reply.kind == "easy"
            assert reply.margin < part * tested
            assert abs(reply.count - float(question.total(rows)) / question.denominator) <= reply.margin


def test_pure_sessions_test_everything():
    with few_points():
        state = opened(OnlineTree(budget=Budget(1)), table()).state
    assert not state.hypothesis.columns
