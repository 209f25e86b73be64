from __future__ import annotations

import numpy as np
import pytest

from core.models.fitting.raking import Pull, places, pulled, rake
from core.models.points import Points
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="x", low=0, high=4), Integers(name="y", low=0, high=2)))


def records(rows: int = 3_000) -> Points:
    codes = np.random.default_rng(0).integers(0, (5, 3), (rows, 2))
    return Points(DOMAIN, codes, np.ones(rows))


def test_any_partition_of_the_records_can_be_met():
    """Odd and even sums of two columns: no table of one column shows it."""
    points = records()
    odd = points.codes.sum(axis=1) % 2
    weights = pulled(points.weights, [Pull.of(odd, np.array([2_000.0, 1_000.0]), 1.0)])
    assert np.bincount(odd, weights=weights) == pytest.approx([2_000, 1_000], abs=1.1)
    assert weights.sum() == pytest.approx(3_000)


def test_what_lies_within_the_noise_is_left_alone():
    points = records()
    odd = points.codes.sum(axis=1) % 2
    held = np.bincount(odd).astype(float)
    assert np.allclose(pulled(points.weights, [Pull.of(odd, held + np.array([50, -50]), 60.0)]), 1.0)


def test_a_table_is_the_partition_into_its_cells():
    points = records()
    table = np.array([[700.0, 200, 100]] * 5) * 3_000 / 5_000
    by_table = rake(points, {("x", "y"): table}, {("x", "y"): 5.0})
    by_parts = pulled(points.weights, [Pull.of(places(points, ("x", "y")), table, 5.0)])
    assert np.array_equal(by_table.weights, by_parts)
    assert np.abs(by_table.marginal(("x", "y")) - table).max() < 12


def test_places_are_held_in_the_smallest_type():
    assert Pull.of(np.array([0, 200]), np.zeros(201), 1.0).places.dtype == np.uint8
    assert Pull.of(np.array([0, 300]), np.zeros(301), 1.0).places.dtype == np.uint16
