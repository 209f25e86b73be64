import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.noise_level import NoiseLevel
from core.kernel.tables import Boxes, one_cell
from core.mechanisms.ranges.rectangle_search import RectangleSearch, cut
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.models import tables as tables_model
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.rectangles import Rectangles
from core.table.counts import Cells
from core.theory import RectanglesBound
from core.theory.intervals import FEWEST, log_parts
from tests.core.mechanisms.ranges.test_rectangle_tree import box_errors, clustered, grid
from tests.core.mechanisms.replay import BUDGETS, PLANE, UNITS, check_private
from tests.kernels import kernel_for, run
from tests.privacy.kit.recorder import Recorder


@pytest.mark.crossing(keep=2)
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


def boxes_of(cells):
    """The boxes after all cuts, with a recorder's noise."""
    domain = grid(*cells.shape)
    mechanism = RectangleSearch(queries=(Rectangles(columns=domain.names),), budget=Budget(10), accuracy=0.3)
    table = mechanism._tables(domain, Unit.row())[0]
    return cut(kernel_for(mechanism, Cells(domain, cells), Recorder(0)), table, float(cells.sum())), table


@pytest.mark.parametrize("sizes", [(32, 32), (64, 5), (9, 8, 7)])
def test_boxes_are_a_partition(sizes):
    boxes, _ = boxes_of(clustered(sizes, 200_000))
    covered = np.zeros(sizes, dtype=int)
    for low, high in zip(boxes.low, boxes.high, strict=True):
        covered[tuple(slice(first, last) for first, last in zip(low, high, strict=True))] += 1
    assert (covered == 1).all()
    assert len(boxes.low) > 10


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["clustered", "line", "single"])
def test_a_side_cuts_through_few_rows(kind):
    table = clustered((64, 64), 5_000_000)
    if kind == "line":
        table = np.zeros((64, 64), dtype=np.int64)
        table[17] = 100_000
    if kind == "single":
        table = np.zeros((64, 64), dtype=np.int64)
        table[40, 3] = 5_000_000
    boxes, steps = boxes_of(table)
    mass = Boxes(("x", "y"), boxes.low, boxes.high).counts(Cells(grid(64, 64), table))
    for axis in (0, 1):
        for place in range(1, 64):
            through = (boxes.low[:, axis] < place) & (place < boxes.high[:, axis])
            small = mass < 32 * NoiseLevel(steps.step, one_cell(Unit.row())).tail(1e-4)
            assert mass[through & ~small].sum() <= (9 / 16) ** steps.splits * table.sum() + 1
            assert mass[through].sum() <= 0.3 / 8 * table.sum()


@pytest.mark.exhaustive
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


@dataclass(frozen=True)
class Bounded:
    """A kernel whose noise is as large as it may be, up or down."""

    table: np.ndarray
    noise: int
    generator: np.random.Generator
    unit: Unit = field(default_factory=lambda: Unit.row("replace"))

    @property
    def domain(self):
        return grid(*self.table.shape)

    def measure(self, asked, event):
        counts = asked.counts(Cells(self.domain, self.table, self.unit))
        return SimpleNamespace(values=counts + self.noise * self.generator.choice([-1, 1], counts.shape))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["clustered", "line", "single", "even"])
def test_no_side_cuts_through_more_than_is_proved(kind):
    """Steps 1 to 3 of the proof with noise that is always as large as allowed, at every side of two columns."""
    table = {
        "clustered": clustered((16, 12), 3_000_000),
        "line": np.outer(np.arange(16) == 5, np.full(12, 250_000)).astype(np.int64),
        "single": np.outer(np.arange(16) == 5, np.arange(12) == 3).astype(np.int64) * 3_000_000,
        "even": np.full((16, 12), 15_000),
    }[kind]
    mechanism = RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1), accuracy=0.5)
    kernel = Bounded(table, 150, np.random.default_rng(len(kind)))
    steps = mechanism._tables(kernel.domain, kernel.unit)[0]
    boxes = cut(kernel, steps, float(table.sum()))
    rows = Boxes(("x", "y"), boxes.low, boxes.high).counts(Cells(kernel.domain, table))
    wrong = (2 * steps.splits + 1) * kernel.noise
    assert (np.abs(boxes.mass - rows) <= wrong).all()
    shift = max(wrong + 150, 7 / 16 * (FEWEST * NoiseLevel(steps.step, one_cell(kernel.unit)).sigma + wrong))
    parts = [round(math.exp(each)) for each in log_parts([math.log(16), math.log(12)], steps.splits)]
    assert len(rows) <= math.prod(parts)
    for axis in (0, 1):
        for place in range(1, table.shape[axis]):
            through = (boxes.low[:, axis] < place) & (place < boxes.high[:, axis])
            assert through.sum() <= parts[1 - axis]
            limit = (9 / 16) ** steps.splits * table.sum() + 16 / 7 * parts[1 - axis] * shift
            assert rows[through].sum() <= limit


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("who", 2)], ids=str)
def test_it_promises_what_its_theorem_proves(unit):
    """At its own rows, on a table that is hard to cut: one heavy line and a slope."""
    domain = grid(8, 8)
    mechanism = RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1), accuracy=0.5)
    rows = math.ceil(mechanism.required_rows(domain, unit))
    assert mechanism.promise(domain, unit, rows) == 0.5 * rows
    assert mechanism.promise(domain, unit, rows - 1) is None
    if unit.public_rows:
        assert rows <= RectanglesBound(bits=(3, 3)).rows(0.5, 1) <= 1.1 * rows
    weights = np.outer(2.0 ** -np.arange(8), 1 + 20 * (np.arange(8) == 3))
    table = np.floor(weights / weights.sum() * rows).astype(np.int64)
    table[0, 0] += rows - table.sum()
    truth = Cells(domain, table, unit)
    found = run(mechanism, truth, Noise())
    assert mechanism.queries[0].worst(truth, found) <= 0.5


def test_where_boxes_may_remain_uncut_nothing_is_promised():
    queries = (Rectangles(columns=("x", "y", "z")),)
    mechanism = RectangleSearch(queries=queries, budget=Budget(1), accuracy=0.3)
    assert mechanism.required_rows(grid(64, 64, 64), Unit.row()) == math.inf
    assert mechanism.promise(grid(64, 64, 64), Unit.row(), 10**15) is None


def test_refusals_name_the_parameter_and_what_works():
    for accuracy in (0, 1, float("inf")):
        with pytest.raises(BadParameter, match="accuracy"):
            RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(1), accuracy=accuracy)
    with pytest.raises(Refused, match="interval-tree"):
        RectangleSearch(queries=(Intervals(column="x"),), budget=Budget(1)).check(PLANE, Unit.row())
