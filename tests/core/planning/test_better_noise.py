from __future__ import annotations

import pytest

from core import Budget, Intervals, Marginals, Unit
from core.base.errors import BadParameter, DeskError
from core.planning.better_noise import WORTH, all_that_work, better, budgets_within, build
from core.privacy.events import Gaussian
from core.schema.domain import Domain, Integers

PURE, WITH_DELTA = Budget(1), Budget(1, 1e-9)
DOMAIN = Domain(tuple(Integers(name=f"c{place}", low=0, high=3) for place in range(12)))


def test_a_budget_allows_the_stronger_promise() -> None:
    assert budgets_within(PURE) == [PURE]
    assert budgets_within(WITH_DELTA) == [WITH_DELTA, PURE]


def test_the_weaker_promise_must_be_worth_it() -> None:
    assert better([0.5, 1.0], lambda error: error) == 0.5
    assert better([WORTH, 1.0], lambda error: error) == WORTH
    assert better([0.9, 1.0], lambda error: error) == 1.0
    assert better([2.0], lambda error: error) == 2.0


def test_a_refusal_is_told_where_nothing_works() -> None:
    def refuse(budget: Budget) -> Budget:
        raise BadParameter("epsilon", f"not with delta {budget.delta}.")

    def only_pure(budget: Budget) -> Budget:
        return budget if budget.pure else refuse(budget)

    assert all_that_work(WITH_DELTA, only_pure) == [PURE]
    with pytest.raises(DeskError, match="1/1000000000"):
        all_that_work(WITH_DELTA, refuse)


def test_many_tables_take_gaussian_noise_and_one_takes_laplace_noise() -> None:
    many = build("histogram", [Marginals(order=1)], WITH_DELTA, {}, DOMAIN.project(("c0", "c1")), Unit.row())
    assert many.budget == PURE
    tree = build("tree", [Marginals(order=2)], WITH_DELTA, {}, DOMAIN, Unit.row())
    assert tree.budget == WITH_DELTA
    assert any(isinstance(event, Gaussian) for event in tree.cost(DOMAIN, Unit.row()).events)
    alone = build("gaussian", [Intervals(column="c0")], WITH_DELTA, {}, DOMAIN.project(("c0",)), Unit.row())
    assert alone.budget == WITH_DELTA


def test_a_budget_that_one_kind_of_noise_cannot_use_goes_to_the_other() -> None:
    """The Plan page compares at smaller epsilons too, and stopped there."""
    tiny = build("laplace", [Marginals(order=2)], Budget("1e-9", 1e-9), {}, DOMAIN, Unit.row())
    assert tiny.budget == Budget("1e-9")
