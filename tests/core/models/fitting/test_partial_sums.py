from itertools import combinations, permutations

import numpy as np
import pytest

from core.base.axes import summed
from core.models.fitting.partial_sums import marginals
from core.models.histogram import Histogram
from tests.core.samples import SMALL, small_cells

NAMES = ("a", "b", "c", "d")
CUBE = np.random.default_rng(0).integers(0, 1000, (2, 3, 4, 5))


@pytest.mark.parametrize("order", range(5))
def test_every_marginal_equals_its_own_sum_exactly(order):
    sets = list(combinations(NAMES, order))
    found = marginals(CUBE, NAMES, sets)
    assert list(found) == sets
    for columns in sets:
        assert found[columns].dtype == CUBE.dtype
        assert np.array_equal(found[columns], summed(CUBE, NAMES, columns))


def test_sets_of_several_orders_and_layouts_together():
    sets = [(), ("d",), *permutations(("a", "c", "d"), 3), NAMES, ("d",)]
    found = marginals(CUBE, NAMES, sets)
    for columns in sets:
        assert np.array_equal(found[columns], summed(CUBE, NAMES, columns))


def test_no_sets_give_no_tables():
    assert marginals(CUBE, NAMES, []) == {}


def test_a_histogram_gives_its_marginals_together():
    model = Histogram(SMALL, small_cells())
    sets = list(combinations(SMALL.names, 2))
    found = model.marginals(sets)
    assert all(np.array_equal(found[columns], model.marginal(columns)) for columns in sets)
