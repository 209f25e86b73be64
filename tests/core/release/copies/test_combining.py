"""Combining rules: intervals hold the truth as often as they say, where copies are off as the release is."""

import numpy as np
import pytest

from core import combine

CASES = 4_000


def covered(found, truth) -> float:
    return float(np.mean((found.low <= truth) & (truth <= found.high)))


@pytest.mark.parametrize("number", [1, 3, 10])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_about_the_table(number: int, level: float) -> None:
    generator = np.random.default_rng(number)
    released = generator.normal(5.0, 2.0, CASES)
    origins = generator.normal(released, 9.0, (number, CASES))
    copies = generator.normal(origins, 2.0)
    assert covered(combine(released, copies, origins, level=level), 5.0) == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("within", [0.1, 4.0, 100.0])
def test_intervals_about_the_people(within: float) -> None:
    generator = np.random.default_rng(7)
    table = generator.normal(5.0, within**0.5, CASES)
    released = generator.normal(table, 2.0)
    copies, origins = generator.normal(released, 2.0, (5, CASES)), np.tile(released, (5, 1))
    found = combine(released, copies, origins, variance=within)
    assert covered(found, 5.0) == pytest.approx(0.95, abs=0.02)
    if within > 1:
        assert covered(combine(released, copies, origins), 5.0) < 0.9


def test_what_noise_bends_widens_the_interval() -> None:
    """Copies that are all pulled one way say that the release was pulled as far."""
    found = combine(10.0, [8.0, 8.0, 8.0], [10.0, 10.0, 10.0])
    assert float(found.error) == 2.0
    assert float(found.estimate) == 10.0


def test_shapes() -> None:
    found = combine(np.zeros((2, 3)), np.ones((4, 2, 3)), np.zeros((4, 2, 3)), variance=np.ones(3))
    assert found.low.shape == found.high.shape == found.error.shape == (2, 3)
    assert combine(np.zeros(0), np.zeros((4, 0)), np.zeros((4, 0))).low.size == 0
    exact = combine(1.0, [1.0, 1.0], [1.0, 1.0])
    assert float(exact.low) == float(exact.high) == 1.0


@pytest.mark.parametrize("copies", [[], [[1.0, 2.0]], 3.0])
def test_copies_of_another_shape_are_refused(copies: object) -> None:
    with pytest.raises(ValueError, match="copies"):
        combine(1.0, copies, copies)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="origins"):
        combine(1.0, [1.0, 2.0], [1.0])


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_levels(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        combine(1.0, [1.0], [1.0], level=level)
