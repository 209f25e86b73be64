import numpy as np
import pytest

from core.models.fitting.halfspace_weights import fitted


def signs_of(planes, points, seed=0):
    generator = np.random.default_rng(seed)
    inside = generator.normal(size=(planes, 3)) @ generator.normal(size=(3, points)) >= 0
    return np.where(inside, 1, -1).astype(np.float32)


def test_exact_shares_are_met():
    signs = signs_of(20, 1_000)
    tilted = np.exp(signs[0] * 0.3 + signs[1] * 0.2)
    wanted = signs @ (tilted / tilted.sum())
    weights = fitted(signs, wanted, 1e-5)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() > 0
    assert signs @ weights == pytest.approx(wanted, abs=1e-3)


def test_noise_is_not_fitted():
    """True shares are those of equal weights; the fit must come nearer to them than the noisy ones."""
    signs = signs_of(60, 1_000)
    generator = np.random.default_rng(3)
    equal = signs.mean(axis=1)
    noisy = equal + generator.normal(0, 0.1, 60)
    fit = signs @ fitted(signs, noisy, 0.1)
    assert np.abs(fit - equal).mean() < 0.4 * np.abs(noisy - equal).mean()


def test_other_planes_profit():
    signs = signs_of(200, 2_000)
    tilted = np.exp(signs[:5].sum(axis=0) * 0.2)
    truth = signs @ (tilted / tilted.sum())
    noisy = truth[:100] + np.random.default_rng(1).normal(0, 0.02, 100)
    weights = fitted(signs[:100], noisy, 0.02)
    off = np.abs(signs[100:] @ weights - truth[100:]).mean()
    assert off < 0.4 * np.abs(signs[100:].mean(axis=1) - truth[100:]).mean()
    assert off < 0.02


@pytest.mark.parametrize("sigma", [1e-4, 1.0, 1e6])
def test_shares_that_no_weights_meet_still_give_weights(sigma):
    signs = signs_of(30, 100)
    weights = fitted(signs, np.where(np.arange(30) % 2, 1.0, -1.0), sigma)
    assert np.isfinite(weights).all() and weights.min() >= 0
    assert weights.sum() == pytest.approx(1)


def test_one_plane_with_every_point_on_the_same_side():
    assert fitted(np.ones((1, 10), dtype=np.float32), np.array([0.5]), 0.1) == pytest.approx(np.full(10, 0.1))
