from itertools import combinations
from math import comb

import numpy as np
import pytest

from core.queries.kit import subsets


@pytest.mark.parametrize(("n", "size"), [(1, 1), (5, 0), (5, 2), (7, 3), (6, 6), (9, 8)])
def test_places_and_subsets_are_each_others_inverse(n, size):
    lines = subsets.listed(n, size)
    assert [tuple(line) for line in lines] == list(combinations(range(n), size))
    assert subsets.places(n, lines).tolist() == list(range(comb(n, size)))
    assert [subsets.at(n, size, index) for index in range(len(lines))] == list(combinations(range(n), size))


def test_large_sets_are_found_without_listing():
    assert subsets.at(10**6, 2, 0) == (0, 1)
    assert subsets.at(10**6, 2, comb(10**6, 2) - 1) == (10**6 - 2, 10**6 - 1)
    assert subsets.places(40, np.array([subsets.at(40, 5, 123_456)])).tolist() == [123_456]
