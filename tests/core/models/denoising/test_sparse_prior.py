from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from core.models.denoising import sparse_prior
from core.models.denoising.sparse_prior import sparse_counts


def test_means_and_variances_are_the_integrals(monkeypatch):
    """One chance and, with a total far below the noise, few means: whichever fits best, its integrals are returned."""
    monkeypatch.setattr(sparse_prior, "CHANCES", np.array([0.3]))
    values, sigma = np.array([-12.0, 3.0, 25.0, 90.0]), 10.0
    means, spread = sparse_counts(values, np.full(4, sigma**2), 1.0)
    found = []
    for mean in sigma * 2.0 ** np.arange(-2, 3):
        moments = [
            [
                0.7 * quad(lambda x: x**power * np.exp(-x / mean) / mean * norm.pdf(value, x, sigma), 0, 400)[0]  # noqa: B023
                for power in (0, 1, 2)
            ]
            for value in values
        ]
        density = np.array(moments)
        density[:, 0] += 0.3 * norm.pdf(values, 0, sigma)
        found.append((np.log(density[:, 0]).sum(), density[:, 1:] / density[:, :1]))
    best = max(found, key=lambda each: each[0])[1]
    assert means == pytest.approx(best[:, 0], rel=1e-4)
    assert spread == pytest.approx(best[:, 1] - best[:, 0] ** 2, rel=1e-3)


def test_where_most_counts_are_nothing_noise_goes_and_the_rest_stays():
    generator = np.random.default_rng(0)
    truth = np.where(np.arange(24) == 7, 10_000.0, 0.0)
    values = truth + generator.laplace(0, 10, 24)
    means, spread = sparse_counts(values, np.full(24, 200.0), 10_000.0)
    empty = truth == 0
    assert np.abs(means[empty]).sum() < 0.2 * np.abs(values[empty]).sum()
    assert means[7] == pytest.approx(values[7], rel=1e-3)
    assert spread[7] == pytest.approx(200, rel=0.01) and spread[empty].max() < 100


def test_where_all_counts_are_large_nothing_changes():
    values = 10_000 + np.random.default_rng(1).laplace(0, 10, 24)
    means, spread = sparse_counts(values, np.full(24, 200.0), 240_000.0)
    assert means == pytest.approx(values, abs=1)
    assert spread == pytest.approx(np.full(24, 200.0), rel=0.01)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e12])
def test_extreme_values_stay_finite(scale):
    values = np.array([-1e6, -3.0, 0.0, 3.0, 1e9]) * scale
    means, spread = sparse_counts(values, np.full(5, scale**2), max(values.sum(), 0.0))
    assert np.isfinite(means).all() and (means >= 0).all()
    assert np.isfinite(spread).all() and (spread > 0).all()
    assert np.isfinite(sparse_counts(values, np.full(5, scale**2), 0.0)[0]).all()
