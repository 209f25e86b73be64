"""Bounds on finished sequences beside enumeration, and known figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure, Selection
from core.privacy.gaussian import MOST, gaussian_capacity
from core.privacy.spendable import covers
from core.theory.composition import account_epsilon, advanced, basic, epsilon_for, gaussian, renyi, zcdp
from tests.core.privacy.test_accounting import cost, costs, hockey_stick, private_budgets

pytestmark = pytest.mark.crossing(keep=4)


def responses(epsilon: float, times: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    likely, unlikely = -math.log1p(math.exp(-epsilon)), -math.log1p(math.exp(epsilon))
    ones = np.array([bin(code).count("1") for code in range(2**times)])
    p = ones * likely + (times - ones) * unlikely
    return p, p[::-1]


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 1), (0.1, 10), (1.0, 3), (0.7, 12), (3.0, 5)])
def test_optimal_composition_equals_enumeration(epsilon: float, times: int, delta: float) -> None:
    p, q = responses(epsilon, times)
    spent = Cost.of([Pure(exact(epsilon, "epsilon"))] * times)
    found = advanced(spent, delta)
    assert hockey_stick(p, q, found) <= delta * (1 + 1e-9)
    assert found < 1e-12 or hockey_stick(p, q, found - 1e-6) > delta
    for other in (zcdp(spent, delta), renyi(spent, delta), gaussian(spent, delta), basic(spent)):
        assert other >= found * (1 - 1e-12)
    assert renyi(spent, delta) <= zcdp(spent, delta)


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_different_epsilons_are_covered(delta: float) -> None:
    parts = [0.1, 0.2, 0.2, 0.5, 0.5, 0.9, 1.3]
    p, q = np.zeros(1), np.zeros(1)
    for epsilon in parts:
        one, two = responses(epsilon, 1)
        p, q = (np.add.outer(a, b).ravel() for a, b in ((p, one), (q, two)))
    spent = Cost.of(Pure(exact(epsilon, "epsilon")) for epsilon in parts)
    for bound in (advanced, zcdp, renyi, gaussian, epsilon_for):
        assert hockey_stick(p, q, bound(spent, delta)) <= delta


def test_anchors_of_one_hundred_tenths() -> None:
    tenths = Cost.of([Laplace(Fraction(1, 10))] * 100)
    assert basic(tenths) == 10
    assert advanced(tenths, 1e-6) == pytest.approx(4.7746, abs=1e-4)
    assert zcdp(tenths, 1e-6) == pytest.approx(5.2215, abs=1e-4)
    assert renyi(tenths, 1e-6) == pytest.approx(5.0731, abs=1e-3)
    assert epsilon_for(Cost.of([Selection(Fraction(1, 10))] * 100), 1e-6) < 2.42
    assert zcdp(Cost.of([Selection(Fraction(1, 10))] * 100), 1e-6) == pytest.approx(2.4191, abs=1e-3)
    uneven = Cost.of([Laplace(Fraction(1, 10))] * 99 + [Laplace(Fraction(11, 100))])
    assert advanced(uneven, 1e-6) == pytest.approx(5.76, abs=0.02)


@pytest.mark.exhaustive
@given(budget=private_budgets)
@settings(max_examples=25, deadline=None)
def test_conversion_there_and_back(budget: Budget) -> None:
    assume(budget.epsilon <= MOST)
    back = epsilon_for(cost(Gaussian(gaussian_capacity(budget))), budget.delta)
    # Rounded up to a float, which may lie one step above an epsilon that is none.
    assert back <= math.nextafter(float(budget.epsilon), math.inf)
    assert back == pytest.approx(float(budget.epsilon), rel=1e-6)


@pytest.mark.exhaustive
@given(spent=costs)
@settings(max_examples=25, deadline=None)
def test_epsilon_for_is_the_best_bound(spent: Cost) -> None:
    bounds = [basic(spent), advanced(spent, 1e-6), zcdp(spent, 1e-6), renyi(spent, 1e-6), gaussian(spent, 1e-6)]
    assert epsilon_for(spent, 1e-6) == min(bounds) >= 0
    assert epsilon_for(spent, 0) == basic(spent)
    assert (basic(spent) == math.inf) == (not spent.pure)
    assert epsilon_for(spent, 1e-9) >= epsilon_for(spent, 1e-6)


@pytest.mark.exhaustive
@given(parts=st.lists(st.fractions(min_value=0, max_value=9), min_size=1, max_size=4))
def test_reported_sums_are_rounded_up_as_they_print(parts: list[Fraction]) -> None:
    total = sum(parts)
    shown = basic(Cost.of(Pure(part) for part in parts))
    assert exact(shown, "epsilon") >= total
    assert float(total) <= shown <= math.nextafter(float(total), math.inf)
    assert basic(cost(Pure(exact(0.1, "epsilon")), Pure(exact(0.2, "epsilon")))) == 0.3


def test_an_empty_cost_is_free() -> None:
    for bound in (advanced, zcdp, renyi, gaussian, epsilon_for):
        assert bound(cost(), 1e-6) == 0
    assert epsilon_for(cost(Gaussian(Fraction(0))), 1e-9) == basic(cost()) == 0


@pytest.mark.parametrize("bound", [advanced, zcdp, renyi, gaussian, epsilon_for])
@pytest.mark.parametrize("delta", [1, -1e-9, float("nan"), "x", None])
def test_a_bad_delta_is_named(bound: Callable[[Cost, object], float], delta: object) -> None:
    with pytest.raises(BadParameter, match=r"^delta: "):
        bound(cost(Pure(Fraction(1))), delta)


def test_bounds_do_not_depend_on_the_decimal_context() -> None:
    mixed = cost(Laplace(Fraction(1, 7)), Selection(Fraction(2, 7)))
    usual = [bound(mixed, 1e-8) for bound in (advanced, zcdp, renyi, gaussian)]
    with localcontext() as context:
        context.prec = 3
        assert [bound(mixed, 1e-8) for bound in (advanced, zcdp, renyi, gaussian)] == usual


@pytest.mark.parametrize("delta", [0, 1e-9])
@pytest.mark.parametrize("events", [[Laplace(Fraction(1, 10))] * 100, [Selection(Fraction(1, 2))] * 3, []], ids=str)
def test_an_account_pays_at_its_epsilon_and_not_below(events: list[Event], delta: float) -> None:
    spent = Cost.of(events)
    least = account_epsilon(spent, delta)
    assert covers(Budget(least, delta), spent)
    assert least <= 0.001 or not covers(Budget(least - 0.001, delta), spent)
    # Whoever may choose on the way never needs less than whoever may not, nor more than the sum.
    assert epsilon_for(spent, delta) <= least <= basic(spent) + 0.001
