import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.ranges.rectangle_search import RectangleSearch, _corners, _counted, _halved, _whole
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.models import tables as tables_model
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.rectangles import Rectangles
from core.table.counts import Cells
from tests.core.mechanisms.ranges.test_rectangle_tree import box_errors, clustered, grid
from tests.core.mechanisms.replay import BUDGETS, PLANE, UNITS, check_private
from tests.kernels import run
from tests.privacy.recorder import Recorder


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy(budget, unit, monkeypatch):
    # A large epsilon, so that noise is small enough for boxes to be cut at all.
    budget = Budget(500 * budget.epsilon, budget.delta)
    mechanism = RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=budget, accuracy=0.5)
    check_private(mechanism, PLANE, unit, monkeypatch)


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)


def cut(table):
    """The boxes after all cuts, with a recorder's noise."""
    domain = grid(*table.shape)
    mechanism = RectangleSearch(queries=(Rectangles(columns=domain.names),), budget=Budget(10), accuracy=0.3)
    target = mechanism._targets(domain, Unit.row())[0]
    boxes, corners = _whole(table.shape, float(table.sum())), _corners(table)
    for depth in range(target.splits * table.ndim):
        boxes = _halved(boxes, depth % table.ndim, target, corners, Unit.row(), Recorder(depth))
    return boxes, target


@pytest.mark.parametrize("sizes", [(32, 32), (64, 5), (9, 8, 7)])
def test_boxes_are_a_partition(sizes):
    boxes, _ = cut(clustered(sizes, 200_000))
    covered = np.zeros(sizes, dtype=int)
    for low, high in zip(boxes.low, boxes.high, strict=True):
        covered[tuple(slice(first, last) for first, last in zip(low, high, strict=True))] += 1
    assert (covered == 1).all()
    assert len(boxes.low) > 10


def test_box_counts_come_from_corners():
    table = np.random.default_rng(0).integers(0, 9, (6, 5, 4))
    low, high = np.array([[0, 1, 2], [3, 0, 0]]), np.array([[6, 4, 3], [5, 5, 4]])
    assert _counted(_corners(table), low, high).tolist() == [table[0:6, 1:4, 2:3].sum(), table[3:5].sum()]


@pytest.mark.parametrize("kind", ["clustered", "line", "single"])
def test_a_side_cuts_through_few_rows(kind):
    table = clustered((64, 64), 5_000_000)
    if kind == "line":
        table = np.zeros((64, 64), dtype=np.int64)
        table[17] = 100_000
    if kind == "single":
        table = np.zeros((64, 64), dtype=np.int64)
        table[40, 3] = 5_000_000
    boxes, target = cut(table)
    mass = _counted(_corners(table), boxes.low, boxes.high)
    for axis in (0, 1):
        for place in range(1, 64):
            through = (boxes.low[:, axis] < place) & (place < boxes.high[:, axis])
            small = mass < 32 * target.step.tail(Unit.row(), 1e-4)
            assert mass[through & ~small].sum() <= (9 / 16) ** target.splits * table.sum() + 1
            assert mass[through].sum() <= 0.3 / 8 * table.sum()


def test_accuracy_is_reached_with_enough_rows_and_the_tree_is_better():
    domain, truth = grid(64, 64), clustered((64, 64), 5_000_000)
    queries = (Rectangles(columns=("x", "y")),)
    counts = Cells(domain, truth)
    search = RectangleSearch(queries=queries, budget=Budget(1), accuracy=0.3)
    assert queries[0].worst(counts, run(search, counts, Noise())) <= 0.3
    by_search, by_tree = (
        box_errors(run(mechanism, counts, Noise()).marginal(("x", "y")) - truth, np.random.default_rng(0)).mean()
        for mechanism in (search, RectangleTree(queries=queries, budget=Budget(1)))
    )
    assert 5 * by_tree < by_search


def test_refusals_name_the_parameter_and_what_works():
    for accuracy in (0, 1, float("inf")):
        with pytest.raises(BadParameter, match="accuracy"):
            RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1), accuracy=accuracy)
    with pytest.raises(Refused, match="interval-tree"):
        RectangleSearch(queries=(Intervals(column="x"),), budget=Budget(1)).check(PLANE, Unit.row())
