from __future__ import annotations

import math
from fractions import Fraction

import pytest

from core.base.errors import BadParameter
from core.privacy.accounting import UNITS, capacity, order_for, units
from core.privacy.budget import Budget, HalvedBudget, OneWayBudget
from core.privacy.events import Gaussian, Laplace
from core.privacy.gaussian import gaussian_capacity
from core.privacy.privacy_filter import GAUSSIAN_UNITS
from core.privacy.spendable import covers, mixed_capacity, mixed_order, mixed_rho_for, pure_for, rho_for
from tests.accounts import part_of
from tests.core.privacy.test_accounting import BUDGETS, cost


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_each_buys_what_an_account_holds_and_no_more(budget: Budget) -> None:
    more = 1 + Fraction(1, 10**6)
    assert 1 - Fraction(1, 10**6) < part_of(budget, cost(Gaussian(rho_for(budget)))) <= 1
    assert part_of(budget, cost(Gaussian(rho_for(budget) * more))) > 1
    assert part_of(budget, cost(Laplace(pure_for(budget)))) <= 1
    assert units(cost(Gaussian(mixed_rho_for(budget))), mixed_order(budget)) == mixed_capacity(budget)


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_accounts_of_the_first_version_pay_with_all_of_delta_at_one_order(budget: Budget) -> None:
    old = OneWayBudget(budget.epsilon, budget.delta)
    order, held = order_for(budget), capacity(budget)
    assert order is not None
    assert (mixed_order(old), mixed_capacity(old)) == (order, held)
    assert rho_for(old) == mixed_rho_for(old) == Fraction(held, UNITS) / order
    assert units(cost(Laplace(pure_for(old))), order) <= held
    assert units(cost(Laplace(pure_for(old) + Fraction(2, UNITS))), order) > held


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_accounts_of_the_second_version_pay_gaussian_noise_with_half_of_delta(budget: Budget) -> None:
    old = HalvedBudget(budget.epsilon, budget.delta)
    half, mixed = (Budget(budget.epsilon, budget.delta * share) for share in (Fraction(1, 2), Fraction(3, 8)))
    assert rho_for(old) == Fraction(math.floor(gaussian_capacity(half) * GAUSSIAN_UNITS), GAUSSIAN_UNITS)
    assert (mixed_order(old), mixed_capacity(old)) == (order_for(mixed), capacity(mixed))
    assert rho_for(old) < rho_for(budget) and mixed_rho_for(old) == mixed_rho_for(budget)
    assert pure_for(old) == budget.epsilon


def test_no_delta_buys_no_gaussian_noise() -> None:
    for buys in (rho_for, mixed_rho_for, mixed_order):
        with pytest.raises(BadParameter, match="needs a delta above 0"):
            buys(Budget(1))
    assert pure_for(Budget(1)) == 1


@pytest.mark.parametrize("kind", [Budget, HalvedBudget, OneWayBudget])
def test_a_budget_covers_what_it_buys_and_no_more(kind: type[Budget]) -> None:
    budget = kind(1, "1e-9")
    bought = rho_for(budget)
    assert covers(budget, cost(Gaussian(bought)))
    assert not covers(budget, cost(Gaussian(bought * Fraction(101, 100))))
