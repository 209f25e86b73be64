"""What events are charged, beside the divergences of enumerated distributions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.privacy import renyi
from core.privacy.accounting import UNITS, units
from core.privacy.budget import exact
from core.privacy.events import Event, Gaussian, Laplace, Pure, Selection
from tests.core.privacy.test_accounting import ORDERS, cost

pytestmark = pytest.mark.crossing(keep=4)
LOWEST = Fraction(1025, 1024)


def divergence(p: NDArray[np.float64], q: NDArray[np.float64], order: float) -> float:
    """Rényi divergence of two distributions given as logarithms of probabilities."""
    return float(np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1))


def charged(event: Event, order: Fraction) -> float:
    return units(cost(event), order) / UNITS


def discrete_laplace(shift: int, scale: float, reach: int) -> NDArray[np.float64]:
    places = np.arange(-reach, reach + 1)
    return math.log(math.tanh(0.5 / scale)) - np.abs(places - shift) / scale


@pytest.mark.parametrize("order", ORDERS, ids=float)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(3, 10), Fraction(1), Fraction(4)], ids=float)
def test_laplace_noise_on_one_count_is_charged_exactly(epsilon: Fraction, order: Fraction) -> None:
    reach = math.ceil(40 / float(epsilon)) + 5
    p, q = (discrete_laplace(shift, 1 / float(epsilon), reach) for shift in (0, 1))
    assert charged(Laplace(epsilon), order) == pytest.approx(divergence(p, q, float(order)), rel=1e-6, abs=2e-12)


@pytest.mark.parametrize("order", ORDERS, ids=float)
@pytest.mark.parametrize("shifts", [(2,), (5,), (1, 1), (3, 1), (2, 2), (4, 1)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)], ids=float)
def test_laplace_noise_on_spread_changes_is_covered(epsilon: Fraction, shifts: tuple[int], order: Fraction) -> None:
    scale = sum(shifts) / float(epsilon)
    reach = math.ceil(40 * scale) + sum(shifts)
    still = discrete_laplace(0, scale, reach)
    total = sum(divergence(still, discrete_laplace(shift, scale, reach), float(order)) for shift in shifts)
    assert total <= charged(Laplace(epsilon), order) * (1 + 1e-9)


def test_the_continuous_curve_would_undercharge_the_noise_that_runs() -> None:
    order, epsilon = 20.0, 1.0
    parts = order * math.exp((order - 1) * epsilon), (order - 1) * math.exp(-order * epsilon)
    continuous = math.log(sum(parts) / (2 * order - 1)) / (order - 1)
    assert continuous < 0.99 * charged(Laplace(Fraction(1)), Fraction(20))


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ORDERS, ids=float)
@given(epsilon=st.floats(0.01, 6), inner=st.lists(st.floats(-1, 1), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_nothing_private_costs_more_than_pure(order: Fraction, epsilon: float, inner: list[float]) -> None:
    """Random finite mechanisms whose loss stays in [-epsilon, epsilon]."""
    loss = epsilon * np.array(inner)
    q = np.exp(-np.abs(loss))
    grow, shrink = (loss > 0) * q * np.expm1(loss), (loss <= 0) * q * -np.expm1(loss)
    assume(grow.sum() > 1e-6 and shrink.sum() > 1e-6)
    q = q * np.where(loss > 0, shrink.sum(), grow.sum())
    log_q = np.log(q / q.sum())
    assert np.exp(log_q + loss).sum() == pytest.approx(1)
    bound = charged(Pure(exact(epsilon, "epsilon")), order)
    assert divergence(log_q + loss, log_q, float(order)) <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("order", ORDERS, ids=float)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=float)
def test_selection_covers_every_small_exponential_mechanism(epsilon: Fraction, order: Fraction) -> None:
    """All pairs of scores of three candidates that differ by at most the sensitivity 2."""
    worst = 0.0
    scores = np.array(list(itertools.product((0, 1, 2, 5), repeat=3)), dtype=float)
    for change in itertools.product((-2, -1, 0, 2), repeat=3):
        p, q = (float(epsilon) * values / 4 for values in (scores, scores + change))
        p = p - np.logaddexp.reduce(p, axis=1)[:, None]
        q = q - np.logaddexp.reduce(q, axis=1)[:, None]
        worst = max(worst, *(divergence(a, b, float(order)) for a, b in zip(p, q, strict=True)))
    bound = charged(Selection(epsilon), order)
    assert worst <= bound * (1 + 1e-9)
    assert bound <= charged(Pure(epsilon), order)
    assert bound <= float(order * epsilon**2 / 8) + 1e-12


@pytest.mark.crossing(keep=5)
@pytest.mark.parametrize("order", ORDERS, ids=float)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=float)
def test_selection_is_charged_no_more_than_its_worst_case(epsilon: Fraction, order: Fraction) -> None:
    """Two groups of candidates whose scores move apart; the worst ratio of their sizes reaches the charge."""
    half, worst = float(epsilon) / 2, 0.0
    for log_size in np.linspace(-60, 60, 6001):
        p, q = np.array([log_size - half, half]), np.array([log_size, 0.0])
        p, q = p - np.logaddexp.reduce(p), q - np.logaddexp.reduce(q)
        worst = max(worst, divergence(p, q, float(order)))
    assert charged(Selection(epsilon), order) == pytest.approx(worst, rel=1e-3)


@given(epsilon=st.fractions(min_value=Fraction(1, 10**20), max_value=1000), order=st.sampled_from(ORDERS))
@settings(max_examples=60, deadline=None)
def test_the_kinds_of_event_are_ordered(epsilon: Fraction, order: Fraction) -> None:
    selection, pure = (units(cost(kind(epsilon)), order) for kind in (Selection, Pure))
    assert selection <= pure == units(cost(Laplace(epsilon)), order)
    assert pure <= units(cost(Pure(epsilon)), None)
    assert selection <= units(cost(Gaussian(epsilon**2 / 8)), order)


def test_the_smallest_choices_cost_what_the_simple_bound_says() -> None:
    """Where the exact form would cancel, down to where its digits run out."""
    for epsilon in (Fraction(1, 10**7), Fraction(1, 10**12), Fraction(1, 10**45)):
        for order in (Fraction(3, 2), Fraction(9)):
            assert renyi.divergence(Counter([Selection(epsilon)]), order) == order * epsilon**2 / 8


@pytest.mark.parametrize(("epsilon", "order"), [(Fraction(1, 10**4), Fraction(3, 2)), (Fraction(6, 10**5), LOWEST)])
def test_small_choices_are_charged_by_the_exact_form_as_soon_as_it_gains(epsilon: Fraction, order: Fraction) -> None:
    assert renyi.divergence(Counter([Selection(epsilon)]), order) < order * epsilon**2 / 8


@pytest.mark.parametrize(("epsilon", "exactly"), [(600, False), (1000, False), (1001, True), (2000, True)])
def test_choices_beyond_every_budget_are_charged_as_pure_ones(epsilon: int, exactly: bool) -> None:
    assert (renyi.divergence(Counter([Selection(Fraction(epsilon))]), Fraction(9)) == epsilon) is exactly
