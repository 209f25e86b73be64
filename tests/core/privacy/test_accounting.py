from __future__ import annotations

import math
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.privacy import renyi
from core.privacy.accounting import UNITS, capacity, order_for, units
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure, Selection

pytestmark = pytest.mark.crossing(keep=4)

ORDERS = [Fraction(11, 10), Fraction(2), Fraction(7, 2), Fraction(139, 4), Fraction(300)]
BUDGETS = [Budget(0.01, 1e-9), Budget(0.1, 1e-6), Budget(1, 1e-9), Budget(3.7, 1e-12), Budget(20, 1e-6), Budget(2, 0.3)]

epsilons = st.fractions(min_value=0, max_value=5, max_denominator=10**15)
rhos = st.fractions(min_value=0, max_value=2, max_denominator=10**15)
events = st.one_of(
    st.builds(Pure, epsilons), st.builds(Laplace, epsilons), st.builds(Selection, epsilons), st.builds(Gaussian, rhos)
)
costs = st.builds(Cost.of, st.lists(events, max_size=5))
pure_budgets = st.builds(Budget, st.fractions(min_value=Fraction(1, 10**6), max_value=100))
private_budgets = st.builds(
    Budget,
    st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=10**9),
    st.integers(min_value=2, max_value=14).map(lambda digits: Fraction(1, 10**digits)),
)
budgets = st.one_of(pure_budgets, private_budgets)


def cost(*parts: Event) -> Cost:
    return Cost(parts)


def hockey_stick(p: NDArray[np.float64], q: NDArray[np.float64], epsilon: float) -> float:
    """The exact delta at this epsilon of two distributions given as logarithms."""
    return float(np.maximum(0, np.exp(p) - math.exp(epsilon) * np.exp(q)).sum())


# the order and the capacity


def test_equal_events_are_counted_together_whether_they_are_one_object_or_not() -> None:
    spent = cost(*[Laplace(Fraction(1, 3))] * 4, Laplace(Fraction(1, 3)), Gaussian(Fraction(1, 3)))
    assert spent.counts == {Laplace(Fraction(1, 3)): 5, Gaussian(Fraction(1, 3)): 1}


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_capacity_is_the_largest_divergence_that_converts(budget: Budget) -> None:
    order, held = order_for(budget), capacity(budget)
    assert order is not None
    a, epsilon = float(order), float(budget.epsilon)

    def log_delta(divergence: float) -> float:
        return (a - 1) * (divergence - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)

    assert log_delta(held / UNITS) == pytest.approx(math.log(budget.delta), abs=1e-9 * a)


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_the_order_gives_gaussian_noise_the_most(budget: Budget) -> None:
    best = 0.0
    for above in np.geomspace(1e-3, 1e6, 4000):
        log_term = (math.log1p(above) + math.log(budget.delta)) / above + math.log1p(1 / above)
        best = max(best, (float(budget.epsilon) + log_term) / (1 + above))
    order = order_for(budget)
    assert order is not None
    assert float(Fraction(capacity(budget), UNITS) / order) == pytest.approx(best, rel=2e-5)


def test_pure_accounts_count_pico_epsilon() -> None:
    assert order_for(Budget(2)) is None
    assert capacity(Budget(2)) == 2 * UNITS
    assert capacity(Budget(Fraction(1, 3))) == 333_333_333_333


def test_a_changed_total_is_counted_at_the_order_of_the_account() -> None:
    order = order_for(Budget(1, 1e-9))
    assert capacity(Budget(1, 1e-9), order) == capacity(Budget(1, 1e-9))
    assert capacity(Budget(2, 1e-9), order) == capacity(Budget(1, 1e-9)) + UNITS
    assert capacity(Budget(0.1, 1e-9), order) == 0
    with pytest.raises(BadParameter, match=r"^delta: "):
        capacity(Budget(1), order)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1000, 0.999), (1000, 1e-300), (1e-12, 1e-300), (1e-12, 0.9), (1e-300, 1e-9), (1, 1 - 1e-16)]
)
def test_extreme_budgets_stay_finite(epsilon: float, delta: float) -> None:
    budget = Budget(epsilon, delta)
    order = order_for(budget)
    assert order is not None and order > 1
    assert 0 <= capacity(budget) < 10**16


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(BadParameter, match="needs a delta above 0"):
        units(cost(Gaussian(Fraction(1, 100))), None)
    assert units(cost(Gaussian(Fraction(0))), None) == 0


def test_results_do_not_depend_on_the_decimal_context() -> None:
    def figures() -> tuple[object, ...]:
        for cached in (order_for, capacity, renyi._of_event, renyi._logs, renyi.log):
            cached.cache_clear()
        budget, mixed = Budget(1.3, 1e-8), cost(Laplace(Fraction(1, 7)), Selection(Fraction(2, 7)))
        order = order_for(budget)
        return order, capacity(budget), units(mixed, order)

    usual = figures()
    with localcontext() as context:
        context.prec = 3
        assert figures() == usual


# units


@pytest.mark.exhaustive
@given(first=costs, second=costs, budget=private_budgets)
@settings(max_examples=60, deadline=None)
def test_units_add_up_to_the_rounding(first: Cost, second: Cost, budget: Budget) -> None:
    order = order_for(budget)
    both, parts = units(first + second, order), units(first, order) + units(second, order)
    assert both <= parts <= both + 1
    assert max(units(first, order), units(second, order)) <= both
    assert units(second + first, order) == both


@given(low=epsilons, high=epsilons, order=st.sampled_from([None, *ORDERS]))
@settings(max_examples=60, deadline=None)
def test_units_grow_with_epsilon(low: Fraction, high: Fraction, order: Fraction | None) -> None:
    low, high = sorted((low, high))
    for kind in (Pure, Laplace, Selection):
        assert units(cost(kind(low)), order) <= units(cost(kind(high)), order)


@pytest.mark.parametrize("order", [None, *ORDERS], ids=str)
def test_nothing_costs_nothing_and_anything_costs_something(order: Fraction | None) -> None:
    zero, tiny = Fraction(0), exact(1e-17, "epsilon")
    assert units(cost(), order) == units(cost(Pure(zero), Laplace(zero), Selection(zero), Gaussian(zero)), order) == 0
    for kind in (Pure, Laplace, Selection):
        assert units(cost(kind(tiny)), order) >= 1
    assert order is None or units(cost(Gaussian(tiny)), order) >= 1


@pytest.mark.exhaustive
@given(rho=rhos, order=st.sampled_from(ORDERS))
def test_gaussian_noise_is_charged_exactly(rho: Fraction, order: Fraction) -> None:
    assert units(cost(Gaussian(rho)), order) == math.ceil(rho * order * UNITS)
