"""The closed form of a sparse vector's probabilities is the sum that it stands for."""

import math
from itertools import product

import numpy as np
import pytest

from tests.core.mechanisms.transcripts import at_least, pmf
from tests.privacy.kit.offsets import Comparison, log_chance

REACH = np.arange(-4_000, 4_001)


def summed(offset_scale, comparisons) -> float:
    weights = pmf(REACH, offset_scale)
    for each in comparisons:
        above = at_least(each.distance + REACH, each.scale)
        weights = weights * (above if each.above else 1 - above)
    return math.log(math.fsum(weights))


@pytest.mark.parametrize("scale", [1.0, 7.3, 40.0])
def test_equals_the_sum_over_all_offsets(scale):
    for length in range(4):
        for above in product((True, False), repeat=length):
            for distances in ((0, 0, 0), (5, -9, 130), (-1, 1, 2)):
                comparisons = [
                    Comparison(distance, scale * (1.5 + place), said)
                    for place, (distance, said) in enumerate(zip(distances, above, strict=False))
                ]
                assert log_chance(scale, comparisons) == pytest.approx(summed(scale, comparisons), abs=1e-11)


def test_all_outcomes_together_are_certain_on_a_fine_grid():
    distances, scales = (-90_000, 20_000, 300_000, 7), (400_000.0, 90_000.0, 90_000.0, 11.0)
    every = [
        log_chance(130_000.0, [Comparison(*each) for each in zip(distances, scales, above, strict=True)])
        for above in product((True, False), repeat=4)
    ]
    assert math.fsum(np.exp(every)) == pytest.approx(1, abs=1e-12)


def test_rare_outcomes_keep_their_digits():
    """Far in the tail a step of one scale is a factor of e."""
    one, two = (log_chance(50.0, [Comparison(distance, 1_000.0, True)]) for distance in (40_000, 41_000))
    assert one - two == pytest.approx(1, abs=1e-11)
    assert one < -30
