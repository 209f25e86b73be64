"""The accountant beside dp-accounting's privacy loss distributions: never below, at most 1.12 times."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from core.privacy.accounting import capacity, epsilon_for, order_for, renyi, units, zcdp
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Gaussian, Laplace, Selection

MOST = 1.12


@pytest.fixture(scope="module")
def pld() -> Any:
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("times", [100, 300, 1000])
def test_many_laplace_events(pld: Any, times: int, epsilon: float) -> None:
    """The noise is discrete, so its own distribution is the right one; the continuous one has less loss."""
    spent = Cost.of([Laplace(exact(epsilon, "epsilon"))] * times)
    discrete = pld.from_discrete_laplace_mechanism(epsilon, 1).self_compose(times)
    continuous = pld.from_laplace_mechanism(1 / epsilon).self_compose(times)
    for delta in (1e-6, 1e-9):
        running, ideal = (noise.get_epsilon_for_delta(delta) for noise in (discrete, continuous))
        ours, curves = epsilon_for(spent, delta), renyi(spent, delta)
        # The oracle rounds losses up to a multiple of 10^-4, so where epsilon is no such multiple (0.3 as a float is
        # not) its figure lies a little above the exact one.
        assert running * (1 - 5e-4) <= ours <= running * (1 + 1e-6)
        assert ideal <= ours <= curves <= zcdp(spent, delta)
        assert curves <= MOST * (ideal if epsilon < 1 else running)


@pytest.mark.parametrize("delta", [1e-6, 1e-9])
@pytest.mark.parametrize("times", [1, 3, 10, 30])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_few_laplace_events(pld: Any, epsilon: float, times: int, delta: float) -> None:
    spent = Cost.of([Laplace(exact(epsilon, "epsilon"))] * times)
    running = pld.from_discrete_laplace_mechanism(epsilon, 1).self_compose(times).get_epsilon_for_delta(delta)
    assert running * (1 - 5e-4) <= epsilon_for(spent, delta) <= MOST * running


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("delta", [1e-6, 1e-9])
@pytest.mark.parametrize(("sigma", "times"), [(1.0, 1), (3.0, 10), (10.0, 100), (40.0, 1000)])
def test_gaussian_events(pld: Any, sigma: float, times: int, delta: float) -> None:
    rho = 1 / (2 * exact(sigma, "sigma") ** 2)
    theirs = pld.from_gaussian_mechanism(sigma).self_compose(times).get_epsilon_for_delta(delta)
    ours = epsilon_for(Cost.of([Gaussian(rho)] * times), delta)
    assert theirs <= ours <= MOST * theirs
    assert epsilon_for(rho * times, delta) == ours


@pytest.mark.parametrize("delta", [1e-6, 1e-9])
def test_mixed_events(pld: Any, delta: float) -> None:
    tenth = Fraction(1, 10)
    spent = Cost.of([Laplace(tenth)] * 60 + [Gaussian(Fraction(1, 800))] * 40 + [Selection(Fraction(1, 5))] * 30)
    known = pld.from_discrete_laplace_mechanism(0.1, 1).self_compose(60)
    known = known.compose(pld.from_gaussian_mechanism(20.0).self_compose(40))
    assert known.get_epsilon_for_delta(delta) <= epsilon_for(Cost(spent.events[:100]), delta)
    # Two candidates whose scores move apart by the sensitivity are one randomised response with half the epsilon.
    everything = known.compose(pld.from_randomized_response(2 / (1 + math.exp(0.1)), 2).self_compose(30))
    floor = everything.get_epsilon_for_delta(delta)
    assert floor <= epsilon_for(spent, delta) <= MOST * floor


@pytest.mark.parametrize("budget", [Budget(0.5, 1e-9), Budget(1, 1e-6), Budget(4, 1e-9)], ids=repr)
@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_an_account_that_is_used_up_keeps_its_promise(pld: Any, budget: Budget, epsilon: float) -> None:
    """As many Laplace events as an account takes at its fixed order: the oracle's delta is within the account's."""
    each = units(Cost.of([Laplace(exact(epsilon, "epsilon"))]), order_for(budget))
    times = capacity(budget) // each
    noise = pld.from_discrete_laplace_mechanism(epsilon, 1).self_compose(times)
    assert noise.get_delta_for_epsilon(float(budget.epsilon)) <= float(budget.delta)


def test_half_of_the_events_would_be_noticed(pld: Any) -> None:
    spent = Cost.of([Laplace(Fraction(1, 10))] * 100)
    running = pld.from_discrete_laplace_mechanism(0.1, 1).self_compose(100).get_epsilon_for_delta(1e-6)
    assert epsilon_for(Cost(spent.events[:90]), 1e-6) < running * (1 - 5e-4)
