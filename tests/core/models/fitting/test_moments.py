"""Covariances are met to within their noise, and by no more than that takes."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import Pull, TableGoal, pulled
from core.models.fitting.simplex import simplex
from core.models.points import Points
from core.schema.domain import Domain, Integers

PAIR = ("x", "y")
DOMAIN = Domain((Integers(name="x", low=0, high=19), Integers(name="y", low=0, high=14)))


def points(correlation: float, rows: int = 20_000) -> Points:
    generator = np.random.default_rng(3)
    first, other = generator.normal(size=(2, rows))
    second = correlation * first + np.sqrt(1 - correlation**2) * other
    codes = [np.clip(np.rint(6 + 2 * first), 0, 19), np.clip(np.rint(5 + 1.5 * second), 0, 14)]
    return Points(DOMAIN, np.stack(codes, axis=1).astype(np.int64), np.ones(rows))


def correlation_of(records: Points, weights: np.ndarray) -> float:
    return float(
        np.cov(records.codes.T, aweights=weights)[0, 1] / np.sqrt(np.cov(records.codes.T)[[0, 1], [0, 1]].prod())
    )


def met(records: Points, goal: MomentGoal) -> np.ndarray:
    cells = np.ravel_multi_index(tuple(records.codes.T), (20, 15))
    return pulled(records.weights, [Pull(cells, PAIR, (20, 15), (goal,))])


@pytest.mark.parametrize("wanted", [-0.4, 0.2, 0.6])
def test_records_get_the_covariance_of_a_table(wanted):
    goal = MomentGoal.of(PAIR, points(wanted).marginal(PAIR), 0.001)
    records = points(0.0)
    weights = met(records, goal)
    assert float(
        goal.scores.ravel()[np.ravel_multi_index(tuple(records.codes.T), (20, 15))] @ weights
    ) == pytest.approx(goal.target, abs=20)
    assert correlation_of(records, weights) == pytest.approx(wanted, abs=0.05)
    assert weights.sum() == pytest.approx(20_000)


def test_what_lies_within_the_noise_is_left_alone():
    records = points(0.3)
    goal = MomentGoal.of(PAIR, points(0.32).marginal(PAIR), 15.0)
    assert np.allclose(met(records, goal), 1.0)


def test_nothing_is_said_where_noise_leaves_little_of_it():
    assert MomentGoal.of(PAIR, points(0.6).marginal(PAIR), 50.0) is None


def test_a_push_that_is_no_longer_needed_is_taken_back():
    table = points(0.5).marginal(PAIR)
    goal = MomentGoal.of(PAIR, table, 0.001)
    bounds = goal.bounds(1.0)
    independent = points(0.0).marginal(PAIR)
    assert goal.factors(independent, bounds, 20_000.0).std() > 0 and bounds.push > 0
    strong = points(0.8).marginal(PAIR)
    for _ in range(20):
        strong = strong * goal.factors(strong, bounds, 20_000.0)
    assert float((strong * goal.scores).sum()) == pytest.approx(goal.target, abs=20)


def test_dependences_that_clipped_noise_weakens_are_restored():
    """Noise in 300 cells, most of them empty: without negative counts it puts rows far from all others."""
    truth, generator = points(0.6), np.random.default_rng(5)
    noisy = truth.marginal(PAIR) + generator.normal(0, 20, (20, 15))
    every = np.stack(np.unravel_index(np.arange(300), (20, 15)), axis=1)
    records = Points(DOMAIN, every, np.full(300, 20_000 / 300))
    table = TableGoal(PAIR, simplex(noisy, 20_000.0), 20.0)
    cells = np.arange(300)
    alone = pulled(records.weights, [Pull(cells, PAIR, (20, 15), (table,))])
    goal = MomentGoal.of(PAIR, noisy, 20.0)
    both = pulled(records.weights, [Pull(cells, PAIR, (20, 15), (table, goal))])
    wanted = float((goal.scores * truth.marginal(PAIR)).sum())
    off = [abs(float(goal.scores.ravel() @ weights) - wanted) for weights in (alone, both)]
    assert off[1] < 0.7 * off[0]


def test_a_column_of_one_value_has_no_covariance():
    table = np.zeros((20, 15))
    assert MomentGoal.of(PAIR, table, 1.0) is None
    table[3] = 7.0
    assert MomentGoal.of(PAIR, table, 1.0) is None


def test_nothing_breaks_where_no_row_is_held_or_far_cells_are_empty():
    goal = MomentGoal.of(PAIR, points(0.5).marginal(PAIR), 1.0)
    assert np.all(goal.factors(np.zeros((20, 15)), goal.bounds(1.0), 0.0) == 1.0)
    held = np.zeros((20, 15))
    held[6, 5], held[7, 5] = 5.0, 5.0
    assert np.isfinite(goal.factors(held, goal.bounds(1.0), 10.0)).all()


def test_tables_have_the_last_word():
    """A covariance that contradicts a table which is known exactly changes nothing in the end."""
    records = points(0.3)
    cells = np.ravel_multi_index(tuple(records.codes.T), (20, 15))
    table = TableGoal(PAIR, records.marginal(PAIR), 1e-6)
    goal = MomentGoal.of(PAIR, points(0.8).marginal(PAIR), 0.001)
    weights = pulled(records.weights, [Pull(cells, PAIR, (20, 15), (table, goal))])
    assert weights == pytest.approx(np.ones(20_000), abs=1e-3)
    assert np.abs(pulled(records.weights, [Pull(cells, PAIR, (20, 15), (goal,))]) - 1).max() > 0.1


def halves(size: int) -> np.ndarray:
    """Neighbouring values in pairs, named in an order that says nothing."""
    return np.random.default_rng(5).permutation((size + 1) // 2)[np.arange(size) // 2]


def test_a_table_over_groups_tells_the_covariance_of_values() -> None:
    """Each group counts as its values do on average; what groups do not see is left out, and that part is known."""
    records = points(0.6)
    groups = [halves(20), halves(15)]
    codes = np.stack([group[each] for group, each in zip(groups, records.codes.T, strict=True)], axis=1)
    shape = tuple(int(group.max()) + 1 for group in groups)
    table = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=shape[0] * shape[1]).reshape(shape)
    counts = [records.marginal((name,)) for name in PAIR]
    goal = MomentGoal.of_groups(PAIR, table.astype(float), 1.0, counts, groups)
    assert goal is not None
    assert goal.target == pytest.approx(float((records.marginal(PAIR) * goal.scores).sum()))
    seen = goal.seen(counts)
    assert 0.8 < seen < 0.97
    truth = correlation_of(records, records.weights)
    assert goal.target / seen / 20_000 == pytest.approx(truth, abs=0.01)
    assert goal.target / 20_000 < truth - 0.02


def test_a_covariance_of_groups_is_less_clear_than_one_of_values() -> None:
    counts = [points(0.0).marginal((name,)) for name in PAIR]
    each = MomentGoal.of_groups(PAIR, points(0.6).marginal(PAIR), 1.0, counts, [np.arange(20), np.arange(15)])
    assert each is not None
    assert each.seen(counts) == pytest.approx(1.0)
    assert each.unclear(20_000, counts) == pytest.approx(each.sigma)
    blind = MomentGoal(PAIR, np.zeros((20, 15)), 0.0, 1.0)
    assert blind.unclear(20_000, counts) == np.inf


def test_columns_of_one_value_tell_nothing() -> None:
    counts = [np.array([5.0, 0.0]), np.array([2.0, 3.0])]
    assert MomentGoal.of_groups(PAIR, np.ones((2, 2)), 1.0, counts, [np.arange(2), np.arange(2)]) is None
    assert MomentGoal(PAIR, np.ones((2, 2)), 0.0, 1.0).seen(counts) == 0.0
