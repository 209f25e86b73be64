import numpy as np
import pytest

from core.base.errors import Refused
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.models import tables as tables_model
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import BUDGETS, PLANE, UNITS, check_private
from tests.kernels import run


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)


def grid(*sizes):
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in zip("xyz", sizes, strict=False)))


def box_errors(difference, generator, asked=2_000):
    corners = np.pad(difference, [(1, 0)] * difference.ndim)
    for axis in range(difference.ndim):
        corners = np.cumsum(corners, axis=axis)
    inclusive = np.array([[0], [1]])
    ends = [inclusive + np.sort(generator.integers(0, size, (2, asked)), axis=0) for size in difference.shape]
    found = np.zeros(asked)
    for choice in np.ndindex(*(2,) * difference.ndim):
        sign = (-1) ** (difference.ndim - sum(choice))
        found += sign * corners[tuple(side[end] for side, end in zip(ends, choice, strict=True))]
    return np.abs(found)


def clustered(sizes, rows, seed=0):
    generator = np.random.default_rng(seed)
    centres = generator.random((4, len(sizes)))
    points = centres[generator.integers(0, 4, rows)] + generator.normal(0, 0.04, (rows, len(sizes)))
    codes = np.clip(points * sizes, 0, np.array(sizes) - 1).astype(int)
    return np.bincount(np.ravel_multi_index(tuple(codes.T), sizes), minlength=int(np.prod(sizes))).reshape(sizes)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy(budget, unit, monkeypatch):
    tree = RectangleTree(queries=(Rectangles(columns=("x", "y")), Intervals(column="y")), budget=budget)
    check_private(tree, PLANE, unit, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("sizes", [(16, 16), (30, 7), (6, 5, 9)])
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
def test_expected_error_is_what_dense_data_shows(sizes, unit):
    domain, truth = grid(*sizes), np.full(sizes, 10_000)
    tree = RectangleTree(queries=(Rectangles(columns=domain.names),), budget=Budget(1, 1e-6))
    expected = tree.expected(domain, unit)
    counts = Cells(domain, truth, unit)
    errors = [
        box_errors(run(tree, counts, Noise()).marginal(domain.names) - truth, np.random.default_rng(seed))
        for seed in range(120)
    ]
    assert np.mean(errors) == pytest.approx(expected.mean, rel=0.15)
    assert np.mean([each.max() <= expected.worst for each in errors]) >= 0.95


def test_better_than_a_noisy_histogram_on_a_large_grid():
    domain, truth = grid(128, 128), clustered((128, 128), 20_000)
    queries = (Rectangles(columns=("x", "y")),)

    def error(kind):
        model = run(kind(queries=queries, budget=Budget("0.5")), Cells(domain, truth), Noise())
        return box_errors(model.marginal(("x", "y")) - truth, np.random.default_rng(0)).mean()

    assert 3 * error(RectangleTree) < error(NoisyHistogram)


def test_release_adds_up_and_has_no_negative_count():
    domain = grid(20, 13, 4)
    counts = Cells(domain, clustered((20, 13, 4), 3_000), Unit.row("replace"))
    model = run(RectangleTree(queries=(Rectangles(columns=("x", "y", "z")),), budget=Budget(1)), counts, Noise())
    table = model.marginal(("x", "y", "z"))
    assert table.min() >= 0
    assert table.sum() == pytest.approx(3_000)
    assert model.sample(40, np.random.default_rng(0)).shape == (40, 3)


def test_refusals_name_what_works():
    with pytest.raises(Refused, match="tree"):
        RectangleTree(queries=(Marginals(order=2),), budget=Budget(1)).check(PLANE, Unit.row())
    huge = grid(5_000, 5_000)
    with pytest.raises(Refused, match="coarser"):
        RectangleTree(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1)).check(huge, Unit.row())
