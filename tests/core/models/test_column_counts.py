"""Sums of measured counts: made of the largest blocks, and off by no more than is said, for all sets at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import chdtri

from core.models.column_counts import ColumnCounts

STARTS = (np.array([0, 3]), np.arange(6))


def nested(values: np.ndarray, variance: float = 1.0) -> ColumnCounts:
    """Two blocks of three cells each, told apart from the cells themselves."""
    blocks = values.reshape(2, 3).sum(axis=1) + 100.0
    return ColumnCounts(STARTS, (blocks, values), (np.full(2, variance), np.full(6, variance)))


@pytest.mark.parametrize(
    ("chosen", "value", "pieces"),
    [([1, 1, 1, 0, 0, 0], 103, 1), ([1, 1, 1, 1, 0, 0], 104, 2), ([0, 1, 1, 1, 1, 0], 4, 4), ([0] * 6, 0, 0)],
)
def test_the_largest_blocks_that_lie_in_a_set_are_taken(chosen, value, pieces):
    found, reach = nested(np.ones(6)).sum_of(np.array(chosen, dtype=bool), 0.05)
    assert found == value
    log_choices = np.log([1, 8, 28, 56, 70][pieces])
    assert reach == pytest.approx(np.sqrt(2 * pieces * (log_choices + np.log(20))))


def test_what_all_cells_share_counts_as_often_as_there_are_cells():
    counts = ColumnCounts.flat(np.ones(4), 0.0, shared=16.0)
    one, all_of_them = (counts.sum_of(np.arange(4) < size, 0.05)[1] for size in (1, 4))
    assert one == pytest.approx(np.sqrt(2 * 1 * (np.log(4) + np.log(20))))
    assert all_of_them == pytest.approx(np.sqrt(2 * 16 * np.log(20)))


def test_the_worst_of_all_sets_of_a_size_is_within_reach():
    """An analyst who knows the errors and picks the set cannot get out of the interval more often than is said."""
    generator, truth = np.random.default_rng(0), np.full(8, 50.0)
    sets = np.array([chosen for chosen in product([False, True], repeat=8) if sum(chosen) == 3])
    outside = 0
    for _ in range(400):
        counts = ColumnCounts.flat(truth + 2 * generator.normal(size=8), 4.0)
        reach = counts.sum_of(sets[0], 0.05)[1]
        outside += np.abs(sets @ (counts.values[0] - truth)).max() > reach
    assert outside <= 0.05 * 400


@pytest.mark.parametrize(("cells", "shared"), [(6, 0.0), (6, 9.0), (2, 9.0)])
def test_the_worst_of_all_weights_is_within_reach(cells, shared):
    """With the noise as it is drawn: deviations from the mean cell, and a part of the number that all cells share."""
    generator, truth, outside = np.random.default_rng(1), np.full(cells, 50.0), 0
    for _ in range(400):
        noise = 2 * generator.normal(size=cells)
        if shared:
            noise += generator.normal() * np.sqrt(shared) / cells - noise.mean()
        # Two deviations from their mean have half the variance of what they deviate from, and are given as they are.
        counts = ColumnCounts.flat(truth + noise, 2.0 if shared and cells == 2 else 4.0, shared)
        weights = [noise, noise - noise.mean(), *generator.normal(size=(200, cells))]
        errors = [abs(each @ noise) - counts.weighted_sum(each, 0.05)[1] for each in weights]
        outside += max(errors) > 0
    assert outside <= 0.07 * 400


def test_smooth_weights_are_told_by_blocks_and_what_is_left_by_cells():
    values = np.arange(6.0)
    sure = ColumnCounts(STARTS, (values.reshape(2, 3).sum(axis=1), values), (np.zeros(2), np.full(6, 100.0)))
    stairs, slope = np.array([1.0, 1, 1, 2, 2, 2]), np.arange(6.0)
    assert sure.weighted_sum(stairs, 0.05) == pytest.approx((27, 0))
    value, reach = sure.weighted_sum(slope, 0.05)
    assert value == 55
    assert reach == pytest.approx(10 * 2 * np.sqrt(chdtri(6, 2 * 0.05 / 3)))


def test_whoever_chooses_weights_chooses_among_the_ways_as_well():
    """Weights that follow the errors of the blocks, of what is left in them, and of the cells."""
    generator, outside, runs = np.random.default_rng(2), 0, 4_000
    for _ in range(runs):
        large, small = 0.5 * generator.normal(size=2), generator.normal(size=6)
        counts = ColumnCounts(STARTS, (large, small), (np.full(2, 0.25), np.ones(6)))
        inside = small - np.repeat(small.reshape(2, 3).mean(axis=1), 3)
        weights = [np.repeat(large, 3), small, inside, *(np.repeat(large, 3) + part * inside for part in (-1, 0.2, 1))]
        found = [counts.weighted_sum(each, 0.2) for each in weights]
        outside += any(abs(value) > reach for value, reach in found)
    assert outside <= (0.2 + 3 * np.sqrt(0.2 * 0.8 / runs)) * runs


def test_equal_weights_have_the_noise_of_the_shared_number_alone():
    counts = ColumnCounts.flat(np.ones(4), 100.0, shared=16.0)
    assert counts.weighted_sum(np.ones(4), 0.05) == (4.0, pytest.approx(4 * 1.96, rel=1e-3))
