from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.remembered import Remembered
from core.kernel.tables import Boxes, Interval
from core.schema.domain import Domain, Integers
from core.table.counts import Cells


def grid(*sizes):
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in zip("xyz", sizes, strict=False)))


def cells_of(low, high):
    return {tuple(cell + low) for cell in np.ndindex(*(high - low))}


def test_box_counts_come_from_corners():
    table = np.random.default_rng(0).integers(0, 9, (6, 5, 4))
    low, high = np.array([[0, 1, 2], [3, 0, 0]]), np.array([[3, 4, 3], [5, 5, 4]])
    counts = Cells(grid(6, 5, 4), table)
    expected = [table[0:3, 1:4, 2:3].sum(), table[3:5].sum()]
    for source in (counts, Remembered(counts)):
        assert Boxes(("x", "y", "z"), low, high).counts(source).tolist() == expected


@pytest.mark.parametrize("sizes", [(12,), (9, 2), (5, 6), (4, 3, 3)])
@pytest.mark.parametrize("boxes", [0, 1, 2, 3, 8, 40])
def test_boxes_are_refused_exactly_where_two_of_them_share_a_cell(sizes, boxes):
    """Also where there are more pairs of boxes than cells, and where boxes are empty."""
    generator = np.random.default_rng(boxes)
    domain, seen = grid(*sizes), set()
    counts = Cells(domain, np.ones(sizes, dtype=np.int64))
    for _ in range(60):
        low = generator.integers(0, sizes, (boxes, len(sizes)))
        high = np.minimum(low + generator.integers(0, generator.integers(2, 5), low.shape), sizes)
        sets = [cells_of(*box) for box in zip(low, high, strict=True)]
        meet = any(one & two for one, two in combinations(sets, 2))
        seen.add(meet)
        asked = Boxes(domain.names, low, high)
        if meet:
            with pytest.raises(BadParameter, match="overlap"):
                asked.counts(counts)
        else:
            assert asked.counts(counts).tolist() == [len(each) for each in sets]
    assert False in seen or boxes > 3
    assert True in seen or boxes < 2


def test_boxes_and_intervals_outside_the_table_are_refused():
    counts = Cells(grid(4), np.arange(4))
    for first, last in ((-1, 2), (0, 5), (3, 2)):
        with pytest.raises(BadParameter, match="inside"):
            Interval("x", first, last).counts(counts)
        with pytest.raises(BadParameter, match="inside"):
            Boxes(("x",), np.array([[first]]), np.array([[last]])).counts(counts)
    assert Interval("x", 1, 3).counts(counts) == 3
