"""One price: the plan that the desk tells, the entry that it pays and the run that follows come from the same words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter, Refused
from core.plans.plan import order_of
from core.plans.pricing import check_paid, price_release, price_session
from core.privacy import accounting
from tests.core.desk.test_desk import DOMAIN, ONE, TOTAL, people


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def held(desk):
    return desk.add_table(people(300), DOMAIN, unit=Unit.id("person", 2), budget=TOTAL)


def account_of(desk: Desk, held: Any) -> Any:
    return desk.ledger.account(desk.ledger.dataset(held.id).fingerprint)


def test_a_plan_is_told_the_price_of_its_words(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=ONE)
    priced = price_release(plan.content, held, account_of(desk, held))
    assert (priced.id, priced.units, priced.cost) == (plan.id, plan.units, plan.cost)
    assert priced.units == accounting.units(plan.cost, order_of(account_of(desk, held)))
    assert (priced.mechanism.budget, priced.mechanism.queries) == (plan.budget, plan.queries)


def test_a_session_is_told_the_price_of_its_words(desk, held):
    plan = desk.plan_session(held, mechanism="online-laplace", budget=ONE, columns=["ill", "age"], questions=5)
    priced = price_session(plan.content, held, account_of(desk, held))
    assert (priced.id, priced.units, priced.cost) == (plan.id, plan.units, plan.cost)
    assert priced.domain.names == ("age", "ill")


def test_the_price_follows_the_order_of_the_account(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=ONE)
    account = account_of(desk, held)
    other = price_release(plan.content, held, replace(account, order="100"))
    assert other.units > plan.units
    with pytest.raises(BadParameter, match="delta"):
        price_release(plan.content, held, replace(account, order=None))


def test_what_costs_more_than_was_paid_is_refused(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    desk.release(plan)
    entry, priced = desk.ledger.entry(plan.id), price_release(plan.content, held, account_of(desk, held))
    check_paid(priced, entry)
    with pytest.raises(Refused, match="costs more"):
        check_paid(replace(priced, units=priced.units + 1), entry)


@pytest.mark.parametrize("part", ["records", "edition"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1", 10**12])
def test_whole_numbers_within_limits(desk, held, part, value):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=ONE)
    content = json.dumps(json.loads(plan.content) | {part: value})
    with pytest.raises(BadParameter, match=part):
        price_release(content, held, account_of(desk, held))


@pytest.mark.parametrize("name", ["queries", "budget"])
def test_an_option_never_takes_the_place_of_a_part(desk, held, name):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=ONE)
    content = json.dumps(json.loads(plan.content) | {"options": {name: []}})
    with pytest.raises(BadParameter, match=f"{name}: belongs beside"):
        price_release(content, held, account_of(desk, held))
