"""Where noise ends: the steepest choice, the widest scale, the longest fraction, the largest sum, each at its limit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.privacy import cube, samplers
from core.privacy import noise as noise_module
from core.privacy.noise import Noise
from tests.privacy.kit.laws import zeros

NOISE = Noise()


def test_no_rate_is_steeper_than_the_steepest(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[Fraction] = []
    monkeypatch.setattr(samplers, "select", lambda scores, rate: rates.append(rate) or 0)
    for epsilon in (2**62 - 1, 2**62, 2**62 + 1, 10**400):
        NOISE.select_within(np.array([0, 1]), epsilon=Fraction(epsilon), span=1)
    assert rates == [2**62 - 1, 2**62, 2**62, 2**62]


def test_short_parameters_stay_as_they_are() -> None:
    for short in (Fraction(1, 3), Fraction(2**62 - 1), Fraction(1, 2**62 - 1), Fraction(22, 7)):
        assert noise_module._round_up(short, 62) == short
    assert noise_module._round_up(Fraction(1, 2**62), 62) == Fraction(1, 2**61)
    assert noise_module._round_up(Fraction(2**62 + 1, 2**62), 62) == 1 + Fraction(1, 2**60)
    assert noise_module._round_up(Fraction(2**63 + 1, 2), 62) == 2**62 + 1


def test_the_widest_noise_is_drawn_and_wider_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    for name in ("laplace", "gaussian"):
        monkeypatch.setattr(samplers, name, lambda count, *scale: seen.append(scale) or zeros(count))
    NOISE.laplace(zeros(1), epsilon=Fraction(1), sensitivity=2**62 - 1)
    NOISE.gaussian(zeros(1), rho=Fraction(1, 2), sensitivity_squared=2**124 - 1)
    assert seen == [(2**62 - 1, 1), (2**124 - 1, 1)]
    with pytest.raises(BadParameter, match=r"^epsilon: .*small"):
        NOISE.laplace(zeros(1), epsilon=Fraction(1), sensitivity=2**62)
    with pytest.raises(BadParameter, match=r"^rho: .*small"):
        NOISE.gaussian(zeros(1), rho=Fraction(1, 2), sensitivity_squared=2**124)


def test_whole_numbers_below_a_bound() -> None:
    assert NOISE.below(5, 0).shape == (0,) and NOISE.below(1, 3).tolist() == [0, 0, 0]
    assert NOISE.below(2**62, 2).max() < 2**62
    for bound, count, name in ((2**62 + 1, 1, "bound"), (0, 1, "bound"), (5, -1, "count")):
        with pytest.raises(BadParameter, match=f"^{name}: "):
            NOISE.below(bound, count)


def test_a_number_exceeds_from_one_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "laplace", lambda count, numerator, denominator: np.array([1, 0, -1, 2]))
    assert NOISE.exceeds(zeros(4), epsilon=Fraction(1), sensitivity=1).tolist() == [True, False, False, True]


def test_the_largest_sum_of_weights_and_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = iter([2**64 - 2, 2**64 - 3, 2**62, 2**62 - 1, 7])
    monkeypatch.setattr(samplers, "words", lambda count: np.array([next(queue)], dtype=np.uint64))
    # 2^63 - 1 fits twice below 2^64; the two last words would favour the first place.
    heavy = np.array([2**62, 2**62 - 1])
    assert [NOISE.pick(heavy) for _ in range(3)] == [1, 1, 0]
    assert NOISE.pick(np.array([0, 1, 0])) == 1


def test_coins_that_cannot_fall_otherwise() -> None:
    assert NOISE.coin(Fraction(0)) is True
    assert NOISE.coin(Fraction(10**6)) is False


def test_longer_scales_are_rounded_up_to_so_many_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    for name in ("laplace", "gaussian"):
        monkeypatch.setattr(samplers, name, lambda count, *scale: seen.append(scale) or zeros(count))
    NOISE.laplace(zeros(1), epsilon=Fraction(2**62, 2**62 + 1), sensitivity=1)
    NOISE.gaussian(zeros(1), rho=Fraction(2**62, 2 * (2**62 + 1)), sensitivity_squared=1)
    assert seen == [(2**60 + 1, 2**60)] * 2


def test_cubes_have_the_same_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, Fraction]] = []
    monkeypatch.setattr(cube, "cube", lambda count, scale: seen.append((count, scale)) or zeros(count))
    values = np.array([[1, 2], [3, 4]])
    assert NOISE.cube(values, epsilon=Fraction(1), sensitivity=2**62 - 1).tolist() == values.tolist()
    NOISE.cube(values[0], epsilon=Fraction(2**62, 2**62 + 1), sensitivity=1)
    NOISE.cube(values[0], epsilon=Fraction(3), sensitivity=2)
    assert seen == [(4, 2**62 - 1), (2, Fraction(2**60 + 1, 2**60)), (2, Fraction(2, 3))]
    with pytest.raises(BadParameter, match=r"^epsilon: .*small"):
        NOISE.cube(values, epsilon=Fraction(1), sensitivity=2**62)
    for wrong in ({"epsilon": Fraction(0), "sensitivity": 1}, {"epsilon": Fraction(1), "sensitivity": 0}):
        with pytest.raises(BadParameter):
            NOISE.cube(values, **wrong)
    with pytest.raises(BadParameter, match="whole"):
        NOISE.cube(values / 2, epsilon=Fraction(1), sensitivity=1)


def test_a_sum_with_a_wide_cube_is_clamped() -> None:
    full = np.full(400, 2**63 - 1)
    found = NOISE.cube(full, epsilon=Fraction(1, 2**61), sensitivity=1)
    assert found.dtype == np.int64 and found.max() == 2**63 - 1 and (found > 0).sum() > 100


def test_a_sum_whose_bits_are_all_wrong_is_clamped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice this number has the opposite of each of its bits."""
    number = np.array([0x5555555555555555, -0x5555555555555556])
    monkeypatch.setattr(samplers, "laplace", lambda count, numerator, denominator: number)
    assert NOISE.laplace(number, epsilon=Fraction(1), sensitivity=1).tolist() == [2**63 - 1, -(2**63)]
