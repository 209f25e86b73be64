"""The theorems about noise and one choice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.privacy.budget import Budget
from core.privacy.spendable import rho_for
from core.theory import ExponentialBound, GaussianBound, LaplaceBound
from tests.privacy.bounds.failing import NOISE, RUNS, surely_above


def as_fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(10**9)


def laplace_failures(bound: LaplaceBound, epsilon: float, slack: float) -> int:
    """Runs in which some of the noise exceeds `slack` rows; integer noise is allowed half a row more."""
    share = as_fraction(math.exp(bound.log_share(epsilon)))
    drawn = NOISE.laplace(np.zeros((RUNS, queries_of(bound)), dtype=np.int64), epsilon=share, sensitivity=1)
    return int((np.abs(drawn).max(axis=1) > slack + 0.5).sum())


def queries_of(bound: LaplaceBound | GaussianBound) -> int:
    return round(math.exp(bound.log_queries))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("queries", [20, 400])
def test_laplace(queries, delta):
    bound = LaplaceBound(log_queries=math.log(queries), beta=0.2, delta=delta)
    rows = bound.rows(0.05, 0.5)
    assert not surely_above(laplace_failures(bound, 0.5, 0.05 * rows), RUNS, 0.2)
    assert surely_above(laplace_failures(bound, 0.5, 0.05 * rows * 0.4), RUNS, 0.2), "the theorem is tight"


@pytest.mark.parametrize("queries", [20, 400])
def test_gaussian(queries):
    bound = GaussianBound(log_queries=math.log(queries), beta=0.2, delta=1e-6)
    slack = 0.05 * bound.rows(0.05, 0.5)
    zeros = np.zeros((RUNS, queries), dtype=np.int64)
    rho = rho_for(Budget(0.5, 1e-6))
    worst = np.abs(NOISE.gaussian(zeros, rho=rho, sensitivity_squared=queries)).max(axis=1)
    assert not surely_above(int((worst > slack + 1).sum()), RUNS, 0.2)
    assert surely_above(int((worst > 0.6 * slack).sum()), RUNS, 0.2), "the theorem is nearly tight"


@pytest.mark.exhaustive
@pytest.mark.parametrize("candidates", [3, 100, 5000])
def test_exponential_mechanism(candidates):
    """One good candidate, and all others just worse than the theorem allows: the case it is tight for."""
    bound = ExponentialBound(log_candidates=math.log(candidates), beta=0.2)
    slack = 0.05 * bound.rows(0.05, 0.5)

    def failures(loss: int) -> int:
        scores = np.full(candidates, -loss, dtype=np.int64)
        scores[candidates // 2] = 0
        return sum(NOISE.select(scores, epsilon=Fraction(1, 2), sensitivity=1) != candidates // 2 for _ in range(RUNS))

    assert not surely_above(failures(math.floor(slack) + 1), RUNS, 0.2)
    assert surely_above(failures(math.floor(slack / 4)), RUNS, 0.2), "the theorem is tight"


def test_the_test_can_tell():
    assert not surely_above(0, RUNS, 0.2)
    assert not surely_above(40, RUNS, 0.2)
    assert surely_above(80, RUNS, 0.2)
