"""Combining rules: intervals hold the truth as often as they say, where copies are off as the release is."""

import numpy as np
import pytest

from core import combine

CASES = 4_000


def covered(found, truth) -> float:
    return float(np.mean((found.low <= truth) & (truth <= found.high)))


@pytest.mark.parametrize("number", [1, 3, 10])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_where_all_error_is_the_mechanism_s(number: int, level: float) -> None:
    generator = np.random.default_rng(number)
    released = generator.normal(5.0, 2.0, CASES)
    origins = np.tile(released, (number, 1))
    copies = generator.normal(origins, 2.0)
    assert covered(combine(released, copies, origins, level=level), 5.0) == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("number", [1, 3, 10])
def test_intervals_where_the_release_left_all_open(number: int) -> None:
    """The mechanism would have found in origins what it missed in the table, so copies are no further off."""
    generator = np.random.default_rng(number)
    released = generator.normal(0.0, 9.0, CASES)
    truth, origins = generator.normal(released, 2.0), generator.normal(released, 2.0, (number, CASES))
    found = combine(released, origins, origins)
    assert covered(found, truth) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("spread", [0.1, 2.0, 20.0])
def test_what_both_sides_show_counts_once(spread: float) -> None:
    """Copies that find nothing of what origins have more than the release: the same error, seen twice."""
    generator = np.random.default_rng(4)
    released = generator.normal(0.0, 9.0, CASES)
    origins = generator.normal(released, spread, (20, CASES))
    twice = combine(released, np.tile(released, (20, 1)), origins).error
    once = combine(released, origins, origins).error
    assert 1.0 <= float(np.median(twice / once)) < 1.1


def test_a_pull_to_one_side_adds_up() -> None:
    """A mechanism that halves everything: the origin is found to lie at 4 where the table had 8 and the release 2."""
    pulled = combine(2.0, [2.0, 2.0, 2.0], [4.0, 4.0, 4.0])
    assert float(pulled.error) == pytest.approx(4.0)
    other_way = combine(2.0, [6.0, 6.0, 6.0], [4.0, 4.0, 4.0])
    assert float(other_way.error) == pytest.approx(2.0)


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
    assert "three or more columns" in found.limit
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
