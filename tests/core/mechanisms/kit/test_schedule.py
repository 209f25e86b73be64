from fractions import Fraction

import pytest

from core.mechanisms.kit.schedule import lay_out, selection_of
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Laplace, Selection
from tests.accounts import part_of


@pytest.mark.parametrize("budget", [Budget(1), Budget(0.01), Budget(1, 1e-9), Budget(0.01, 1e-9), Budget(20, 1e-3)])
@pytest.mark.parametrize("rounds", [1, 7, 5_000])
def test_a_schedule_uses_its_budget_and_no_more(budget, rounds):
    schedule = lay_out(budget, rounds=rounds, selection=0.3, opening={(): 0.05, ("a",): 0.1})
    spent = part_of(budget, schedule.cost)
    assert spent <= 1
    # A selection costs a little less than its bound in zero-concentrated privacy when its epsilon is large.
    assert spent > (0.9999 if rounds == 5_000 or budget.pure else 0.8)


def test_with_equal_parts_and_no_opening_each_step_costs_epsilon_over_2t():
    schedule = lay_out(Budget(1), rounds=50, selection=0.5, opening={})
    assert schedule.choosing == Selection(Fraction(1, 100))
    assert schedule.asking == Laplace(Fraction(1, 100))
    assert schedule.cost.events.count(Selection(Fraction(1, 100))) == 50


def test_with_a_delta_choosing_costs_an_eighth_of_its_square():
    schedule = lay_out(Budget(1, 1e-9), rounds=50, selection=0.5, opening={("a",): 0.2})
    assert isinstance(schedule.asking, Gaussian)
    assert float(schedule.choosing.epsilon) ** 2 / 8 == pytest.approx(float(schedule.asking.rho), rel=1e-9)
    assert float(schedule.opening[0].event.rho) == pytest.approx(25 * 2 * 0.5 * float(schedule.asking.rho))


@pytest.mark.parametrize("rho", [Fraction(1, 10**15), Fraction(1, 3), Fraction(2), Fraction(12345678901, 10**6)])
def test_a_selection_costs_what_it_is_given_and_no_more(rho):
    epsilon = selection_of(rho).epsilon
    assert rho * (1 - Fraction(1, 10**11)) < epsilon**2 / 8 <= rho
