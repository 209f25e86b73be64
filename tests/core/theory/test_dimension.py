"""Shattering, against a search that tries everything."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.base.errors import BadParameter
from core.theory.dimension import fat_dimension, finite_class, sauer_shelah, vc_dimension


def intervals(points: int) -> np.ndarray:
    place = np.arange(points)
    return np.array([(place >= low) & (place < high) for low in range(points) for high in range(low, points + 1)])


def parities(bits: int) -> np.ndarray:
    cells = np.array(list(product((0, 1), repeat=bits)))
    return cells @ cells.T % 2


def conjunctions(bits: int) -> np.ndarray:
    cells = np.array(list(product((0, 1), repeat=bits)))
    return np.array([np.all(cells >= mask, axis=1) for mask in cells])


def slow(matrix: np.ndarray, gamma: float) -> int:
    """The definition: every set, every witness, every pattern."""
    best = 0
    for size in range(1, matrix.shape[1] + 1):
        for columns in combinations(range(matrix.shape[1]), size):
            chosen = matrix[:, columns]
            levels = [np.unique(column) + gamma for column in chosen.T]
            for witness in product(*levels):
                high, low = chosen >= np.array(witness) + gamma - 1e-12, chosen <= np.array(witness) - gamma + 1e-12
                patterns = {tuple(line) for line in high[np.all(high | low, axis=1)]}
                if len(patterns) == 2**size:
                    best = max(best, size)
    return best


@pytest.mark.parametrize(
    ("matrix", "dimension"),
    [
        (np.array([[0, 1, 1]]), 0),
        (np.array([[0, 1, 1], [0, 1, 0]]), 1),
        (np.eye(9), 1),
        (np.tri(9), 1),
        (intervals(12), 2),
        (1 - intervals(12), 2),
        (parities(4), 4),
        (conjunctions(5), 5),
        (np.array(list(product((0, 1), repeat=6))), 6),
    ],
    ids=["one", "two", "points", "thresholds", "intervals", "outside", "parities", "conjunctions", "everything"],
)
def test_known_vc_dimensions(matrix, dimension):
    found = vc_dimension(matrix)
    assert found.exact
    assert found.low == dimension


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None)
@given(hnp.arrays(np.int8, st.tuples(st.integers(1, 9), st.integers(1, 5)), elements=st.integers(0, 1)))
def test_vc_dimension_is_what_the_definition_says(matrix):
    assert vc_dimension(matrix).high == slow(matrix, 0.5)


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None)
@given(
    hnp.arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(0, 10)),
    st.sampled_from([0.05, 0.1, 0.15, 0.25, 0.5]),
)
def test_fat_dimension_is_what_the_definition_says(tenths, gamma):
    found = fat_dimension(tenths / 10, gamma)
    assert found.exact
    assert found.low == slow(tenths / 10, gamma)


def test_weights_on_the_edge_of_the_scale_count():
    # 0.1 + 2 * 0.1 is above 0.3 in floating point.
    assert fat_dimension(np.array([[0.1], [0.3]]), 0.1).low == 1
    assert fat_dimension(np.array([[0.1], [0.3]]), 0.101).low == 0


def test_witnesses_may_differ_between_points():
    matrix = np.array([[0.0, 0.6], [0.0, 1.0], [0.4, 0.6], [0.4, 1.0]])
    assert fat_dimension(matrix, 0.2).low == 2
    assert fat_dimension(matrix, 0.21).low == 0


@pytest.mark.exhaustive
def test_the_dimension_falls_with_the_scale():
    matrix = np.random.default_rng(3).integers(0, 11, (80, 8)) / 10
    found = [fat_dimension(matrix, gamma) for gamma in (0.05, 0.15, 0.25, 0.35, 0.5)]
    assert all(dimension.exact for dimension in found)
    falling = [dimension.low for dimension in found]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > falling[-1]


def test_a_search_that_is_cut_short_gives_certain_bounds():
    matrix = np.random.default_rng(4).integers(0, 2, (64, 40))
    exact = vc_dimension(matrix)
    assert exact.exact
    short = vc_dimension(matrix, most_steps=3)
    assert not short.exact
    assert short.low <= exact.low <= short.high == 6


def test_sauer_and_shelah_lift_the_lower_bound_of_a_short_search():
    # 12 points, all sets of at most 2: dimension 2, more sets than dimension 1 allows.
    sets = [np.isin(np.arange(12), chosen) for size in range(3) for chosen in combinations(range(12), size)]
    short = vc_dimension(np.array(sets), most_steps=1)
    assert (short.low, short.high) == (2, 6)
    assert "Sauer" in short.why


def test_sauer_and_shelah_by_hand():
    # 1 + 10 + 45 = 56.
    assert [sauer_shelah(math.log(size), 10) for size in (1, 2, 11, 12, 56, 57, 1024)] == [0, 1, 1, 2, 2, 3, 10]


def test_sizes_alone_bound_a_dimension():
    assert finite_class(math.log(1000)).high == 9
    assert finite_class(64 * math.log(2)).high == 64
    assert finite_class(math.log(2**20), math.log(12)).high == 12
    assert finite_class(math.inf).high == math.inf


@pytest.mark.parametrize("matrix", [np.zeros((0, 3)), np.zeros(3), np.array([[0, 2]]), np.array([[math.nan]])])
def test_what_is_no_class_is_refused(matrix):
    with pytest.raises(BadParameter, match="matrix"):
        vc_dimension(matrix)


def test_weights_are_no_predicates_and_scales_end_at_a_half():
    with pytest.raises(BadParameter, match="0 and 1"):
        vc_dimension(np.array([[0.5]]))
    for gamma in (0, 0.6, math.nan):
        with pytest.raises(BadParameter, match="gamma"):
            fat_dimension(np.eye(2), gamma)
