import math

import numpy as np
import pytest

from core.queries import rectangles
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from core.table.counts import Cells


def grid(*sizes):
    return Domain(tuple(Integers(name=f"n{place}", low=0, high=size - 1) for place, size in enumerate(sizes)))


def pair(domain, seed):
    generator = np.random.default_rng(seed)
    return (Cells(domain, generator.integers(0, 9, domain.cells())) for _ in range(2))


def test_corners_are_a_summed_area_table():
    counts = Cells(grid(2, 3), np.arange(6))
    corners = Rectangles(columns=("n0", "n1")).corners(counts)
    assert corners.tolist() == [[0, 0, 0, 0], [0, 0, 1, 3], [0, 3, 8, 15]]
    assert corners.dtype == np.int64


def test_columns_may_come_in_any_order():
    domain = grid(2, 3)
    counts = Cells(domain, np.arange(6))
    swapped = Rectangles(columns=("n1", "n0"))
    box = swapped.box(domain, [(0, 2), (1, 2)])
    assert box.words == "share of rows with n1 from 0 to 1 and n0 = 1"
    assert box.total(counts) == 3 + 4


@pytest.mark.parametrize("sizes", [(9, 7), (16, 16), (5, 4, 6)])
@pytest.mark.parametrize("work", [200, 60, 30])
def test_bounds_hold_when_the_grid_is_too_large_to_compare_exactly(sizes, work, monkeypatch):
    query = Rectangles(columns=grid(*sizes).names)
    for seed in range(4):
        truth, estimate = pair(grid(*sizes), seed)
        exact = query.worst(truth, estimate)
        assert math.isclose(exact, np.abs(query.answers(truth) - query.answers(estimate)).max())
        with monkeypatch.context() as patch:
            patch.setattr(rectangles, "MOST_WORK", work)
            low, high = query.worst_between(truth, estimate)
            assert query.worst(truth, estimate) == high
        assert low <= exact + 1e-12
        assert exact <= high + 1e-12
        assert low < high


def test_an_exact_worst_error_has_equal_bounds():
    truth, estimate = pair(grid(6, 5), 0)
    low, high = Rectangles(columns=("n0", "n1")).worst_between(truth, estimate)
    assert low == high > 0
