from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from core.models.denoising import curves, hidden_levels
from core.models.denoising.smoothing import smooth
from core.models.fitting.simplex import simplex


def test_the_mean_given_noisy_counts_is_that_of_one_normal_process(monkeypatch):
    monkeypatch.setattr(curves, "_WIDTHS", (3.0,))
    monkeypatch.setattr(curves, "_HEIGHTS", (2.0,))
    monkeypatch.setattr(curves, "_ROUGH", (0.3,))
    curves._shapes.cache_clear()
    values = np.array([3.0, 9.0, 14.0, 11.0, 2.0, -1.0])
    try:
        found, means = curves.explain(values, 2.0)
    finally:
        curves._shapes.cache_clear()
    apart = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    steps = np.sqrt(3) * apart / 3
    middle, unit = values.mean(), values.std()
    logs, parts = [], []
    for shape in (np.exp(-((apart / 3) ** 2) / 2), (1 + steps) * np.exp(-steps)):
        signal = (2 * unit) ** 2 * shape + (0.3 * unit) ** 2 * np.eye(6)
        spread = signal + 4 * np.eye(6)
        logs.append(multivariate_normal(np.full(6, middle), spread).logpdf(values))
        parts.append(middle + signal @ np.linalg.solve(spread, values - middle))
    weights = np.exp(np.array(logs) - np.logaddexp(*logs))
    assert found == pytest.approx(np.logaddexp(*logs) - np.log(2))
    assert np.allclose(means, weights @ np.stack(parts))


def test_a_smooth_curve_loses_far_more_noise_than_by_steps():
    truth = 1000 * np.exp(-(((np.arange(90) - 40) / 18) ** 2))
    generator = np.random.default_rng(4)
    errors = {"both": 0.0, "steps": 0.0}
    for _ in range(5):
        noisy = truth + generator.normal(0, 150, 90)
        errors["both"] += np.abs(simplex(smooth(noisy, 150.0), truth.sum()) - truth).sum()
        errors["steps"] += np.abs(simplex(hidden_levels.follow(noisy, 150.0), truth.sum()) - truth).sum()
    assert errors["both"] < 0.8 * errors["steps"]


def test_spikes_are_left_to_steps():
    truth = np.full(80, 5.0)
    truth[::10] = 4_000
    noisy = truth + np.random.default_rng(5).normal(0, 60, 80)
    assert curves.explain(noisy, 60.0)[0] < hidden_levels.explain(noisy, 60.0)[0] - 20
    assert np.allclose(smooth(noisy, 60.0), hidden_levels.follow(noisy, 60.0))


@pytest.mark.parametrize(
    ("values", "sigma"),
    [([0, 0, 0, 1e15, 0, -5], 1e-3), ([-1e9] * 10, 1.0), ([1e6] + [0] * 99, 1e-9), ([0, 0, 0, 0], 1e9)],
)
def test_extremes_stay_finite(values, sigma):
    assert np.isfinite(smooth(np.array(values, dtype=np.float64), sigma)).all()
