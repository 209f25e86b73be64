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


def cells(table):
    return Cells(Domain((Integers(name="x", low=0, high=len(table) - 1),)), np.array(table))


def unevenness(begins, firsts, weights):
    return Unevenness(("x",), np.array(begins), np.array(firsts), np.array(weights))


def test_by_hand():
    # Three stretches: cells 0-3 in parts of two, cells 4-6 one by one, cell 7 alone.
    asked = unevenness([0, 2, 4, 5, 6, 7], [0, 2, 5], [3, 5, 7])
    assert asked.counts(cells([1, 2, 9, 1, 6, 0, 4, 50])) == 3 * (10 - 3) + 5 * (6 - 0)
    assert asked.change(Unit.row()) == Change(7, 49)
    assert asked.change(Unit.id("who", 3, "replace")) == Change(42, 42**2)


def test_no_row_moves_it_by_more_than_is_claimed():
    """Every small table, with one row more or one row elsewhere; some rows move it by as much as is claimed."""
    asked, moved = unevenness([0, 1, 2, 3], [0, 2], [2, 3]), {"added": 0, "replaced": 0}
    for table in product(range(3), repeat=4):
        at = int(asked.counts(cells(table)))
        for place in range(4):
            more = np.array(table)
            more[place] += 1
            moved["added"] = max(moved["added"], abs(int(asked.counts(cells(more))) - at))
            for other in np.flatnonzero(table):
                less = more.copy()
                less[other] -= 1
                moved["replaced"] = max(moved["replaced"], abs(int(asked.counts(cells(less))) - at))
    assert moved["added"] == asked.change(Unit.row()).l1 == 3
    assert moved["replaced"] == asked.change(Unit.row("replace")).l1 == 6


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
        ([0, 1], [0], [0.5], "weights"),
    ],
)
def test_what_is_not_a_cut_column_is_refused(begins, firsts, weights, wrong):
    with pytest.raises(BadParameter, match=wrong):
        unevenness(begins, firsts, weights)


def test_it_is_about_one_column():
    with pytest.raises(BadParameter, match="columns"):
        Unevenness(("x", "y"), np.array([0]), np.array([0]), np.array([1]))
