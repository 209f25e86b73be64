from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.kernel.searches.crowding import Boxed
from core.mechanisms.ranges.nested import BoxTree, NestedBlocks, NestedBoxes, parts_of
from core.models.fitting.pyramid import nonnegative, pyramid
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.noise import Noise
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

MANY = Fraction(10**6)


def halves():
    """A table of 4 x 4 cells, whole; its quarters; and the first quarter as cells."""
    whole = Boxed(np.array([[0, 0]]), np.array([[4, 4]]), np.zeros(0, dtype=int))
    low = np.array([[0, 0], [0, 2], [2, 0], [2, 2]])
    quarters = Boxed(low, low + 2, np.zeros(4, dtype=int))
    cells = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [2, 2]])
    wide = np.where(np.isin(np.arange(7), (2, 5, 6))[:, None], 2, 1)
    return BoxTree((whole, quarters, Boxed(cells, cells + wide, np.array([0, 0, 1, 0, 0, 2, 3]))))


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_parts_sum_to_the_whole_and_fall(kind):
    parts = parts_of(kind(Fraction(3, 7)), 0.5, 4)
    amounts = [each.epsilon if kind is Laplace else each.rho for each in parts]
    assert sum(amounts) == Fraction(3, 7)
    ratio = 0.5 if kind is Laplace else 0.25
    for above, below in pairwise(amounts):
        assert float(below / above) == pytest.approx(ratio, rel=1e-4)


def test_boxes_nest_and_spread_evenly():
    tree = halves()
    assert [tree.grid(level) for level in range(tree.levels)] == [(1,), (4,), (7,)]
    assert tree.families[1].tolist() == [[0, 1, 3, 4], [2, -1, -1, -1], [5, -1, -1, -1], [6, -1, -1, -1]]
    spread = tree.spread(np.array([1.0, 2, 8, 3, 4, 0, 4]), (4, 4))
    assert spread[:2, :2].tolist() == [[1, 2], [3, 4]]
    assert spread[:2, 2:].tolist() == [[2, 2], [2, 2]]
    assert spread[2:, 2:].tolist() == [[1, 1], [1, 1]]
    assert spread.min() >= 0


def test_boxes_are_measured_at_the_levels_that_are_paid():
    truth = np.arange(16).reshape(4, 4) * 1_000
    domain = Domain(tuple(Integers(name=name, low=0, high=3) for name in "xy"))
    nested = NestedBoxes(("x", "y"), (4, 4), halves(), {1: Laplace(MANY), 2: Laplace(MANY)})
    kernel = Kernel(Cells(domain, truth), Noise(), Cost((Pure(2 * MANY),)))
    estimate = nested.measure(kernel)
    assert estimate.values[0] == pytest.approx([truth.sum()])
    found = nested.spread(nonnegative(estimate, float(truth.sum())))
    assert found[:2, :2] == pytest.approx(truth[:2, :2], abs=1e-6)
    assert found[2:, :2] == pytest.approx(np.full((2, 2), truth[2:, :2].mean()))


def test_blocks_over_stretches():
    truth, starts = np.array([5, 0, 0, 0, 7, 9, 1, 1]), np.array([0, 1, 4, 5, 6])
    domain = Domain((Integers(name="x", low=0, high=7),))
    blocks = pyramid((5,), 2, 2).over(starts, 8)
    nested = NestedBlocks(("x",), blocks, tuple(Laplace(MANY) for _ in range(blocks.levels)))
    kernel = Kernel(Cells(domain, truth), Noise(), Cost((Pure(MANY * blocks.levels),)))
    found = nested.spread(nonnegative(nested.measure(kernel), 23.0))
    assert found == pytest.approx(truth, abs=1e-6)
