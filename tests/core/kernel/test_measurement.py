"""Tails of sums of noises."""

from __future__ import annotations

import numpy as np
import pytest

from core.kernel.measurement import tail_of_sum


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
