from __future__ import annotations

import numpy as np
import pytest

from core.models.denoising.hidden_levels import _moves, _smoothed, follow
from core.models.denoising.smoothing import thresholded
from core.models.fitting.simplex import simplex


def test_forward_and_backward_equals_the_sum_over_all_paths():
    generator = np.random.default_rng(0)
    cells, levels = 4, 3
    likely = generator.random((cells, 1, levels)) + 0.1
    means = generator.random((cells, 1, levels))
    moves = _moves(levels, 0.7)
    expected, every = np.zeros(cells), 0.0
    for path in np.ndindex(*(levels,) * cells):
        chance = 1 / levels
        for cell, state in enumerate(path):
            chance *= likely[cell, 0, state] * (moves[path[cell - 1], state] if cell else 1.0)
        every += chance
        expected += chance * np.array([means[cell, 0, state] for cell, state in enumerate(path)])
    found, evidence = _smoothed(likely, means, moves[None])
    assert np.allclose(found[0], expected / every)
    assert evidence[0] == pytest.approx(np.log(every))


def test_rows_of_chances_sum_to_one():
    assert np.allclose(_moves(17, 2.0).sum(axis=1), 1.0)


@pytest.mark.parametrize("sigma", [60.0, 250.0])
def test_round_numbers_on_a_slow_background_lose_more_noise_than_by_thresholding(sigma):
    generator = np.random.default_rng(3)
    ages = np.arange(100)
    truth = 500 * np.exp(-(((ages - 35) / 25) ** 2))
    truth[::10] *= 6
    errors = {"own": 0.0, "wavelet": 0.0}
    for _ in range(5):
        noisy = truth + generator.normal(0, sigma, 100)
        errors["own"] += np.abs(simplex(follow(noisy, sigma), truth.sum()) - truth).sum()
        errors["wavelet"] += np.abs(simplex(thresholded(noisy, sigma), truth.sum()) - truth).sum()
    assert errors["own"] < 0.97 * errors["wavelet"]


@pytest.mark.parametrize(
    ("values", "sigma"),
    [([0, 0, 0, 1e15, 0, -5], 1e-3), ([-1e9] * 10, 1.0), ([1e6] + [0] * 99, 1e-9), ([0, 0, 0, 0], 1e9)],
)
def test_extremes_stay_finite_and_not_negative(values, sigma):
    found = follow(np.array(values, dtype=np.float64), sigma)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
