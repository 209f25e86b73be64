"""The accountant beside dp-accounting's privacy loss distributions: never below, at most 1.12 times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure, Selection
from core.privacy.privacy_filter import DeltaShares
from core.privacy.spendable import rho_for
from core.theory.composition import epsilon_for, renyi, zcdp
from tests.accounts import Spender

MOST = 1.12


@pytest.fixture(scope="module")
def pld() -> Any:
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("delta", [1e-6, 1e-9])
@pytest.mark.parametrize(("sigma", "times"), [(1.0, 1), (3.0, 10), (10.0, 100), (40.0, 1000)])
def test_gaussian_events(pld: Any, sigma: float, times: int, delta: float) -> None:
    rho = 1 / (2 * exact(sigma, "sigma") ** 2)
    theirs = pld.from_gaussian_mechanism(sigma).self_compose(times).get_epsilon_for_delta(delta)
    ours = epsilon_for(Cost.of([Gaussian(rho)] * times), delta)
    # The oracle rounds losses up to a multiple of 10^-4; ours is exact.
    assert theirs * (1 - 5e-3) <= ours <= theirs * (1 + 1e-6)
    assert epsilon_for(Cost((Gaussian(rho * times),)), delta) == ours


@pytest.mark.exhaustive
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


TOTALS = [Budget(0.5, 1e-9), Budget(1, 1e-6), Budget(4, 1e-9)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", TOTALS, ids=repr)
@pytest.mark.parametrize("epsilon", [0.02, 0.1])
def test_an_account_that_is_used_up_keeps_its_promise(pld: Any, budget: Budget, epsilon: float) -> None:
    """As many Laplace events as an account takes, by whichever way: the oracle's delta is within the account's."""
    account, times = Spender.of(budget), 0
    while account.fits(each := Cost((Laplace(exact(epsilon, "epsilon")),))):
        account, times = account.spend(each), times + 1
    noise = pld.from_discrete_laplace_mechanism(epsilon, 1).self_compose(times)
    assert times * epsilon > float(budget.epsilon) * (1 - 1e-9)
    assert noise.get_delta_for_epsilon(float(budget.epsilon)) <= float(budget.delta)


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", TOTALS, ids=repr)
def test_gaussian_noise_uses_an_account_to_its_share_of_delta(pld: Any, budget: Budget) -> None:
    sigma = math.sqrt(1 / (2 * rho_for(budget)))
    found = pld.from_gaussian_mechanism(sigma).get_delta_for_epsilon(float(budget.epsilon))
    assert found == pytest.approx(float(budget.delta * DeltaShares.of(budget).gaussian), rel=0.02)


def worst_case(pld: Any, event: Event) -> Any:
    """The distribution of the worst thing that an event may be, of those that the oracle knows."""
    if isinstance(event, Gaussian):
        return pld.from_gaussian_mechanism(math.sqrt(1 / (2 * event.rho)), value_discretization_interval=STEP)
    epsilon = float(event.epsilon) / (2 if isinstance(event, Selection) else 1)
    return pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=STEP)


STEP = 1e-3


def adversary(generator: np.random.Generator, account: Spender, budget: Budget) -> Iterator[Event]:
    """Spends of every kind and size, now and then as much as any one way still takes."""
    rho, epsilon = rho_for(budget), budget.epsilon
    for _ in range(60):
        part = Fraction(int(generator.integers(1, 1000)), 1000) ** int(generator.integers(1, 5))
        yield (Gaussian(rho * part), Pure(epsilon * part), Laplace(epsilon * part), Selection(2 * epsilon * part))[
            int(generator.integers(4))
        ]


@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("budget", TOTALS, ids=repr)
@pytest.mark.parametrize("seed", range(8))
def test_no_sequence_is_taken_beyond_the_promise(pld: Any, budget: Budget, seed: int) -> None:
    """Random mixtures of every kind of event, each taken if one way covers it, composed by the oracle."""
    account, taken = Spender.of(budget), []
    for event in adversary(np.random.default_rng(seed), account, budget):
        if account.fits(Cost((event,))):
            account = account.spend(Cost((event,)))
            taken.append(event)
    assert len(taken) > 1 and account.used > 0.3
    whole = reduce(lambda one, two: one.compose(two), (worst_case(pld, event) for event in taken))
    assert whole.get_delta_for_epsilon(float(budget.epsilon)) <= float(budget.delta) * 1.001


@pytest.mark.parametrize("budget", TOTALS, ids=repr)
def test_an_adversary_that_picks_the_way_by_the_answers_stays_within_the_promise(budget: Budget) -> None:
    """The case that the shares of delta pay for: a first answer decides whether all else is Gaussian or pure.

    A coin that is nearly the same on both tables is thrown; on heads everything goes into Gaussian noise, on tails into
    pure noise, each until the account is full. Delta of the whole is at most the sum over both branches.
    """
    coin, epsilon = Fraction(1, 1000), float(budget.epsilon)
    account = Spender.of(budget).spend(Cost((Pure(coin),)))
    heads = max(filter(None, (account.filters.room_for_rho(name, account.sums) for name in account.filters.ways)))
    mu = math.sqrt(2 * heads)
    after = epsilon - float(coin)
    delta_heads = norm.sf(after / mu - mu / 2) - math.exp(after) * norm.sf(after / mu + mu / 2)
    assert account.fits(Cost((Gaussian(heads),)))
    assert account.fits(Cost((Pure(budget.epsilon - coin),)))
    likely = 1 / (1 + math.exp(-float(coin)))
    assert likely * delta_heads <= float(budget.delta)


def test_half_of_the_events_would_be_noticed(pld: Any) -> None:
    spent = Cost.of([Laplace(Fraction(1, 10))] * 100)
    running = pld.from_discrete_laplace_mechanism(0.1, 1).self_compose(100).get_epsilon_for_delta(1e-6)
    assert epsilon_for(Cost(spent.events[:90]), 1e-6) < running * (1 - 5e-4)
