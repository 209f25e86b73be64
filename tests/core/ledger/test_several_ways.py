from __future__ import annotations

import json
from fractions import Fraction

import pytest

from core.base.errors import BadParameter, OutOfBudget, Refused
from core.ledger.ledger import Account, Entry, Ledger
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Pure
from core.privacy.privacy_filter import GAUSSIAN_UNITS, PURE, Filters
from core.privacy.spendable import rho_for
from tests.core.ledger.test_ledger import BUDGET, OTHER_BUDGET, REASON, SEVEN, UNIT, declared, ledger, path

__all__ = ["ledger", "path"]


TWO = Budget(2, 1e-9)


def several(ledger: Ledger) -> Account:
    account = ledger.open_account(fingerprint="ef", unit_json=UNIT, budget_json=BUDGET, filters=Filters.of(TWO))
    declared(ledger, "several", "ef")
    return account


def pay(ledger: Ledger, plan_id: str, *events: Gaussian | Pure) -> Entry:
    account = ledger.account("ef")
    amounts = account.filters.amounts(Cost.of(events))
    return ledger.reserve(plan_id=plan_id, dataset_id="several", plan_json="{}", amounts=amounts, account=account)


def test_pure_plans_fit_up_to_the_epsilon_whatever_the_delta(ledger: Ledger) -> None:
    several(ledger)
    for number in range(10):
        assert pay(ledger, f"p{number}", Pure(Fraction(1, 5))).units == TWO.epsilon * 10**11
    with pytest.raises(OutOfBudget, match=r"and 0.00% is left"):
        pay(ledger, "q", Pure(Fraction(1, 10**12)))


def test_gaussian_plans_fit_up_to_the_rho(ledger: Ledger) -> None:
    several(ledger)
    part = Fraction(rho_for(TWO) * GAUSSIAN_UNITS // 7, GAUSSIAN_UNITS)
    for number in range(7):
        pay(ledger, f"p{number}", Gaussian(part))
    account = ledger.account("ef")
    assert account.left <= account.total // 10**6
    with pytest.raises(OutOfBudget):
        pay(ledger, "q", Gaussian(rho_for(TWO) / 10**6))


def test_what_no_single_way_covers_is_refused_and_writes_nothing(ledger: Ledger) -> None:
    """Half of the epsilon in pure noise and half of the rho in Gaussian noise are more than any one way holds."""
    several(ledger)
    pay(ledger, "p", Pure(Fraction(1)))
    before = ledger.account("ef"), ledger.entries()
    with pytest.raises(OutOfBudget):
        pay(ledger, "q", Gaussian(rho_for(TWO) / 2))
    assert (ledger.account("ef"), ledger.entries()) == before
    pay(ledger, "r", Pure(Fraction(1)))


def test_sums_are_those_of_the_entries(ledger: Ledger) -> None:
    filters, events = several(ledger).filters, [Gaussian(Fraction(1, 100)), Pure(Fraction(1, 50)), Pure(Fraction(1, 3))]
    for number, event in enumerate(events):
        pay(ledger, f"p{number}", event)
        account, entries = ledger.account("ef"), ledger.entries(fingerprint="ef")
        assert account.spent == sum(entry.units for entry in entries)
        spends = [json.loads(entry.amounts) for entry in entries]
        assert json.loads(account.sums) == {
            way: None if way == PURE else sum(spend[way] for spend in spends) for way in filters.ways
        }


def test_a_larger_budget_is_divided_anew(ledger: Ledger) -> None:
    several(ledger)
    pay(ledger, "p", Gaussian(rho_for(TWO)))
    four = Budget(4, 1e-9)
    changed = ledger.change_budget(
        "ef", budget_json=OTHER_BUDGET, filters=ledger.account("ef").filters.changed(four), reason=REASON
    )
    assert changed.filters.ways.keys() == Filters.of(TWO).ways.keys()
    assert changed.spent / changed.total == pytest.approx(float(rho_for(TWO) / rho_for(four)), rel=1e-9)
    pay(ledger, "q", Gaussian(rho_for(four) - rho_for(TWO)))
    with pytest.raises(BadParameter, match="below what is already spent"):
        ledger.change_budget("ef", budget_json=BUDGET, filters=changed.filters.changed(Budget(3, 1e-9)), reason=REASON)


def test_amounts_in_other_ways_are_refused(ledger: Ledger) -> None:
    account = several(ledger)
    for amounts in ({}, {PURE: 1}, {SEVEN: 1}):
        with pytest.raises(Refused, match="priced"):
            ledger.reserve(plan_id="p", dataset_id="several", plan_json="{}", amounts=amounts, account=account)
