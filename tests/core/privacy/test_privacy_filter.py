"""Several ways of adding up: what is taken is within the promise, and nothing that one way covers is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import OutOfBudget
from core.privacy.accounting import UNITS
from core.privacy.budget import Budget, HalvedBudget, OneWayBudget, exact
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection
from core.privacy.gaussian import MOST
from core.privacy.privacy_filter import GAUSSIAN, GAUSSIAN_UNITS, PURE, Filters, Way, amounts_text, joined
from core.privacy.spendable import mixed_rho_for, pure_for, rho_for
from tests.accounts import Spender, part_of
from tests.core.privacy.test_accounting import BUDGETS, budgets, cost, costs, hockey_stick, private_budgets

pytestmark = pytest.mark.crossing(keep=4)


@pytest.mark.parametrize("budget", [*BUDGETS, Budget(1)], ids=repr)
def test_the_shares_of_delta_are_together_delta(budget: Budget) -> None:
    ways = Filters.of(budget).ways
    assert ways[PURE].share == 0
    assert sum(way.share for way in ways.values()) == (0 if budget.pure else 1)
    assert len(ways) == (1 if budget.pure else 4)


@given(budget=budgets, spent=costs)
@settings(max_examples=50, deadline=None)
def test_one_way_that_covers_is_enough(budget: Budget, spent: Cost) -> None:
    filters = Filters.of(budget)
    assert filters.covers(spent) is (filters.used(filters.amounts(spent)) is not None)


@given(budget=budgets)
@settings(max_examples=25, deadline=None)
def test_ways_read_back_what_they_write(budget: Budget) -> None:
    filters = Filters.of(budget)
    again = Filters.from_text(filters.to_text())
    assert again == filters and again.to_text() == filters.to_text()
    assert again.total == filters.total == math.floor(budget.epsilon * UNITS)


@pytest.mark.exhaustive
@given(first=costs, second=costs, budget=private_budgets)
@settings(max_examples=40, deadline=None)
def test_amounts_are_rounded_up_once_and_add_up(first: Cost, second: Cost, budget: Budget) -> None:
    filters = Filters.of(budget)
    both, parts = filters.amounts(first + second), joined(filters.amounts(first), filters.amounts(second))
    for name in filters.ways:
        one, two = both[name], parts[name]
        assert (one is None) == (two is None)
        assert one is None or two is None or one <= two <= one + 1
    used = filters.filled(parts)
    assert used is not None
    assert used >= max(filters.filled(filters.amounts(each)) or 0 for each in (first, second))


def test_a_way_that_cannot_count_once_never_covers_again() -> None:
    assert joined({PURE: None, "order 7": 3}, {PURE: 1, "order 7": 4}) == {PURE: None, "order 7": 7}
    assert joined({}, {PURE: 1}) == {PURE: 1}
    assert amounts_text({PURE: None, "a": 1}) == '{"a":1,"pure":null}'


# whole budgets


@pytest.mark.exhaustive
@given(budget=private_budgets, parts=st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_the_whole_rho_fits_exactly_once_however_it_is_split(budget: Budget, parts: int) -> None:
    # Beyond MOST the Gaussian way holds less than it could, so that another way may have room left.
    assume(budget.epsilon <= MOST)
    weights = range(1, parts + 1)
    whole = Cost.of(Gaussian(rho_for(budget) * Fraction(weight, sum(weights))) for weight in weights)
    account = Spender.of(budget).spend(whole)
    assert account.used == 1
    assert account.fits(cost())
    assert not account.fits(cost(Gaussian(Fraction(1, 10**30))))


@pytest.mark.exhaustive
@given(budget=private_budgets)
@settings(max_examples=40, deadline=None)
def test_the_whole_mixed_rho_fits_beside_choices(budget: Budget) -> None:
    """Half in Gaussian noise and half in selections, of the same zero-concentrated cost."""
    rho = mixed_rho_for(budget) / 2
    chosen = Fraction(math.isqrt(math.floor(rho / 100 * 8 * 10**24)), 10**12)
    assert part_of(budget, cost(Gaussian(rho), *[Selection(chosen)] * 100)) <= 1


@pytest.mark.exhaustive
@given(budget=budgets, parts=st.lists(st.integers(1, 10**9), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_pure_spends_that_sum_to_epsilon_always_fit(budget: Budget, parts: list[int]) -> None:
    """In whole units, because each is rounded up; whatever the delta, and whatever kind of pure noise it is."""
    whole = math.floor(budget.epsilon * UNITS)
    assume(whole >= len(parts))
    cuts = [whole * sum(parts[:place]) // sum(parts) for place in range(len(parts) + 1)]
    account = Spender.of(budget)
    for place, (low, high) in enumerate(itertools.pairwise(cuts)):
        kind = (Pure, Laplace, Selection)[place % 3]
        account = account.spend(cost(kind(Fraction(high - low, UNITS))))
    assert account.sums[PURE] == whole


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("times", [1, 10, 1000])
def test_equal_gaussian_spends_fill_an_account(budget: Budget, times: int) -> None:
    part = Fraction(math.floor(rho_for(budget) * GAUSSIAN_UNITS / times), GAUSSIAN_UNITS)
    account = Spender.of(budget)
    for _ in range(times):
        account = account.spend(cost(Gaussian(part)))
    assert 1 - Fraction(1, 10**6) <= account.used <= 1


def test_ten_tenths_are_one() -> None:
    for total in (Budget(1.0), Budget(1.0, 1e-9)):
        account = Spender.of(total)
        for _ in range(10):
            account = account.spend(cost(Laplace(exact(0.1, "epsilon"))))
        assert account.used == 1
        with pytest.raises(OutOfBudget):
            account.spend(cost(Laplace(exact(1e-17, "epsilon"))))


def test_thirds_are_rounded_against_the_spender() -> None:
    account = Spender.of(Budget(1)).spend(cost(Pure(Fraction(1, 3)))).spend(cost(Pure(Fraction(1, 3))))
    assert account.sums[PURE] == 2 * 333_333_333_334
    assert not account.fits(cost(Pure(Fraction(1, 3))))
    assert Spender.of(Budget(1)).fits(cost(*[Pure(Fraction(1, 3))] * 3))


def test_many_small_pure_spends_fit_beyond_their_sum() -> None:
    """By an order of Rényi divergence, as before there were other ways."""
    account, times = Spender.of(Budget(1, 1e-6)), 0
    while account.fits(cost(Laplace(Fraction(1, 50)))):
        account, times = account.spend(cost(Laplace(Fraction(1, 50)))), times + 1
    assert times > 75


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_budget_with_a_delta_holds_all_that_one_without_it_holds(budget: Budget) -> None:
    pure, whole = Spender.of(Budget(budget.epsilon)), Spender.of(budget)
    for epsilon in (budget.epsilon / 3, budget.epsilon / 2, budget.epsilon / 7):
        if pure.fits(cost(Pure(epsilon))):
            pure, whole = pure.spend(cost(Pure(epsilon))), whole.spend(cost(Pure(epsilon)))


# changed budgets


def test_a_changed_budget_keeps_its_ways() -> None:
    old, new = Filters.of(Budget(1, 1e-9)), Filters.of(Budget(1, 1e-9)).changed(Budget(3, 1e-6))
    assert {name: way.share for name, way in old.ways.items()} == {name: way.share for name, way in new.ways.items()}
    assert new.ways[PURE].held == 3 * UNITS
    assert new.ways[GAUSSIAN] == Filters.of(Budget(3, 1e-6)).ways[GAUSSIAN]
    assert all(new.ways[name].held > old.ways[name].held for name in old.ways)
    assert old.changed(Budget(1, 1e-9)) == old


# accounts of older versions


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_an_account_of_the_second_version_pays_its_whole_budget_as_it_did(budget: Budget) -> None:
    filters = Filters.of(HalvedBudget(budget.epsilon, budget.delta))
    assert sum(way.share for way in filters.ways.values()) == 1
    again = Filters.from_text(filters.to_text()).changed(Budget(budget.epsilon / 2, budget.delta))
    for account, paid in ((filters, budget), (again, Budget(budget.epsilon / 2, budget.delta))):
        plan = account.spendable(paid)
        assert isinstance(plan, HalvedBudget) and plan.to_json() == paid.to_json()
        assert account.covers(cost(Gaussian(rho_for(plan))))
        assert not account.covers(cost(Gaussian(rho_for(paid)))), "what a new account would pay"


def test_accounts_of_older_versions_are_told_from_new_ones() -> None:
    budget = Budget(1, "1e-9")
    assert not Filters.of(budget).older and not Filters.of(Budget(1)).older
    assert Filters.of(HalvedBudget(1, "1e-9")).older
    assert Filters({"order 7": Way(Fraction(1), 10**12)}).older


@pytest.mark.exhaustive
@given(budget=private_budgets)
@settings(max_examples=20, deadline=None)
def test_one_way_pays_the_whole_budget_as_it_did(budget: Budget) -> None:
    order, held = Fraction(7), 10**12
    filters = Filters({f"order {order}": Way(Fraction(1), held)})
    plan = filters.spendable(budget)
    assert isinstance(plan, OneWayBudget) and plan.to_json() == budget.to_json()
    own = Filters.of(budget)
    assert own.spendable(budget) is budget
    assert rho_for(plan) == mixed_rho_for(plan) > mixed_rho_for(budget)
    assert pure_for(plan) < budget.epsilon + 1


# the rule, against adversaries that choose the next spend after seeing the last answer


def play(
    account: Spender, choose: Callable[[Sequence[int]], Fraction], seen: tuple[int, ...] = ()
) -> list[tuple[float, float]]:
    """Log probabilities, on two neighbours, of each way in which a game of randomised responses can end."""
    epsilon = choose(seen)
    if len(seen) == 11 or not account.fits(cost(Pure(epsilon))):
        return [(0.0, 0.0)]
    after = account.spend(cost(Pure(epsilon)))
    likely, unlikely = -math.log1p(math.exp(-epsilon)), -math.log1p(math.exp(epsilon))
    return [
        (p + (likely if answer else unlikely), q + (unlikely if answer else likely))
        for answer in (0, 1)
        for p, q in play(after, choose, (*seen, answer))
    ]


@pytest.mark.exhaustive
@given(choices=st.lists(st.integers(1, 60), min_size=8, max_size=8), delta=st.sampled_from([0.0, 1e-3, 0.05, 0.3]))
@settings(max_examples=15, deadline=None)
def test_the_rule_holds_against_adaptive_spending(choices: list[int], delta: float) -> None:
    def choose(seen: Sequence[int]) -> Fraction:
        return Fraction(choices[(3 * sum(seen) + len(seen)) % 8], 100)

    p, q = np.array(play(Spender.of(Budget(1, delta)), choose)).T
    assert np.exp(p).sum() == pytest.approx(1)
    assert max(hockey_stick(p, q, 1.0), hockey_stick(q, p, 1.0)) <= delta + 1e-12


def test_results_do_not_depend_on_the_decimal_context() -> None:
    def figures() -> tuple[object, ...]:
        filters = Filters.of(Budget(1.3, 1e-8))
        return filters.to_text(), filters.amounts(cost(Laplace(Fraction(1, 7)), Gaussian(Fraction(1, 90))))

    from core.privacy import accounting, gaussian, renyi

    def forget() -> None:
        cached = (accounting.order_for, accounting.capacity, renyi._of_event, renyi._logs, renyi.log)
        for each in (*cached, gaussian.gaussian_capacity, gaussian._of_event):
            each.cache_clear()

    forget()
    usual = figures()
    forget()
    with localcontext() as context:
        context.prec = 3
        assert figures() == usual


def test_a_large_epsilon_holds_no_more_gaussian_noise_than_the_largest() -> None:
    assert rho_for(Budget(1000, 1e-9)) == rho_for(Budget(MOST, 1e-9))
    assert Spender.of(Budget(1000, 1e-9)).fits(cost(Pure(Fraction(1000))))


def test_a_way_that_holds_nothing_is_empty_until_something_is_spent() -> None:
    filters = Filters({PURE: Way(share=Fraction(0), held=0)})
    assert filters.filled({PURE: 0}) == 0
    assert filters.used({PURE: 0}) == 0
    assert filters.filled({PURE: 1}) > 1
    assert filters.used({PURE: 1}) is None
