"""How the budget of a session is laid out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from core.mechanisms.kit.comparing import misses
from core.mechanisms.online.plan import Shares, fixed, largest, lay_out, needed, number_tail, opening_for
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Laplace
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Domain
from tests.accounts import part_of

PLAIN = Shares(numbers=Fraction(1, 5))
BUDGETS = (Budget(1), Budget(0.1), Budget(10, 1e-9), Budget(1, 1e-9), Budget(0.01, 1e-6))
DOMAIN = Domain((Booleans(name="a"), Categories(name="b", values=tuple(range(32)))))


def spent(plan, budget: Budget) -> float:
    return float(part_of(budget, plan.cost))


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("x", 5)], ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_plan_spends_the_budget_and_no_more(budget, unit):
    shares = Shares(opening=opening_for(DOMAIN, 0.3, budget), numbers=Fraction(1, 4))
    for runs, cutoff in ((1, 1), (1, 40)) if budget.pure else ((1, 1), (3, 4), (500, 1)):
        plan = lay_out(budget, unit, shares, runs=runs, cutoff=cutoff)
        assert 0.99 < spent(plan, budget) <= 1
        assert (plan.rows is None) == unit.public_rows
        assert plan.sparse.most == runs * cutoff


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_largest_number_of_hard_answers_that_keeps_the_error(budget):
    unit, count = Unit.row(), 500
    least = needed(budget, unit, PLAIN, count)
    assert largest(budget, unit, PLAIN, allowed=0.99 * least, questions=count) is None
    found = []
    for times in (1.01, 3, 10):
        plan = largest(budget, unit, PLAIN, allowed=times * least, questions=count)
        assert plan.threshold(count) + plan.margin() <= times * least
        hard = plan.sparse.most
        if budget.pure and hard < count:
            more = fixed(budget, unit, PLAIN, hard + 1)
            assert more.threshold(count) + more.margin() > times * least
        found.append(hard)
    assert found == sorted(found) and 1 <= found[0] < found[-1] <= count


def test_runs_of_several_answers_are_used_where_they_are_better():
    small = largest(Budget(1, 1e-9), Unit.row(), PLAIN, allowed=300.0, questions=5_000)
    large = largest(Budget(1, 1e-9), Unit.row(), PLAIN, allowed=1_500.0, questions=5_000)
    assert small.sparse.run.cutoff > 1 and large.sparse.run.cutoff == 1 < large.sparse.runs


def test_more_planned_questions_mean_a_higher_threshold():
    plan = fixed(Budget(1), Unit.row(), PLAIN, 10)
    assert plan.threshold(10**6) > plan.threshold(1_000) > plan.threshold(10) > 0
    false_alarms = 1_000 * misses(plan.sparse.run, plan.threshold(1_000) * 2**16)
    assert false_alarms == pytest.approx(2.5)


def test_large_columns_get_more_of_the_opening():
    shares = dict(opening_for(DOMAIN, 0.3, Budget(1)))
    assert sum(shares.values()) == pytest.approx(0.3)
    assert shares[("b",)] == pytest.approx(4 * shares[("a",)])
    assert opening_for(DOMAIN, 0.0, Budget(1)) == ()


def test_tail_of_one_number():
    for unit in (Unit.row(), Unit.row("replace"), Unit.id("x", 5, "replace")):
        assert number_tail(Laplace(Fraction(1)), unit, 0.05) == pytest.approx(2.9957 * unit.limit, rel=1e-4)
        assert number_tail(Gaussian(Fraction(1, 2)), unit, 0.05) == pytest.approx(1.95996 * unit.limit, rel=1e-4)
