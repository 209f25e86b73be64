"""Prices and capacities to the last digit: ledgers keep them, and they are the same on every machine.

That they are right is shown elsewhere, beside other accountants and with room for rounding; here they are known
answers, so that no term, guard or digit is lost without being noticed. Whoever changes one on purpose must say what
becomes of the accounts that are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from core.privacy import gaussian as gdp
from core.privacy import privacy_filter
from core.privacy import renyi as curve
from core.privacy.accounting import capacity, order_for, units
from core.privacy.budget import Budget, HalvedBudget
from core.privacy.events import Cost, Event, Gaussian, Greedy, Laplace, Pure, Selection
from core.privacy.privacy_filter import Filters
from core.privacy.remaining import remaining_epsilon
from core.privacy.spendable import mixed_capacity, mixed_order, mixed_rho_for, pure_for, rho_for
from core.theory import composition
from core.theory.composition import advanced, basic, epsilon_for, gaussian, renyi, zcdp

BUDGETS = [Budget("1/100", "1e-9"), Budget(1, "1e-9"), Budget("37/10", "1e-12"), Budget(70, "1e-6"), Budget(2, "3/10")]
ORDERS = [Fraction(1025, 1024), Fraction(11, 10), Fraction(7, 2), Fraction(139, 4), Fraction(300)]
EPSILONS = [Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(5), Fraction(1001)]
COSTS: list[Cost] = [
    Cost((Laplace(Fraction(1, 10)),) * 100),
    Cost((Pure(Fraction(1, 2)),) * 3),
    Cost((Pure(Fraction(1, 2)), Selection(Fraction(1, 5)), Laplace(Fraction(2)))),
    Cost((Gaussian(Fraction(1, 50)), Selection(Fraction(1, 5)))),
    Cost((Gaussian(Fraction(3)),)),
]


def curves(kind: Callable[[Fraction], Event]) -> Iterable[object]:
    return (curve._of_event(kind(epsilon), order) for epsilon in EPSILONS for order in ORDERS)


def rounded(value: Fraction | None) -> str:
    """To 40 digits: a start in floating point leaves its traces beyond 50."""
    return (
        "none" if value is None else str(Context(prec=40).divide(Decimal(value.numerator), Decimal(value.denominator)))
    )


def kept(kind: type[Budget]) -> dict[str, Callable[[], Iterable[object]]]:
    """What accounts hold and pay that share delta in one way or another."""
    budgets = [kind(each.epsilon, each.delta) for each in BUDGETS]
    return {
        "ways": lambda: (Filters.of(budget).to_text() for budget in [*budgets, Budget(1)]),
        "amounts": lambda: (
            privacy_filter.amounts_text(Filters.of(budget).amounts(cost)) for budget in budgets for cost in COSTS
        ),
        "parts": lambda: (
            (ways := Filters.of(budget)).parts(ways.amounts(cost)) for budget in [*budgets, Budget(1)] for cost in COSTS
        ),
        "what is left": lambda: (
            remaining_epsilon(ways := Filters.of(budget), ways.amounts(cost), budget.delta * part)
            for budget in [*budgets[:3], Budget(1)] for cost in COSTS[1:4] for part in (0, Fraction(1, 2), 1)
            if budget.delta or cost.pure
        ),
        "what a plan may spend": lambda: (
            rounded(Fraction(found(budget)))
            for budget in budgets for found in (rho_for, mixed_rho_for, mixed_order, mixed_capacity, pure_for)
        ),
    }  # fmt: skip


AMOUNTS: dict[str, Callable[[], Iterable[object]]] = {
    "orders": lambda: map(order_for, BUDGETS),
    "capacities": lambda: (capacity(budget) for budget in [*BUDGETS, Budget(1), Budget("1e-13")]),
    "capacities at an order": lambda: (capacity(budget, order) for budget in BUDGETS for order in ORDERS),
    "allowances": lambda: (curve.allowance(order, budget.delta) for budget in BUDGETS for order in ORDERS),
    "pure": lambda: curves(Pure),
    "selections": lambda: curves(Selection),
    "gaussians": lambda: curves(Gaussian),
    "greedy choices": lambda: curves(lambda epsilon: Greedy(epsilon, 300)),
    "units": lambda: (units(cost, order) for cost in COSTS for order in ORDERS),
    "basic": lambda: map(basic, COSTS),
    "advanced": lambda: (advanced(cost, budget.delta) for cost in COSTS for budget in BUDGETS),
    "optimal": lambda: (
        composition._optimal(times, epsilon, budget.delta)
        for times in (1, 2, 7) for epsilon in EPSILONS[1:5] for budget in BUDGETS
    ),
    "concentrated": lambda: (zcdp(cost, budget.delta) for cost in COSTS for budget in BUDGETS),
    "Rényi": lambda: (renyi(cost, budget.delta) for cost in COSTS for budget in BUDGETS),
    "Gaussian": lambda: (gaussian(cost, budget.delta) for cost in COSTS for budget in BUDGETS),
    "best": lambda: (epsilon_for(cost, budget.delta) for cost in COSTS for budget in [*BUDGETS, Budget(1)]),
    "amounts of mu": lambda: (rounded(gdp._of_event(Pure(epsilon))) for epsilon in [*EPSILONS, gdp.MOST, Fraction(0)]),
    "capacities of mu": lambda: (rounded(gdp.gaussian_capacity(budget)) for budget in BUDGETS),
    "epsilons of mu": lambda: (
        rounded(gdp.gaussian_epsilon(Fraction(amount), budget.delta))
        for amount in (0, Fraction(1, 10**6), Fraction(1, 9), 2, 60) for budget in BUDGETS
    ),
    **kept(Budget),
    **{f"{name}, second version": told for name, told in kept(HalvedBudget).items()},
}  # fmt: skip
KNOWN = {
    "orders": "bdb7dec1bc68c24c",
    "capacities": "32a2dc0e166033b9",
    "capacities at an order": "8f8beffde1ffd517",
    "allowances": "787d35f9bcddd523",
    "pure": "85c84ab7bfa35c75",
    "selections": "fa226fc887037682",
    "gaussians": "5ebd46d61ab127da",
    "greedy choices": "f9adacea2ee31701",
    "units": "60e959d849a0b8fb",
    "basic": "8efd0422e6666514",
    "advanced": "6cd25b4bc9ccd7f9",
    "optimal": "5fbfef62ea13f6a0",
    "concentrated": "8cebb37228d27652",
    "Rényi": "a2a86ab6a4d7e924",
    "Gaussian": "565238d6cb074b8c",
    "best": "34b8a946e94748f9",
    "amounts of mu": "87f6af3359bf11fd",
    "capacities of mu": "d8bb681ae911a777",
    "epsilons of mu": "228b16572060b042",
    "ways": "3a7d1aeb302d306a",
    "amounts": "ba463e6e0380e284",
    "parts": "a64f2cc5ae70cce2",
    "what is left": "2d0a97298ae22158",
    "what a plan may spend": "3ceab741a37f07c0",
    "ways, second version": "c7ef1940f9fe58fe",
    "amounts, second version": "55302d868c08a124",
    "parts, second version": "f2c8a62e83117503",
    "what is left, second version": "c7017d70db877a17",
    "what a plan may spend, second version": "1d78b40cf53d7fe4",
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_known_amounts(name: str) -> None:
    told = ",".join(map(str, AMOUNTS[name]()))
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == KNOWN[name]


def test_without_a_delta_bounds_of_pure_events_are_their_sum() -> None:
    for cost in COSTS[:3]:
        assert advanced(cost, 0) == renyi(cost, 0) == gaussian(cost, 0) == basic(cost)
