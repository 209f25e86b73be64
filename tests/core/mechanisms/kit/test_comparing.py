"""How often a comparison goes wrong is told as it happens."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.kernel.sparse_vector import AboveThreshold
from core.mechanisms.kit.comparing import margin, misses


def test_margins_are_those_of_both_noises():
    run = AboveThreshold.of(Fraction(1), sensitivity=100, cutoff=3)
    generator = np.random.default_rng(4)
    offset, noise = (generator.laplace(0, scale, 400_000) for scale in run.scales)
    for probability in (0.2, 0.05, 0.001):
        missed = np.mean(noise - offset > margin(run, probability))
        assert missed == pytest.approx(probability, abs=5 * np.sqrt(probability / 400_000))
        assert misses(run, margin(run, probability)) == pytest.approx(probability)
    assert misses(run, 0) == 0.5


def test_by_hand():
    """Scales 15 and 30."""
    run = AboveThreshold.of(Fraction(1), sensitivity=3, cutoff=4)
    missed = (900 * math.exp(-40 / 30) - 225 * math.exp(-40 / 15)) / (2 * (900 - 225))
    assert misses(run, 40) == pytest.approx(missed, rel=1e-12)
    assert misses(run, -1) == misses(run, 0) == 0.5
    assert margin(run, missed) == pytest.approx(40, rel=1e-9)
    assert margin(run, 0.5) == pytest.approx(0, abs=1e-9)
