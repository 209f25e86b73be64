"""Simulated noise has the laws of the real noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.noise import Noise

DRAWS = 40_000


def sources() -> tuple[SimulatedNoise, Noise]:
    return SimulatedNoise(np.random.default_rng(5)), Noise()


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3)])
def test_laplace(epsilon: Fraction) -> None:
    ours, real = (each.laplace(np.full(DRAWS, 7), epsilon=epsilon, sensitivity=2) for each in sources())
    assert stats.ks_2samp(ours, real).pvalue > 1e-4
    wrong = SimulatedNoise(np.random.default_rng(5)).laplace(np.full(DRAWS, 7), epsilon=epsilon, sensitivity=3)
    assert stats.ks_2samp(wrong, real).pvalue < 1e-4


def test_gaussian() -> None:
    ours, real = (
        each.gaussian(np.zeros(DRAWS, dtype=np.int64), rho=Fraction(1, 50), sensitivity_squared=4) for each in sources()
    )
    assert stats.ks_2samp(ours, real).pvalue > 1e-4


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(30)])
def test_cubes(scale: Fraction) -> None:
    def drawn(source: Any, scale: Fraction) -> np.ndarray:
        numbers = np.full(6, 7)
        return np.array([source.cube(numbers, epsilon=2 / scale, sensitivity=2) for _ in range(1_000)]) - 7

    ours, real = (drawn(each, scale) for each in sources())
    for seen in (lambda draws: np.abs(draws).max(axis=1), lambda draws: draws[:, 0]):
        assert stats.ks_2samp(seen(ours), seen(real)).pvalue > 1e-4
    wrong = drawn(SimulatedNoise(np.random.default_rng(5)), 2 * scale)
    assert stats.ks_2samp(np.abs(wrong).max(axis=1), np.abs(real).max(axis=1)).pvalue < 1e-4


@pytest.mark.exhaustive
def test_selection() -> None:
    scores = np.array([0, 3, 5])

    def counted(source: Any) -> np.ndarray:
        chosen = [source.select(scores, epsilon=Fraction(1), sensitivity=2) for _ in range(3_000)]
        return np.bincount(chosen, minlength=3)

    ours, real = map(counted, sources())
    assert stats.chi2_contingency([ours, real]).pvalue > 1e-4
    start, stop = sources()[0].select_pair(scores, epsilon=Fraction(1), sensitivity=2)
    assert start != stop


def test_the_same_generator_gives_the_same_draws() -> None:
    first, second = (SimulatedNoise(np.random.default_rng(1)) for _ in range(2))
    assert first.keys(3).tolist() == second.keys(3).tolist()
    assert first.coin(Fraction(1)) == second.coin(Fraction(1))
    assert first.generator().random() == second.generator().random()
