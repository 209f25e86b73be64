"""Gaussian differential privacy, beside SciPy's normal distribution."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection
from core.privacy.gaussian import MOST, gaussian_amount, gaussian_capacity, gaussian_epsilon

pytestmark = pytest.mark.crossing(keep=4)


def delta_of(mu: float, epsilon: float) -> float:
    """Balle and Wang's exact delta of Gaussian noise."""
    return float(norm.sf(epsilon / mu - mu / 2) - np.exp(epsilon + norm.logsf(epsilon / mu + mu / 2)))


@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-2, 0.4])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1, 4, 20])
def test_capacity_is_the_largest_that_keeps_the_promise(epsilon: float, delta: float) -> None:
    mu = math.sqrt(2 * gaussian_capacity(Budget(epsilon, delta)))
    assert delta_of(mu, epsilon) == pytest.approx(delta, rel=1e-5)
    assert delta_of(mu * 1.0001, epsilon) > delta > delta_of(mu * 0.9999, epsilon)


@pytest.mark.exhaustive
@given(
    epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=10**9),
    digits=st.integers(min_value=1, max_value=40),
)
@settings(max_examples=30, deadline=None)
def test_there_and_back(epsilon: Fraction, digits: int) -> None:
    delta = Fraction(1, 10**digits)
    back = gaussian_epsilon(gaussian_capacity(Budget(epsilon, delta)), delta)
    assert back is not None
    assert abs(back - epsilon) <= epsilon / 10**18


def test_a_guarantee_beyond_every_budget_is_none() -> None:
    assert gaussian_epsilon(Fraction(10**4), Fraction(1, 10**9)) is None
    assert gaussian_epsilon(Fraction(0), Fraction(1, 10**9)) == 0
    assert gaussian_epsilon(Fraction(1, 10**30), Fraction(1, 10**9)) == 0
    assert gaussian_capacity(Budget(1000, 1e-9)) == gaussian_capacity(Budget(MOST, 1e-9))


@pytest.mark.parametrize("kind", [Pure, Laplace, Selection])
@pytest.mark.parametrize("epsilon", ["1/1000000000", "1/100", "1/3", "1", "5", "30", "60", "61", "1000"])
def test_a_pure_event_lies_above_its_curve(kind: type[Pure], epsilon: str) -> None:
    """Its trade-off curve, two straight sides through (1/(1 + e), 1/(1 + e)), nowhere below that of mu-GDP."""
    value = float(Fraction(epsilon))
    mu = math.sqrt(2 * gaussian_amount(Cost((kind(Fraction(epsilon)),))))
    corner = -np.logaddexp(0, value)
    assert norm.logsf(mu / 2) <= corner + 1e-9 * max(1, abs(corner))
    if value <= 60:
        assert norm.logsf(mu / 2) == pytest.approx(corner, rel=1e-9)
    alpha = np.linspace(0.001, 0.999, 999)
    sides = np.maximum(0, np.maximum(1 - np.exp(min(value, 700)) * alpha, np.exp(-value) * (1 - alpha)))
    assert (norm.cdf(norm.isf(alpha) - mu) <= sides + 1e-12).all()


def test_amounts_add_up_and_are_rounded_up() -> None:
    third = Pure(Fraction(1, 3))
    assert gaussian_amount(Cost((third, third, Gaussian(Fraction(1, 7))))) == 2 * gaussian_amount(
        Cost((third,))
    ) + Fraction(1, 7)
    assert gaussian_amount(Cost(())) == gaussian_amount(Cost((Pure(Fraction(0)),))) == 0
