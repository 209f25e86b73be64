from __future__ import annotations

import numpy as np
import pytest

from core.models.denoising.smoothing import smooth


def test_without_noise_nothing_changes():
    counts = np.random.default_rng(0).integers(0, 100, 37)
    assert np.allclose(smooth(counts, 0.0), counts)


def test_the_sum_is_kept():
    counts = np.random.default_rng(1).normal(0, 30, 64) + np.linspace(0, 500, 64)
    assert smooth(counts, 30.0).sum() == pytest.approx(counts.sum(), rel=0.02)


@pytest.mark.parametrize("cells", [50, 64, 101])
def test_a_smooth_line_with_a_spike_loses_noise_and_keeps_the_spike(cells):
    generator = np.random.default_rng(2)
    truth = 1000 * np.exp(-(((np.arange(cells) - cells / 3) / (cells / 5)) ** 2))
    truth[cells // 2] += 5000
    noisy = truth + generator.normal(0, 100, cells)
    smoothed = smooth(noisy, 100.0)
    assert np.abs(smoothed - truth).mean() < 0.75 * np.abs(noisy - truth).mean()
    assert abs(smoothed[cells // 2] - truth[cells // 2]) < 500


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_short_columns_stay(cells):
    assert np.array_equal(smooth(np.arange(cells), 10.0), np.arange(cells))
