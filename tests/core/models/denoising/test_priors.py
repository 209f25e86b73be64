from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from core.models.denoising.priors import FEWEST, posterior, shrunk_counts
from core.models.fitting.simplex import simplex


@pytest.mark.parametrize("value", [-30.0, 0.0, 12.0, 80.0])
@pytest.mark.parametrize("mean", [2.0, 25.0])
def test_the_mean_given_a_noisy_value_is_the_integral(value, mean):
    def joint(count: float) -> float:
        return float(np.exp(-count / mean) / mean * norm.pdf(value, count, 10.0))

    density = quad(joint, 0, 300, limit=300)[0]
    expected = quad(lambda count: count * joint(count), 0, 300, limit=300)[0] / density
    logs, means = posterior(np.array([value]), 10.0, mean)
    assert np.exp(logs[0]) == pytest.approx(density, rel=1e-6)
    assert means[0] == pytest.approx(expected, rel=1e-5)


def test_values_far_below_zero_stay_finite():
    logs, means = posterior(np.array([-1e9, -1e4]), 1.0, 5.0)
    assert np.isfinite(logs).all()
    assert (means >= 0).all() and (means < 1e-3).all()


def test_many_small_counts_lose_noise():
    truth = 20_000 / np.arange(1, 301) ** 1.3
    generator = np.random.default_rng(0)
    noisy = generator.permutation(truth)
    values = noisy + generator.normal(0, 100, truth.size)
    before = np.abs(simplex(values, truth.sum()) - noisy).sum()
    after = np.abs(simplex(shrunk_counts(values, 100.0, truth.sum()), truth.sum()) - noisy).sum()
    assert after < 0.8 * before


def test_the_order_of_the_counts_does_not_matter():
    values = np.random.default_rng(1).normal(0, 50, 40) + np.arange(40) ** 2
    order = np.random.default_rng(2).permutation(40)
    assert np.allclose(shrunk_counts(values, 50.0, 20_000)[order], shrunk_counts(values[order], 50.0, 20_000))


def test_few_counts_and_counts_without_noise_stay():
    few = np.arange(float(FEWEST - 1))
    assert shrunk_counts(few, 10.0, 100.0) is few
    many = np.arange(50.0)
    assert shrunk_counts(many, 0.0, 1_000.0) is many
    assert np.allclose(shrunk_counts(many, 1e-6, 1_000.0), many, atol=1e-4)
