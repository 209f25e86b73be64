"""Plausible tables: dependences of a given size in the pairs that were not measured, and nothing else of columns."""

import numpy as np
import pytest

from core.models.points import Points
from core.models.tables import Tables
from core.release.copies.plausible import plausible, with_dependences
from core.schema.domain import Categories, Domain, Integers

ROWS = 20_000
DOMAIN = Domain(
    (
        Integers(name="a", low=0, high=9),
        Integers(name="b", low=0, high=19),
        Categories(name="c", values=("x", "y", "z")),
    )
)


def independent() -> np.ndarray:
    generator = np.random.default_rng(1)
    return np.stack([generator.integers(0, size, ROWS) for size in DOMAIN.sizes], axis=1)


def test_correlations_move_as_by_a_normal_dependence_of_that_size() -> None:
    """Normal numbers of correlation 0.2 are off independence by 0.2 x 2/pi of all rows."""
    codes = independent()
    changed = with_dependences(DOMAIN, codes, {("a", "b"): 0.2 * 2 / np.pi * ROWS}, np.random.default_rng(2))
    assert abs(np.corrcoef(changed[:, :2].T)[0, 1]) == pytest.approx(0.2, abs=0.03)


def test_single_columns_stay() -> None:
    codes = independent()
    changed = with_dependences(DOMAIN, codes, {("a", "c"): 4_000.0, ("b", "c"): 4_000.0}, np.random.default_rng(2))
    assert not np.array_equal(changed, codes)
    for place in range(3):
        assert np.array_equal(np.bincount(changed[:, place]), np.bincount(codes[:, place]))


def test_directions_are_drawn() -> None:
    found = {
        np.sign(np.corrcoef(with_dependences(DOMAIN, independent(), {("a", "b"): 9_000.0}, generator)[:, :2].T)[0, 1])
        for generator in map(np.random.default_rng, range(8))
    }
    assert found == {-1.0, 1.0}


def test_nothing_changes_where_nothing_was_missed() -> None:
    codes, generator = independent(), np.random.default_rng(0)
    points = Points(DOMAIN, codes, np.ones(ROWS))
    assert np.array_equal(plausible(points, codes, generator), codes)
    assert np.array_equal(plausible(Tables(DOMAIN, {}, points), codes, generator), codes)
    assert with_dependences(DOMAIN, codes, {("a", "b"): 1e9}, generator).shape == codes.shape
