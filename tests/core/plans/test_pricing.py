"""One price: the plan that the desk tells, the entry that it pays and the run that follows come from the same words."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter, Refused
from core.plans.pricing import (
    MOST_EDITIONS,
    MOST_VALUES,
    check_count,
    check_paid,
    most_records,
    price_decision,
    price_release,
    price_session,
)
from core.plans.release_terms import ReleaseTerms
from core.privacy.privacy_filter import Filters
from core.schema.domain import Categories, Domain
from tests.core.people import DOMAIN, ONE, TOTAL, people


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


@pytest.mark.exhaustive
def test_a_plan_is_told_the_price_of_its_words(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=ONE)
    priced = price_release(plan.content, held, account_of(desk, held))
    assert (priced.id, priced.units, priced.cost) == (plan.id, plan.units, plan.cost)
    filters = account_of(desk, held).filters
    assert priced.amounts == plan.amounts == filters.amounts(plan.cost)
    assert priced.units == filters.parts(plan.amounts), "nothing was spent before"
    assert (priced.mechanism.budget, priced.mechanism.queries) == (plan.budget, plan.queries)


def test_a_session_is_told_the_price_of_its_words(desk, held):
    plan = desk.plan_session(held, mechanism="online-laplace", budget=ONE, columns=["ill", "age"], questions=5)
    priced = price_session(plan.content, held, account_of(desk, held))
    assert (priced.id, priced.units, priced.cost) == (plan.id, plan.units, plan.cost)
    assert priced.domain.names == ("age", "ill")


@pytest.mark.exhaustive
def test_the_price_follows_the_ways_of_the_account(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=ONE)
    account = account_of(desk, held)
    small = Filters.of(Budget("1/2", 1e-9))
    other = price_release(plan.content, held, replace(account, ways=small.to_text(), total=small.total))
    assert other.amounts.keys() != plan.amounts.keys()
    assert other.units > other.account.left
    with pytest.raises(BadParameter, match="delta"):
        price_release(plan.content, held, replace(account, ways=Filters.of(Budget(1)).to_text()))


@pytest.mark.exhaustive
def test_the_price_is_what_the_plan_adds_to_the_account_as_it_is(desk, held):
    """Pure noise beside Gaussian noise takes more of an account than alone, and the plan says so before."""
    plans = [
        desk.plan(held, [Marginals(order=1)], mechanism=mechanism, budget=budget)
        for mechanism, budget in (("gaussian", ONE), ("laplace", Budget("1/100")), ("laplace", Budget("1/10")))
    ]
    for plan in plans:
        told = desk.plan(held, plan.queries, mechanism=plan.mechanism, budget=plan.budget)
        assert told.amounts == plan.amounts
        desk.release(plan)
        entry = desk.ledger.entry(plan.id)
        assert entry.units == told.units > 0
        assert account_of(desk, held).spent == sum(each.units for each in desk.ledger.entries())
    assert told.units > plans[-1].units, "before the Gaussian release it was cheaper"


@pytest.mark.exhaustive
def test_what_costs_more_than_was_paid_is_refused(desk, held):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    desk.release(plan)
    entry, priced = desk.ledger.entry(plan.id), price_release(plan.content, held, account_of(desk, held))
    check_paid(priced, entry)
    with pytest.raises(Refused, match="costs more"):
        check_paid(replace(priced, amounts=priced.amounts | {"pure": priced.amounts["pure"] + 1}), entry)
    with pytest.raises(Refused, match="costs more"):
        check_paid(replace(priced, amounts=priced.amounts | {"pure": None}), entry)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("part", ["records", "edition"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1", 10**12])
def test_whole_numbers_within_limits(desk, held, part, value):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=ONE)
    content = json.dumps(json.loads(plan.content) | {part: value})
    with pytest.raises(BadParameter, match=part):
        price_release(content, held, account_of(desk, held))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["queries", "budget"])
def test_an_option_never_takes_the_place_of_a_part(desk, held, name):
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=ONE)
    content = json.dumps(json.loads(plan.content) | {"options": {name: []}})
    with pytest.raises(BadParameter, match=f"{name}: belongs beside"):
        price_release(content, held, account_of(desk, held))


def test_a_decision_is_told_the_price_of_its_words(desk):
    domain = Domain((Categories(name="from", values=("p", "q", "r")), Categories(name="to", values=("p", "q", "r"))))
    calls = desk.add_table(
        pd.DataFrame({"from": ["p", "q"], "to": ["q", "r"]}), domain, unit=Unit.row(), budget=TOTAL, name="calls"
    )
    plan = desk.plan_decision(calls, "min-cut", budget=Budget(1), public={"columns": ["from", "to"]})
    priced = price_decision(plan.content, calls, account_of(desk, calls))
    assert (priced.id, priced.content, priced.units, priced.cost) == (plan.id, plan.content, plan.units, plan.cost)
    assert priced.terms.mechanism == "min-cut" and priced.cost == priced.running
    assert (priced.table, priced.domain, priced.account) == (calls, calls.domain, account_of(desk, calls))


def words(**parts: Any) -> str:
    """Of a release, which is priced without the simulation of its error."""
    given = {"table": "abc", "queries": (Marginals(order=1),), "mechanism": "laplace", "budget": Budget(1), **parts}
    return ReleaseTerms(**given).content


def test_measuring_is_paid_beside_what_it_measures(desk, held):
    filters = account_of(desk, held).filters
    priced = price_release(words(measure=Fraction(1, 20)), held, account_of(desk, held))
    assert priced.measuring is not None
    assert priced.cost == priced.running + priced.measuring.cost(priced.domain, held.unit)
    assert filters.amounts(priced.running)["pure"] < priced.amounts["pure"] == 10**12
    alone = price_release(words(), held, account_of(desk, held))
    assert alone.measuring is None and alone.cost == alone.running


def test_a_way_that_was_not_paid_in_covers_nothing(desk, held):
    priced = price_release(words(), held, account_of(desk, held))
    for amounts, paid in (({"pure": 1}, {}), ({"pure": 2}, {"pure": 1}), ({"pure": None}, {"pure": 5})):
        with pytest.raises(Refused, match="costs more"):
            check_paid(replace(priced, amounts=amounts), SimpleNamespace(amounts=json.dumps(paid)))
    for amounts, paid in (({"pure": 0}, {}), ({"pure": 1}, {"pure": 1}), ({"pure": 9}, {"pure": None})):
        check_paid(replace(priced, amounts=amounts), SimpleNamespace(amounts=json.dumps(paid)))


def test_records_and_copies_share_the_room_of_a_release():
    assert most_records(DOMAIN) == MOST_VALUES // 3 == 13_333_333
    assert [most_records(DOMAIN, copies) for copies in (1, 2, 5)] == [MOST_VALUES // (3 * odd) for odd in (3, 5, 11)]


def test_the_last_edition_is_taken_and_the_next_is_not():
    check_count(MOST_EDITIONS, "edition", MOST_EDITIONS)
    check_count(1, "edition", 1)
    for wrong in (0, MOST_EDITIONS + 1, True, 1.0, "1"):
        with pytest.raises(BadParameter, match=r"edition: must be a whole number from 1 to 1,000,000\.$"):
            check_count(wrong, "edition", MOST_EDITIONS)


def test_as_many_records_as_are_asked_for_are_priced_alike(desk, held):
    account, most = account_of(desk, held), most_records(DOMAIN, 1)
    for records in (1, most):
        priced = price_release(words(records=records, copies=1), held, account)
        assert (priced.terms.records, priced.amounts["pure"]) == (records, 10**12)
    with pytest.raises(BadParameter, match="records: must be a whole number from 1 to 4,444,444"):
        price_release(words(records=most + 1, copies=1), held, account)


@pytest.mark.parametrize("order", [1, 2])
def test_what_the_rules_say_in_full_is_not_for_sale(desk, order):
    """No mechanism measures it, and each says why in the same sentence."""
    columns = (Categories(name="region", values=("north", "south")), Categories(name="sex", values=("f", "m")))
    places = {("north", "f"): 3, ("north", "m"): 4, ("south", "f"): 5, ("south", "m"): 6}
    rules = tuple(f"count(region = {region} and sex = {sex}) = {n}" for (region, sex), n in places.items())
    rows = pd.DataFrame([cell for cell, n in places.items() for _ in range(n)], columns=["region", "sex"])
    held = desk.add_table(rows, Domain(columns, rules), unit=Unit.row(), budget=TOTAL)
    said = "already say everything that is asked about region, sex"
    for mechanism in ("tree", "gaussian"):
        with pytest.raises(Refused, match=said):
            desk.plan(held, [Marginals(order=order)], mechanism=mechanism, budget=ONE)
    found = desk.recommend(held, [Marginals(order=order)], ONE)
    assert not found.offered and not found.studied
    assert all(said in str(problem) for problem in found.refused.values())
