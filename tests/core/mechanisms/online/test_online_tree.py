"""The session on a synthetic table: any schema opens, errors are found, states are finite and go on bit by bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import BadParameter, CannotGoOn
from core.kernel.disjoint import DisjointQueries
from core.kernel.query import Query
from core.mechanisms.online import themes
from core.mechanisms.online.online_tree import FEWEST_HARD, LAST, OnlineTree
from core.models.points import Points
from core.models.tables import Tables
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.accounts import part_of
from tests.kernels import answered, kernel_for, opened, played
from tests.privacy.kit.cases import few_points
from tests.privacy.kit.recorder import Recorder

ROW = Unit.row()
BUDGETS = (Budget(1), Budget(1, 1e-9))
YES = Domain(tuple(Booleans(name=f"c{place}") for place in range(4)))


def parity(rows: int = 40_000) -> StandIn:
    """Three free columns and their parity, of which no pair knows anything."""
    codes = np.random.default_rng(1).integers(0, 2, (rows, 3))
    return StandIn(YES, np.column_stack([codes, codes.sum(axis=1) % 2]).astype(np.int64), ROW)


def cell(*values: int) -> Query:
    weights = np.zeros((2,) * len(values), dtype=np.int64)
    weights[values] = 1
    return Query(columns=YES.names[-len(values) :], weights=weights)


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("columns", [1, 2, 40])
def test_any_schema_opens_and_answers_within_its_budget(columns, budget):
    kinds = (Booleans(name="c0"), Integers(name="c1", low=0, high=199), Categories(name="c2", values=tuple("abc")))
    domain = Domain(tuple(kinds[place % 3].model_copy(update={"name": f"c{place}"}) for place in range(columns)))
    table = StandIn.uniform(domain, ROW, 500, np.random.default_rng(0))
    made = OnlineTree(budget=budget)
    assert 0.9 < part_of(budget, made.cost(domain, ROW)) <= 1
    with few_points():
        state, (reply,) = played(made, table, [Query(columns=("c0",), weights=np.array([1, 0]))])
    assert 0 <= reply.share <= 1
    assert reply.margin is not None
    assert made.save(made.load(domain, made.save(state.state))) == made.save(state.state)


def test_an_error_that_no_pair_shows_is_found_measured_and_learnt():
    made, table = OnlineTree(budget=Budget(1, 1e-9)), parity()
    before = opened(made, table)
    # Every combination of the four is an eighth or nothing, and a sixteenth by all pairs.
    assert before.state.total(cell(0, 0, 0, 0)) / 40_000 == pytest.approx(1 / 16, abs=0.01)
    after, reply = answered(made, before, cell(0, 0, 0, 0), table)
    assert reply.kind == "hard"
    assert reply.share == pytest.approx(1 / 8, abs=0.01)
    assert after.state.total(cell(0, 0, 0, 0)) / 40_000 == pytest.approx(1 / 8, abs=0.01)
    assert after.state.total(cell(0, 0, 0, 1)) / 40_000 == pytest.approx(0, abs=0.01)
    assert after.state.threshold > before.state.threshold


def test_a_theme_is_measured_once(monkeypatch):
    monkeypatch.setattr(themes, "STEP", 1)
    made, table = OnlineTree(budget=Budget(1, 1e-9), alpha=0.4), parity()
    session = opened(made, table)
    for _ in range(themes.OFTEN + 3):
        session, reply = answered(made, session, cell(0, 0, 0, 0), table)
        assert reply.kind == "easy"
    assert len(session.state.past) == 1
    assert session.state.themes.left == 0
    assert reply.share == pytest.approx(1 / 8, abs=0.01)


def test_most_questions_leave_the_state_as_it_is():
    made, table = OnlineTree(budget=Budget(1, 1e-9), alpha=0.4), parity(5_000)
    with few_points():
        session = opened(made, table)
        after, _ = answered(made, session, Query(columns=("c0",), weights=np.array([1, 0])), table)
    assert after.state is session.state


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_kept_session_goes_on_bit_by_bit(budget, monkeypatch):
    monkeypatch.setattr(themes, "STEP", 2)
    made, table = OnlineTree(budget=budget), parity(2_000)
    asked = [cell(*np.unravel_index(place % 16, (2, 2, 2, 2))) for place in range(20)]
    with few_points():
        state, _ = played(made, table, asked[:8], Recorder(3))
        kept = replace(state, state=made.load(YES, made.save(state.state)))
        for question in asked[8:]:
            state, one = answered(made, state, question, table, Recorder(5))
            kept, two = answered(made, kept, question, table, Recorder(5))
            assert one == two
    assert made.save(state.state) == made.save(kept.state)


def test_a_state_that_is_not_finite_is_never_stored():
    made = OnlineTree(budget=Budget(1, 1e-9))
    with few_points():
        state = opened(made, parity(2_000)).state
    points = replace(state.hypothesis.points, weights=state.hypothesis.points.weights * np.nan)
    with pytest.raises(CannotGoOn):
        made.save(replace(state, hypothesis=replace(state.hypothesis, points=points)))


def test_weights_that_would_overflow_stay_as_they_were():
    with few_points():
        hypothesis = opened(OnlineTree(budget=Budget(1, 1e-9)), parity(2_000)).state.hypothesis
    assert isinstance(hypothesis, Tables)
    for factor in (0.0, np.inf, np.nan):
        moved = hypothesis.scaled(("c0",), np.full(2, factor))
        assert np.array_equal(moved.points.weights, hypothesis.points.weights)
        assert all(np.isfinite(table).all() for table in moved.counts.values())


def test_planned_columns_must_be_in_the_session():
    with pytest.raises(BadParameter, match="planned"):
        OnlineTree(budget=Budget(1), planned=("elsewhere",)).check(YES, ROW)


def test_planned_columns_get_more_of_the_opening():
    workload = OnlineTree(budget=Budget(1), planned=("c0", "c1"))._workload(YES)
    assert workload.tables["c0", "c1"] > workload.tables["c1", "c2"]


def test_planned_columns_are_read_back_from_a_plan():
    assert OnlineTree(budget=Budget(1), planned=["a", "b"]) == OnlineTree(budget=Budget(1), planned=("a", "b"))
    with pytest.raises(BadParameter, match="planned"):
        OnlineTree(budget=Budget(1), planned="ab")


def test_a_wide_table_is_worth_its_delta():
    """By the error of its synthetic table, not by that of a single measured number, which pure noise would win."""
    pure, delta = (OnlineTree(budget=budget) for budget in BUDGETS)
    wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=9) for place in range(12)))
    assert delta.expected(wide, ROW).mean < 0.8 * pure.expected(wide, ROW).mean
    assert delta.expected(YES, ROW).mean > 0.8 * pure.expected(YES, ROW).mean


def test_the_groups_of_a_table_are_found_wrong_and_measured_at_once():
    made, table = OnlineTree(budget=Budget(1, 1e-9)), parity()
    kernel = kernel_for(made, table)
    state, groups = made.open(kernel), [cell(*values) for values in np.ndindex(2, 2, 2, 2)]
    truth = np.array([float(each.total(table)) for each in groups])
    after, replies = made.answer_table(state, DisjointQueries(tuple(groups)), kernel)
    assert [reply.kind for reply in replies] == ["hard", *["easy"] * 15]
    assert (state.left - after.left, {reply.left for reply in replies}) == (1, {after.left})
    assert all(abs(reply.count - count) <= 3 * reply.margin for reply, count in zip(replies, truth, strict=True))
    assert np.abs(np.array([after.total(each) for each in groups]) - truth).max() < 600, "it has learnt the table"
    again, easy = made.answer_table(after, DisjointQueries(tuple(groups)), kernel)
    assert again is after or again.themes is not after.themes
    assert {reply.kind for reply in easy} == {"easy"}


def test_more_rows_allow_more_hard_answers_at_the_same_price():
    made = OnlineTree(budget=Budget(1, 1e-9))
    small, large = made._for_rows(plan := made._plan(YES, ROW), 20_000.0), made._for_rows(plan, 2_000_000.0)
    assert small.sparse.most == FEWEST_HARD < large.sparse.most
    assert part_of(made.budget, large.cost) == pytest.approx(part_of(made.budget, small.cost))
    assert part_of(made.budget, large.cost) <= 1
    for rows, laid_out in ((20_000.0, small), (2_000_000.0, large)):
        assert laid_out.threshold(made.questions) + laid_out.margin() <= made.alpha * rows or laid_out is small


def test_the_last_hard_answer_is_kept_for_a_far_larger_error():
    made, table = OnlineTree(budget=Budget(1, 1e-9)), parity(200_000)
    session = opened(made, table)
    known, thresholds = session.state.hypothesis, [session.state.threshold]
    while session.state.left > 1:
        # What was learnt is forgotten, so that the question, which is off by a sixteenth, is found wrong again.
        forgetful = replace(session, state=replace(session.state, hypothesis=known))
        session, reply = answered(made, forgetful, cell(0, 0, 0, 0), table)
        assert reply.kind == "hard"
        thresholds.append(session.state.threshold)
    assert thresholds == sorted(thresholds)
    assert thresholds[-1] == pytest.approx(LAST * thresholds[0], rel=0.01)
    assert thresholds[1] < 1.3 * thresholds[0]


def test_a_hard_answer_about_ranges_teaches_the_table_around_it():
    """Two ordered columns that repeat each other, which a session is not told when it opens: a tiny share opens it."""
    domain = Domain((Integers(name="a", low=0, high=63), Integers(name="b", low=0, high=63)))
    column = np.random.default_rng(2).integers(0, 64, 50_000)
    table = StandIn(domain, np.column_stack([column, column]).astype(np.int64), ROW)
    made = OnlineTree(budget=Budget(1, 1e-9))
    session = opened(made, table)
    spread = np.multiply.outer(np.ones(64), np.ones(64)) * session.state.rows / 64**2
    codes = np.stack(np.unravel_index(np.arange(64**2), (64, 64)), axis=1).astype(np.int64)
    flat = Tables(domain, {}, Points(domain, codes, spread.ravel()))
    session = replace(session, state=replace(session.state, hypothesis=flat))

    def rectangle(low: int, high: int) -> Query:
        inside = ((np.arange(64) >= low) & (np.arange(64) <= high)).astype(np.int64)
        return Query(columns=("a", "b"), weights=np.multiply.outer(inside, inside))

    after, reply = answered(made, session, rectangle(0, 31), table)
    assert reply.kind == "hard"
    assert reply.share == pytest.approx(1 / 2, abs=0.02)
    # The other half was never asked about; by the flat table it is a quarter.
    assert after.state.total(rectangle(32, 63)) / 50_000 == pytest.approx(1 / 2, abs=0.03)
    kept = made.load(domain, made.save(after.state))
    assert kept.total(rectangle(40, 63)) == after.state.total(rectangle(40, 63))
