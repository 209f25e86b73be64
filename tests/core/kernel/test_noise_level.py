"""How large noise is: by hand, and tails of one and of sums."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from core.kernel.asked import Change
from core.kernel.noise_level import Additive, NoiseLevel, tail_of_sum
from core.privacy.events import Gaussian, Laplace


@pytest.mark.parametrize("probability", [0.05, 0.01])
@pytest.mark.parametrize("weights", [[1.0], [1, 1], [1, 0.5, 0.25], [1.0] * 30], ids=len)
def test_sums_of_either_kind_of_noise_stay_within_it(weights, probability):
    generator, runs = np.random.default_rng(1), 200_000
    scales = np.array(weights)
    for drawn, deviation in (
        (generator.laplace(0, 3, (runs, len(scales))), 3 * np.sqrt(2)),
        (generator.normal(0, 3, (runs, len(scales))), 3.0),
    ):
        sigma = deviation * np.sqrt((scales**2).sum())
        beyond = float((np.abs(drawn @ scales) > tail_of_sum(sigma, probability)).mean())
        assert beyond <= probability + 4 * np.sqrt(probability / runs)
        assert beyond > probability / 20, "and it is not much wider than it must be"


def level(event: Additive, l1: int = 3, l2_squared: int = 5) -> NoiseLevel:
    return NoiseLevel(event, Change(l1, l2_squared))


def test_levels_by_hand():
    plain, normal = level(Laplace(Fraction(1, 2))), level(Gaussian(Fraction(1, 8)))
    assert (plain.mean_error, plain.sigma) == pytest.approx((6.0, 6 * math.sqrt(2)), rel=1e-14)
    assert normal.sigma == pytest.approx(math.sqrt(20 + 1 / 12), rel=1e-14)
    assert normal.mean_error == pytest.approx(normal.sigma * math.sqrt(2 / math.pi), rel=1e-14)


@pytest.mark.parametrize("probability", [0.3, 0.05, 0.01, 1e-9])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(40)])
def test_the_tail_of_laplace_noise_is_the_smallest_that_will_do(scale, probability):
    a = math.exp(-1 / scale)
    tail = level(Laplace(1 / scale), 1).tail(probability)
    beyond = [2 * a ** (t + 1) / (1 + a) for t in (tail, tail - 1)]
    assert beyond[0] <= probability and (tail == 0 or beyond[1] > probability)


@pytest.mark.parametrize("probability", [0.3, 0.05, 0.01, 1e-9])
@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(2), Fraction(400)])
def test_the_tail_of_gaussian_noise_is_the_smallest_that_will_do(variance, probability):
    tail = level(Gaussian(1 / (2 * variance)), 1, 1).tail(probability)
    beyond = [2 * NormalDist(0, math.sqrt(variance)).cdf(-(t + 0.5)) for t in (tail, tail - 1)]
    assert beyond[0] <= probability * (1 + 1e-12) and (tail == 0 or beyond[1] > probability)


@pytest.mark.parametrize("event", [Laplace(Fraction(1, 9)), Gaussian(Fraction(1, 99))])
def test_what_may_always_happen_has_no_tail(event):
    assert level(event).tail(1) == level(event).tail(1.5) == 0
    assert level(event).tail(0.999) >= 0


def test_tails_of_sums_by_hand():
    assert tail_of_sum(3, 0.05) == pytest.approx(3 * math.log(20) / math.sqrt(2), rel=1e-14)
    assert tail_of_sum(3, 0.5) == pytest.approx(3 * NormalDist().inv_cdf(0.75), rel=1e-14)
