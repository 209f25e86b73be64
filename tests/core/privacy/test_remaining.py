from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter
from core.privacy import remaining
from core.privacy.accounting import UNITS, capacity, order_for
from core.privacy.budget import Budget, HalvedBudget, OneWayBudget, exact
from core.privacy.events import Gaussian, Pure
from core.privacy.privacy_filter import GAUSSIAN_UNITS, Filters, Way
from core.privacy.remaining import remaining_epsilon
from core.privacy.spendable import rho_for
from tests.accounts import Spender
from tests.core.privacy.test_accounting import BUDGETS, cost, private_budgets

pytestmark = pytest.mark.crossing(keep=4)


def left(account: Spender, delta: Fraction) -> Fraction:
    return exact(remaining_epsilon(account.filters, account.sums, delta), "epsilon")


def one_way(budget: Budget) -> Filters:
    return Filters({f"order {order_for(budget)}": Way(Fraction(1), capacity(budget))})


@pytest.mark.parametrize("budget", [*BUDGETS, Budget(1), Budget(0.3)], ids=repr)
def test_a_fresh_account_shows_its_own_epsilon(budget: Budget) -> None:
    assert left(Spender.of(budget), budget.delta) == budget.epsilon


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_fresh_account_of_the_second_version_shows_its_own_epsilon(budget: Budget) -> None:
    assert left(Spender.of(HalvedBudget(budget.epsilon, budget.delta)), budget.delta) == budget.epsilon


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_fresh_account_of_the_first_version_shows_its_own_epsilon(budget: Budget) -> None:
    assert left(Spender(one_way(budget)), budget.delta) == budget.epsilon


@pytest.mark.exhaustive
@given(
    budget=private_budgets,
    share=st.fractions(min_value=Fraction(1, 10**6), max_value=1),
    kind=st.sampled_from([Budget, HalvedBudget, OneWayBudget]),
)
@settings(max_examples=30, deadline=None)
def test_what_is_left_after_gaussian_noise_can_be_planned_and_not_much_more(
    budget: Budget, share: Fraction, kind: type[Budget]
) -> None:
    assume(budget.epsilon < 50)
    one = kind is OneWayBudget
    account = Spender(one_way(budget)) if one else Spender.of(kind(budget.epsilon, budget.delta))
    whole = rho_for(account.filters.spendable(budget))
    account = account.spend(cost(Gaussian(Fraction(math.floor(whole * share * UNITS**2), UNITS**2))))
    shown = left(account, budget.delta)

    def fits(epsilon: Fraction) -> bool:
        try:
            rho = rho_for(account.filters.spendable(Budget(epsilon, budget.delta)))
        except BadParameter:
            return False
        return account.fits(cost(Gaussian(rho)))

    assert shown == 0 or fits(shown) or account.fits(cost(Pure(shown)))
    if shown >= budget.epsilon - Fraction(1, UNITS):
        return
    more = shown * (1 + Fraction(1, 10**7)) + Fraction(1, 10**9)
    assert one or not account.fits(cost(Pure(more)))
    assert not fits(more)


@pytest.mark.exhaustive
@given(budget=private_budgets, spent=st.fractions(min_value=0, max_value=1))
@settings(max_examples=30, deadline=None)
def test_what_is_left_after_pure_noise(budget: Budget, spent: Fraction) -> None:
    part = Fraction(math.floor(budget.epsilon * spent * UNITS), UNITS)
    account = Spender.of(budget).spend(cost(Pure(part)))
    shown = left(account, budget.delta)
    assert shown >= budget.epsilon - part - Fraction(2, UNITS)
    assert left(account, Fraction(0)) <= shown


def test_nothing_left_is_nothing() -> None:
    budget = Budget(1, 1e-9)
    account = Spender.of(budget).spend(cost(Gaussian(rho_for(budget))))
    assert left(account, budget.delta) == left(account, Fraction(0)) == 0
    assert remaining_epsilon(account.filters, {"pure": None}, Fraction(0)) > 0, "other ways are empty"
    assert remaining_epsilon(Filters.of(Budget(1)), {"pure": 2 * UNITS}, Fraction(0)) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1000, 0.999), (1000, 1e-300), (1e-12, 1e-300), (1e-12, 0.9), (1e-9, 1e-9), (1, 1 - 1e-16)]
)
def test_extreme_budgets_show_at_most_their_epsilon(epsilon: float, delta: float) -> None:
    budget = Budget(epsilon, delta)
    assert left(Spender.of(budget), budget.delta) <= budget.epsilon


@pytest.mark.exhaustive
def test_a_budget_below_one_unit_buys_nothing() -> None:
    with pytest.raises(BadParameter, match=r"^epsilon: "):
        rho_for(Budget(1e-13, 1e-300))
    with pytest.raises(BadParameter, match="needs a delta above 0"):
        rho_for(Budget(1))


def test_pure_noise_counts_beside_gaussian_noise() -> None:
    """Half an epsilon of pure noise fills every way of Gaussian noise; the other half is still there as pure noise."""
    account = Spender.of(Budget(1, 1e-9)).spend(cost(Pure(Fraction(1, 2))))
    assert left(account, Fraction(1, 10**9)) == left(account, Fraction(0)) == Fraction(1, 2)


def test_an_account_without_delta_has_no_room_for_gaussian_noise() -> None:
    account = Spender.of(Budget(1)).spend(cost(Pure(Fraction(3, 4))))
    assert left(account, Fraction(1, 10**9)) == Fraction(1, 4)


def test_the_way_with_most_room_says_what_is_left() -> None:
    """After some Gaussian noise the way of Gaussian noise has the most room, and a plan fills it to its end."""
    budget = Budget(1, 1e-9)
    half = rho_for(budget) / 2
    account = Spender.of(budget).spend(cost(Gaussian(half)))
    shown = left(account, budget.delta)
    next_step = rho_for(Budget(shown + Fraction(1, UNITS), budget.delta))
    assert rho_for(Budget(shown, budget.delta)) <= half < next_step


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1, 3 * 10**3).limit_denominator(10**4)])
def test_a_plan_that_fits_to_the_last_unit_is_shown(epsilon: Fraction) -> None:
    budget, epsilon = Budget(1, 1e-9), Fraction(math.floor(epsilon * UNITS), UNITS)
    filters, wanted = Filters.of(budget), rho_for(Budget(epsilon, budget.delta))
    sums = filters.amounts(cost(Gaussian(rho_for(budget) - wanted)))
    assert filters.room_for_rho("gaussian", sums) == wanted
    assert exact(remaining_epsilon(filters, sums, budget.delta), "epsilon") == epsilon


def test_an_account_of_the_first_version_is_searched_through() -> None:
    """At one order, half of what it holds: the plan shown fits, and one a step larger does not."""
    budget = Budget(1, 1e-9)
    filters, rho = one_way(budget), rho_for(one_way(budget).spendable(budget)) / 2
    account = Spender(filters).spend(cost(Gaussian(rho)))
    shown, room = left(account, budget.delta), filters.room_for_rho(next(iter(filters.ways)), account.sums)
    assert room is not None
    assert rho_for(filters.spendable(Budget(shown, budget.delta))) <= room
    assert rho_for(filters.spendable(Budget(shown + Fraction(1, UNITS), budget.delta))) > room


def test_what_pays_for_nothing_is_not_shown() -> None:
    """One unit is left: less than Gaussian noise of any size needs, or pure noise beside it."""
    budget = Budget(1, 1e-9)
    filters = Filters.of(budget)
    sums = {name: way.held for name, way in filters.ways.items()}
    assert remaining_epsilon(filters, sums, budget.delta) == 0
    assert remaining_epsilon(filters, sums | {"pure": sums["pure"] - 1}, budget.delta) == 1 / UNITS
    over = {name: way.held + 1 for name, way in filters.ways.items()}
    assert remaining_epsilon(filters, over | {"pure": 0}, budget.delta) == 1


def test_an_account_of_the_first_version_pays_for_pure_noise_at_its_order() -> None:
    account = Spender(one_way(Budget(1, 1e-9)))
    shown = left(account, Fraction(0))
    assert shown > 0
    assert account.fits(cost(Pure(shown))) and not account.fits(cost(Pure(shown + Fraction(1, UNITS))))


def test_the_largest_account_of_the_first_version_shows_its_own_epsilon() -> None:
    largest = Budget(1000, 1e-9)
    assert left(Spender(one_way(largest)), largest.delta) == 1000
    nothing = Spender(one_way(largest), {name: way.held for name, way in one_way(largest).ways.items()})
    assert left(nothing, largest.delta) == left(nothing, Fraction(0)) == 0


@pytest.mark.parametrize(("missing", "steps"), [(0, 1), (1, 0)])
def test_a_single_step_is_shown_where_it_fits_and_not_where_it_does_not(missing: int, steps: int) -> None:
    delta = Fraction(1, 10**9)
    needed = rho_for(Budget(Fraction(1, UNITS), delta)) * GAUSSIAN_UNITS
    filters = Filters({"pure": Way(Fraction(0), UNITS), "gaussian": Way(Fraction(3, 5), int(needed) - missing)})
    assert remaining._gaussian_steps(filters, {}, delta, UNITS) == steps


def test_an_epsilon_that_buys_no_noise_is_not_shown() -> None:
    """At so high an order and so small a delta there is room for an epsilon of a step or two, but noise costs more."""
    filters = Filters({"pure": Way(Fraction(0), UNITS), f"order {10**15}": Way(Fraction(1, 2), 1)})
    assert remaining._gaussian_steps(filters, {}, Fraction(1, 10**300), UNITS) == 0


def test_a_search_goes_past_what_buys_no_noise() -> None:
    """Two steps buy none at so small a delta, four do; there is room for just these."""
    delta, four = Fraction(1, 10**300), Fraction(4, UNITS)
    needed = rho_for(OneWayBudget(four, delta))
    with pytest.raises(BadParameter):
        rho_for(OneWayBudget(four / 2, delta))
    filters = Filters({f"order {1 / (UNITS * needed)}": Way(Fraction(1), 1)})
    assert remaining._gaussian_steps(filters, {}, delta, UNITS) == 4
