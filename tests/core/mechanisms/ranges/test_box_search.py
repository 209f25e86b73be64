"""Where the search for boxes begins: what is asked before, what follows from it, and what it is good for."""

from fractions import Fraction

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.mechanisms.ranges import box_search, stages
from core.mechanisms.ranges.box_search import COARSE_PARTS, find_boxes
from core.mechanisms.ranges.nested import NestedBoxes
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.mechanisms.ranges.stages import Stage
from core.models import tables as tables_model
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.unit import Unit
from core.queries.rectangles import Rectangles
from core.table.counts import Cells
from tests.core.mechanisms.ranges.test_stages import domain_of, mean_error
from tests.core.mechanisms.replay import BUDGETS, UNITS, check_private

BOTH = ("x", "y")


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)


def hump():
    fall = np.exp(-(np.linspace(-2, 2, 128) ** 2))
    return np.outer(fall, fall)


def lines():
    shape = np.zeros((128, 128))
    shape[5::23, :] = 1.0
    shape[:, 9::31] += 1.0
    return shape


def specks():
    return (np.random.default_rng(5).random((128, 128)) < 0.01).astype(float)


def one_place():
    shape = np.zeros((128, 128))
    shape[3:9:2, 80:90:3] = 1.0
    return shape


def half_a_hump():
    return hump() * (np.arange(128) < 60)


LEFT = Laplace(Fraction(7, 10))
"""What is left of an epsilon of 1 to count with."""


def drawn(shape, rows=20_000, seed=0):
    return np.random.default_rng(seed).multinomial(rows, (shape / shape.sum()).ravel()).reshape(shape.shape)


def found(truth, event=LEFT, unit=None, seed=0) -> NestedBoxes:
    stage = Stage(BOTH, Pure(Fraction(3, 10)), event)
    reserved = (Pure(Fraction(1)),) if isinstance(event, Laplace) else (stage.finding, event)
    counts = Cells(domain_of(*truth.shape), truth, unit or Unit.row("replace"))
    return find_boxes(Kernel(counts, SimulatedNoise(np.random.default_rng(seed)), Cost(reserved)), stage)


def sizes(nested, level):
    boxes = nested.tree.boxed[level]
    return (boxes.high - boxes.low).prod(axis=1)


def paid(nested):
    """What is still to be paid for counts, in epsilon or rho."""
    return sum(each.epsilon if isinstance(each, Laplace) else each.rho for each in nested.events.values())


def test_a_smooth_table_is_searched_from_few_boxes():
    nested = found(drawn(half_a_hump()))
    assert not nested.known
    # What is empty is left as it was at first.
    assert set(sizes(nested, 0).tolist()) == {32**2, 16**2}
    # All but what the question took.
    assert Fraction(7, 10) * Fraction(98, 100) <= paid(nested) < Fraction(7, 10)


@pytest.mark.parametrize("event", [Laplace(Fraction(7, 10)), Gaussian(Fraction(1, 10))])
@pytest.mark.parametrize("shape", [lines(), one_place()])
def test_an_uneven_table_is_searched_from_parts_of_coarse_boxes(shape, event):
    nested = found(drawn(shape), event)
    assert set(nested.known) == {0} and sizes(nested, 0).tolist() == [16**2] * COARSE_PARTS**2
    rows = nested.known[0].values
    begun = np.bincount(nested.tree.boxed[1].parents)
    assert set(begun.tolist()) <= {4**step for step in range(5)}
    assert begun[rows > 300].min(initial=99) >= 4 and begun[rows < 0].max(initial=1) == 1
    assert list(nested.events) == [nested.tree.levels - 1]


def test_every_cell_is_counted_where_single_ones_are_filled_all_over():
    nested = found(drawn(specks()))
    assert [len(sizes(nested, level)) for level in range(nested.tree.levels)] == [64, 64 * 16, 128**2]
    assert list(nested.events) == [1, 2]
    # The search's part is spent on counts: all but coarse boxes and the question.
    assert paid(nested) > Fraction(3, 10) + Fraction(7, 10) * Fraction(6, 10)


def test_pure_and_gaussian_noise_do_not_mix():
    nested = found(drawn(specks()), Gaussian(Fraction(1, 10)))
    assert all(isinstance(event, Gaussian) for event in nested.events.values())
    assert paid(nested) < Fraction(1, 10)


def test_few_rows_are_not_asked():
    nested = found(drawn(specks(), 7_000))
    assert not nested.known and paid(nested) == LEFT.epsilon
    assert found(drawn(specks(), 7_200)).known
    # Where noise is large it takes more of them.
    dim = Laplace(Fraction(1, 20))
    nested = found(drawn(specks(), 7_200), dim)
    assert not nested.known and paid(nested) == dim.epsilon


def test_private_rows_are_counted_first():
    nested = found(drawn(hump()), unit=Unit.row())
    assert Fraction(7, 10) * Fraction(97, 100) <= paid(nested) < Fraction(7, 10) * Fraction(99, 100)


def test_small_boxes_and_their_parts_cover_any_table():
    for shape in ((128, 128), (7, 1_000), (33, 100, 5)):
        columns = tuple("xyz"[: len(shape)])
        asked = box_search._grid(domain_of(*shape), columns)
        for size, begins, firsts in zip(shape, asked.begins, asked.firsts, strict=True):
            assert begins[0] == 0 and (np.diff(begins) > 0).all() and begins[-1] < size
            boxes, parts = len(firsts), np.diff(firsts, append=len(begins))
            assert boxes == min(size, box_search.GRID[len(shape)]) and parts.max() <= box_search.CUT[len(shape)]
        assert asked.change(Unit.row()).l1 == 1


def test_smooth_tables_are_not_taken_for_uneven():
    for seed in range(10):
        assert not found(drawn(hump(), 20_000, seed), seed=seed).known


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy(budget, unit, monkeypatch):
    monkeypatch.setattr(stages, "SMALLEST", {1: 16, 2: 30, 3: 30})
    monkeypatch.setattr(box_search, "TOO_LITTLE", 1e9)
    monkeypatch.setattr(box_search, "FEWEST_ROWS", -1e9)
    tree = RectangleTree(queries=(Rectangles(columns=BOTH),), budget=budget)
    # Smooth; uneven; and scattered, whatever the table is.
    for uneven, scattered in ((1e9, 1e9), (-1e9, 1e9), (-1e9, -1e9)):
        monkeypatch.setattr(box_search, "UNEVEN", uneven)
        monkeypatch.setattr(box_search, "CHANCE", uneven)
        monkeypatch.setattr(box_search, "SCATTERED", scattered)
        monkeypatch.setattr(box_search, "SPREAD", scattered)
        monkeypatch.setattr(box_search, "CROWDED", scattered)
        check_private(tree, domain_of(9, 18), unit, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [lines(), specks()])
def test_rows_in_lines_and_cells(shape, monkeypatch):
    tree, generator = RectangleTree(queries=(Rectangles(columns=BOTH),), budget=Budget(1)), np.random.default_rng(3)
    truths = [drawn(shape, 10_000, seed) for seed in range(8)]

    def error():
        return np.mean([mean_error(tree, truth, BOTH, Unit.row(), generator) for truth in truths])

    asked = error()
    monkeypatch.setattr(box_search, "TOO_LITTLE", 0.0)
    assert asked < 0.85 * error()
