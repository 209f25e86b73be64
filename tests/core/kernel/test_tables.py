from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.asked import Change
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST, TOTAL, Blocks, Boxes, Distances, Interval, Marginal, _covered_twice
from core.privacy.unit import Unit
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


def test_an_interval_counts_its_own_cells_and_no_others():
    table = np.array([5, 1, 2, 7])
    counts = Cells(grid(4), table)
    for first, last in combinations(range(5), 2):
        assert Interval("x", first, last).counts(counts) == table[first:last].sum()


def test_tables_and_blocks_by_hand():
    table = np.arange(30).reshape(6, 5)
    counts = Cells(grid(6, 5), table)
    assert np.array_equal(Marginal(("x", "y")).counts(counts), table)
    assert TOTAL.counts(counts) == table.sum() and Marginal.denominator == 1
    found = Blocks(("x", "y"), (np.array([0, 2, 3]), np.array([0, 4]))).counts(counts)
    rows = (slice(0, 2), slice(2, 3), slice(3, 6))
    assert found.tolist() == [[table[part, :4].sum(), table[part, 4:].sum()] for part in rows]


@pytest.mark.parametrize("starts", [[], [1, 2], [0, 0], [0, 3, 2], [-1, 0]])
def test_blocks_that_do_not_follow_one_another_are_refused(starts):
    with pytest.raises(BadParameter, match="starts"):
        Blocks(("x",), (np.array(starts, dtype=np.int64),))


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 3), Unit.row("replace"), Unit.id("who", 3, "replace")])
def test_changes_by_hand(unit):
    """L rows of one cell, or a replacement of L by L."""
    together = 2 if unit.neighbours == "replace" else 1
    tables = Marginal(("x",)), Blocks(("x",), (np.array([0]),)), Boxes(("x",), np.array([[0]]), np.array([[1]]))
    for asked in tables:
        assert asked.change(unit) == Change(together * unit.limit, together * unit.limit**2)
    for asked in (TOTAL, Interval("x", 0, 1)):
        assert asked.change(unit) == Change(unit.limit, unit.limit**2)
    three = Distances((("x",),) * 3, (np.zeros(2, dtype=np.int64),) * 3).change(unit)
    assert three == Change(3 * together * unit.limit, 3 * (together * unit.limit) ** 2)
    assert Distances((("x",),), (np.zeros(2, dtype=np.int64),)).furthest(unit) == together * unit.limit


def test_distances_by_hand():
    counts = Cells(grid(3, 2), np.array([[1, 2], [3, 4], [5, 6]]))
    references = (np.array([0, 9, 11]), np.array([[1, 2], [3, 4], [5, -6]]))
    assert Distances((("x",), ("x", "y")), references).counts(counts).tolist() == [3 + 2 + 0, 12]


def test_distances_are_clipped_where_their_sum_would_leave_64_bits():
    crowd = Cells(grid(2), np.array([2**62, 0]))
    far = np.array([-(2**62), 2**62])
    assert Distances((("x",),), (far,)).counts(crowd).tolist() == [3 * (LARGEST // 2)] and LARGEST == 2**60


@pytest.mark.parametrize("dense", [True, False])
def test_boxes_that_touch_are_apart_and_boxes_that_share_a_corner_cell_are_not(dense):
    """Many small boxes on few cells are compared by the cells that they cover."""
    cells = np.array(list(np.ndindex(3, 3) if dense else [(0, 0), (2, 2)]))
    counts = Cells(grid(3, 3), np.arange(9).reshape(3, 3))
    boxes = Boxes(("x", "y"), cells, cells + 1)
    assert boxes.counts(counts).tolist() == [3 * x + y for x, y in cells.tolist()]
    again = np.concatenate([cells, cells[-1:]])
    with pytest.raises(BadParameter, match="overlap"):
        Boxes(("x", "y"), again, again + 1).counts(counts)


@pytest.mark.parametrize("shape", [(2,), (2, 2), (2, 3, 2)])
def test_cells_that_are_covered_twice_are_found_in_any_corner(shape):
    every = np.array(list(np.ndindex(shape)))
    assert not _covered_twice(every, every + 1)
    for cell in every:
        assert _covered_twice(np.vstack([every, cell]), np.vstack([every + 1, cell + 1]))
    assert not _covered_twice(every[:1], np.array([shape]))
    assert _covered_twice(every[:2] * 0, np.array([shape, shape]))
