from itertools import product

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.asked import Change
from core.kernel.searches.uneven import HEAVIEST, Unevenness
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells


def cells(table, unit=None):
    counts = np.array(table)
    names = (Integers(name=name, low=0, high=size - 1) for name, size in zip("xy", counts.shape, strict=False))
    return Cells(Domain(tuple(names)), counts, unit or Unit.row())


def unevenness(begins, firsts, weights):
    return Unevenness(("x",), (np.array(begins),), (np.array(firsts),), np.array(weights))


def boxes(begins, firsts, weights):
    """Of two columns, both cut alike."""
    return Unevenness(("x", "y"), (np.array(begins),) * 2, (np.array(firsts),) * 2, np.array(weights))


def test_by_hand():
    # Three stretches: cells 0-3 in parts of two, cells 4-6 one by one, cell 7 alone.
    asked = unevenness([0, 2, 4, 5, 6, 7], [0, 2, 5], [3, 5, 7])
    assert asked.counts(cells([1, 2, 9, 1, 6, 0, 4, 50])) == 3 * (10 - 3) + 5 * (6 - 0)
    assert asked.change(Unit.row()) == Change(7, 49)
    assert asked.change(Unit.id("who", 3, "replace")) == Change(42, 42**2)


def test_boxes_by_hand():
    # Of 4 x 4 cells the boxes of the first three lines and columns, in parts of 1 and 2, and of the last ones.
    asked = boxes([0, 1, 3], [0, 2], [[1, 10], [100, 1_000]])
    table = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]
    assert asked.counts(cells(table)) == (34 - 1) + 10 * (8 + 12 - 4) + 100 * (29 - 13) + 1_000 * 0
    assert asked.change(Unit.row()) == Change(1_000, 1_000_000)


def most_moved(asked, shape, rows=3):
    """By how much one row more, or one row elsewhere, moves it in any small table."""
    moved = {"added": 0, "replaced": 0}
    for counts in product(range(rows), repeat=int(np.prod(shape))):
        table = np.reshape(counts, shape)
        at = int(asked.counts(cells(table)))
        for place in np.ndindex(*shape):
            more = table.copy()
            more[place] += 1
            moved["added"] = max(moved["added"], abs(int(asked.counts(cells(more))) - at))
            for other in np.argwhere(table):
                less = more.copy()
                less[tuple(other)] -= 1
                moved["replaced"] = max(moved["replaced"], abs(int(asked.counts(cells(less))) - at))
    return moved


@pytest.mark.parametrize(
    ("asked", "shape", "rows"),
    [
        (unevenness([0, 1, 2, 3], [0, 2], [2, 3]), (4,), 3),
        (boxes([0, 1, 2], [0, 2], [[3, 2], [2, 3]]), (3, 3), 2),
    ],
)
def test_no_row_moves_it_by_more_than_is_claimed(asked, shape, rows):
    """Every small table, with one row more or one row elsewhere; some rows move it by as much as is claimed."""
    moved = most_moved(asked, shape, rows)
    assert moved["added"] == asked.change(Unit.row()).l1 == 3
    assert moved["replaced"] <= asked.change(Unit.row("replace")).l1 == 6
    assert len(shape) > 1 or moved["replaced"] == 6


def test_sums_stay_in_64_bits():
    asked = unevenness([0, 1, 2, 3], [0, 2], [HEAVIEST, HEAVIEST])
    assert asked.counts(cells([2**62, 0, 2**62, 0])) == LARGEST


@pytest.mark.parametrize(
    ("begins", "firsts", "weights", "wrong"),
    [
        ([1, 2], [0], [1], "starts"),
        ([0, 0], [0], [1], "starts"),
        ([0, 1], [1], [1], "starts"),
        ([0, 1], [0, 0], [1, 1], "starts"),
        ([0, 1], [0, 2], [1, 1], "firsts"),
        ([0, 1], [0], [1, 1], "firsts"),
        ([0, 1], [0], [-1], "weights"),
        ([0, 1], [0], [HEAVIEST + 1], "weights"),
        ([0, 1], [0, 1], [1, HEAVIEST + 1], "weights"),
        ([0, 1], [0, 1], [-1, 1], "weights"),
        ([0, 1], [0], [0.5], "weights"),
    ],
)
def test_what_is_not_a_cut_column_is_refused(begins, firsts, weights, wrong):
    with pytest.raises(BadParameter, match=wrong):
        unevenness(begins, firsts, weights)


def test_every_column_has_parts_and_boxes():
    one = (np.array([0]),)
    for columns, begins, firsts in ((("x", "y"), one, one), (("x", "y"), one * 2, one), (("x",), one, one * 2)):
        with pytest.raises(BadParameter, match="along each"):
            Unevenness(columns, begins, firsts, np.ones((1,) * len(columns), dtype=int))
    with pytest.raises(BadParameter, match="along each"):
        Unevenness((), (), (), np.ones((), dtype=int))
    with pytest.raises(BadParameter, match="firsts"):
        Unevenness(("x", "y"), one * 2, one * 2, np.array([1]))
