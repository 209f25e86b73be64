"""The search for crowded parts: what it costs, what it finds, and what it is good for."""

import numpy as np
import pytest

from core.mechanisms.ranges import stages
from core.mechanisms.ranges.interval_tree import IntervalTree
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.models import tables as tables_model
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Laplace, Pure
from core.privacy.noise import Noise
from core.privacy.spendable import covers
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import BUDGETS, UNITS, check_private
from tests.kernels import run


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)


def domain_of(*sizes):
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in zip("xyz", sizes, strict=False)))


def lines(*columns):
    return tuple(Intervals(column=name) for name in columns)


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy(budget, unit, monkeypatch):
    monkeypatch.setattr(stages, "SMALLEST", {1: 16, 2: 30, 3: 30})
    column = IntervalTree(queries=lines("x"), budget=budget, branching=4)
    check_private(column, domain_of(40), unit, monkeypatch)
    both = RectangleTree(queries=(Rectangles(columns=("x", "y")), Intervals(column="y")), budget=budget)
    check_private(both, domain_of(9, 18), unit, monkeypatch)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
@pytest.mark.parametrize("delta", [0, 1e-9, 1e-3])
def test_the_whole_budget_and_no_more(epsilon, delta):
    budget, domain = Budget(epsilon, delta), domain_of(2**12, 2**10, 7)
    tree = IntervalTree(queries=lines("x", "y", "z"), budget=budget)
    cost = tree.cost(domain, Unit.row())
    assert covers(budget, cost)
    kinds = [type(event) for event in cost.events]
    if delta:
        assert kinds.count(Pure) == 2
        assert Gaussian in kinds
        assert not covers(Budget(budget.epsilon * 96 / 100, delta), cost)
    else:
        assert kinds.count(Pure) == 1
        assert Laplace in kinds
        assert sum(event.epsilon for event in cost.events) == budget.epsilon


def test_every_cell_is_counted_where_there_is_little_to_find():
    tree = IntervalTree(queries=lines("x"), budget=Budget(1))
    assert {type(event) for event in tree.cost(domain_of(256), Unit.row()).events} == {Laplace}
    assert {type(event) for event in tree.cost(domain_of(257), Unit.row()).events} == {Pure}


def sparse_column(size, generator):
    truth = np.zeros(size, dtype=np.int64)
    truth[generator.choice(size, 8, replace=False)] = 4_000
    return truth


def mean_error(tree, truth, names, unit, generator, asked=2_000):
    model = run(tree, Cells(domain_of(*truth.shape), truth, unit), SimulatedNoise(generator))
    off = np.pad(model.marginal(names) - truth, [(1, 0)] * truth.ndim)
    for axis in range(truth.ndim):
        off = np.cumsum(off, axis=axis)
    ends = [np.sort(generator.integers(0, size + 1, (2, asked)), axis=0) for size in truth.shape]
    found = np.zeros(asked)
    for choice in np.ndindex(*(2,) * truth.ndim):
        found += (-1) ** (truth.ndim - sum(choice)) * off[
            tuple(side[end] for side, end in zip(ends, choice, strict=True))
        ]
    return np.abs(found).mean()


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
def test_it_halves_the_error_where_nearly_all_cells_are_empty(unit, monkeypatch):
    tree, generator = IntervalTree(queries=lines("x"), budget=Budget(1)), np.random.default_rng(3)
    truths = [sparse_column(2**14, generator) for _ in range(12)]
    found = np.mean([mean_error(tree, truth, ("x",), unit, generator) for truth in truths])
    monkeypatch.setattr(stages, "SMALLEST", {1: 2**20})
    plain = np.mean([mean_error(tree, truth, ("x",), unit, generator) for truth in truths])
    # 0.45 and 0.57 of it, each give or take a tenth.
    assert found < 0.8 * plain


def test_smooth_tables_need_few_boxes(monkeypatch):
    tree, generator = (
        RectangleTree(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1)),
        np.random.default_rng(3),
    )
    hump = np.exp(-(np.linspace(-2, 2, 128) ** 2))
    truths = [generator.poisson(np.outer(hump, hump) / 2) for _ in range(32)]
    found = np.mean([mean_error(tree, truth, ("x", "y"), Unit.row(), generator) for truth in truths])
    monkeypatch.setattr(stages, "SMALLEST", {2: 2**20})
    plain = np.mean([mean_error(tree, truth, ("x", "y"), Unit.row(), generator) for truth in truths])
    # 0.8 of it, give or take 0.03.
    assert found < 0.9 * plain


def test_the_worst_range_is_within_what_was_said():
    # A column made to be hard: stretches that are left whole hold all their rows at one end.
    truth = np.zeros(2_048, dtype=np.int64)
    truth[::64] = np.arange(32) * 5
    tree, generator = IntervalTree(queries=lines("x"), budget=Budget(1)), np.random.default_rng(0)
    expected = tree.expected(domain_of(2_048), Unit.row())
    beyond = 0
    for _ in range(60):
        model = run(tree, Cells(domain_of(2_048), truth), SimulatedNoise(generator))
        off = np.concatenate([[0.0], np.cumsum(model.marginal(("x",)) - truth)])
        beyond += np.ptp(off) > expected.worst
    assert beyond <= 3


def test_a_column_of_a_million_cells():
    truth = sparse_column(2**20, np.random.default_rng(0))
    tree = IntervalTree(queries=lines("x"), budget=Budget(1))
    model = run(tree, Cells(domain_of(2**20), truth, Unit.row("replace")), Noise())
    table = model.marginal(("x",))
    assert table.min() >= 0
    assert table.sum() == pytest.approx(truth.sum())
    off = np.abs(np.cumsum(table - truth))
    assert off.max() < 200
