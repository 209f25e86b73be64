from __future__ import annotations

import itertools
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
from core.privacy import accounting
from core.privacy.accounting import (
    UNITS,
    advanced,
    basic,
    capacity,
    epsilon_for,
    gaussian,
    order_for,
    renyi,
    units,
    zcdp,
)
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure, Selection
from core.privacy.gaussian import MOST, gaussian_capacity

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


def divergence(p: NDArray[np.float64], q: NDArray[np.float64], order: float) -> float:
    """Rényi divergence of two distributions given as logarithms of probabilities."""
    return float(np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1))


def charged(event: Event, order: Fraction) -> float:
    return units(cost(event), order) / UNITS


def hockey_stick(p: NDArray[np.float64], q: NDArray[np.float64], epsilon: float) -> float:
    """The exact delta at this epsilon of two distributions given as logarithms."""
    return float(np.maximum(0, np.exp(p) - math.exp(epsilon) * np.exp(q)).sum())


# the order and the capacity


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
        for cached in (order_for, capacity, accounting._of_event, accounting._logs, accounting._log):
            cached.cache_clear()
        budget, mixed = Budget(1.3, 1e-8), cost(Laplace(Fraction(1, 7)), Selection(Fraction(2, 7)))
        order = order_for(budget)
        return order, capacity(budget), units(mixed, order), epsilon_for(mixed, 1e-8)

    usual = figures()
    with localcontext() as context:
        context.prec = 3
        assert figures() == usual


# the curves, against enumeration


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


# composition of a finished cost


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
    back = epsilon_for(gaussian_capacity(budget), budget.delta)
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
    assert epsilon_for(Fraction(0), 1e-9) == basic(cost()) == 0


@pytest.mark.parametrize("bound", [advanced, zcdp, renyi, gaussian, epsilon_for])
@pytest.mark.parametrize("delta", [1, -1e-9, float("nan"), "x", None])
def test_a_bad_delta_is_named(bound: Callable[[Cost, object], float], delta: object) -> None:
    with pytest.raises(BadParameter, match=r"^delta: "):
        bound(cost(Pure(Fraction(1))), delta)
