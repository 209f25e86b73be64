import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.models.drawing.rounding import systematic

WEIGHTS = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e3))


@given(WEIGHTS, st.integers(1, 10_000))
def test_every_stretch_keeps_its_share(weights, rows):
    if weights.sum() <= 1e-9:
        return
    taken = systematic(weights, rows, np.random.default_rng(0))
    assert taken.sum() == rows
    assert (taken >= 0).all()
    exact = np.cumsum(weights) * rows / weights.sum()
    assert np.abs(np.cumsum(taken) - exact).max() <= 1 + 1e-6


@pytest.mark.exhaustive
def test_expectation_is_the_exact_share():
    weights = np.array([0.3, 0.5, 1.2])
    generator = np.random.default_rng(3)
    mean = np.mean([systematic(weights, 1, generator) for _ in range(20_000)], axis=0)
    assert np.allclose(mean, weights / 2.0, atol=0.02)


def test_no_weight_at_all_is_equal_weight():
    generator = np.random.default_rng(0)
    assert systematic(np.zeros(3), 6, generator).tolist() == [2, 2, 2]
    assert systematic(np.array([1.0]), 0, generator).tolist() == [0]
