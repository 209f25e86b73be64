"""Every amount is a whole number of units: nothing is lost, nothing is free, nothing is paid back."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import Budget, Desk, Marginals, Unit
from core.base.errors import BadParameter, DeskError, OutOfBudget
from core.ledger.ledger import Account, Ledger
from core.privacy import accounting
from core.privacy.budget import exact
from core.privacy.events import Cost, Pure
from core.privacy.privacy_filter import Filters
from tests.core.people import DOMAIN, people

TINY = Fraction(1, 10**17)
NO_AMOUNTS = [0, -0.0, "0", -1, "-1e-17", -TINY, math.nan, math.inf, -math.inf, "nan", "1e400", "-inf", "1/0", ""]
NOT_NUMBERS = [None, True, "two", b"1", [1], 1j, np.float64("nan"), np.float32("inf"), Decimal("NaN"), Decimal("-1")]


# Bad amounts.


@pytest.mark.parametrize("amount", [*NO_AMOUNTS, *NOT_NUMBERS], ids=repr)
def test_no_budget_of_nothing_less_or_nonsense(amount: object) -> None:
    with pytest.raises(BadParameter, match=r"^epsilon: "):
        Budget(amount)


@pytest.mark.parametrize("amount", [-1, "-1e-17", -TINY, math.nan, math.inf, -math.inf, "1/0"], ids=repr)
def test_no_event_pays_back(amount: Any) -> None:
    with pytest.raises(BadParameter, match=r"^epsilon: "):
        Pure(amount)


@pytest.mark.parametrize("order", [None, Fraction(5, 2), Fraction(50)])
def test_the_smallest_spend_is_never_free(order: Fraction | None) -> None:
    for amount in (TINY, "1e-17", 5e-324, Fraction(1, 10**400)):
        cost = Cost.of([Pure(exact(amount, "epsilon"))])
        assert accounting.units(cost, order) >= 1
    assert accounting.units(Cost.of([Pure(Fraction(0))]), order) == 0


def test_a_desk_refuses_a_total_that_buys_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "workspace")
    for total in (Budget("1e-17"), Budget(TINY)):
        with pytest.raises(BadParameter, match="too small to pay for anything"):
            desk.add_table(people(50), DOMAIN, unit=Unit.row(), budget=total)
    assert desk.tables() == []
    desk.close()


def test_a_tiny_plan_costs_the_desk_at_least_one_unit(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "workspace")
    held = desk.add_table(people(50), DOMAIN, unit=Unit.row(), budget=Budget(1))
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget("1e-9"))
    assert plan.units >= 1
    with pytest.raises(DeskError):  # noise beyond every count is refused, so nothing is ever sold for so little
        desk.release(desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget("1e-30")))
    assert desk.statement(held).spent_share * desk.statement(held).total == sum(
        entry.units for entry in desk.statement(held).entries
    )
    desk.close()


# Sums.


class Till(Protocol):
    """Something that spends a total of epsilon and says no when it is used up."""

    def spend(self, amount: Fraction) -> bool: ...


class Books:
    """The real thing: units of the accountant in the ledger's file."""

    def __init__(self, folder: Path, total: Fraction) -> None:
        self.ledger = Ledger(folder / f"ledger-{len(list(folder.iterdir()))}")
        self.account: Account = self.ledger.open_account(
            fingerprint="ab", unit_json="{}", budget_json="{}", filters=Filters.of(Budget(total))
        )
        self.ledger.add_dataset(id="ab", fingerprint="ab", name="ab", schema_json="{}", details_json="{}")
        self.paid: list[int] = []

    def spend(self, amount: Fraction) -> bool:
        amounts = self.account.filters.amounts(Cost.of([Pure(amount)]))
        try:
            self.ledger.reserve(
                plan_id=f"p{len(self.paid)}", dataset_id="ab", plan_json="{}", amounts=amounts, account=self.account
            )
        except OutOfBudget:
            return False
        self.paid.append(amounts["pure"] or 0)
        assert self.ledger.account("ab").spent == sum(self.paid)
        return True


class Floating:
    """The mutant: a total in floating point, from which amounts below its last bit vanish."""

    def __init__(self, total: Fraction) -> None:
        self.total, self.spent = float(total), 0.0

    def spend(self, amount: Fraction) -> bool:
        if self.spent + float(amount) > self.total:
            return False
        self.spent += float(amount)
        return True


def overspent(till: Till, total: Fraction, wishes: list[Fraction]) -> Fraction:
    """By how much the accepted wishes together exceed the total, exactly; at most 0 where all is well."""
    return sum((wish for wish in wishes if till.spend(wish)), Fraction(0)) - total


DUST = [Fraction(1), *[TINY] * 200]
TENTHS = [Fraction(1, 10)] * 10


@pytest.mark.exhaustive
def test_dust_and_tenths_add_up(tmp_path: Path) -> None:
    assert overspent(Books(tmp_path, Fraction(1)), Fraction(1), DUST) == 0
    assert overspent(Books(tmp_path, Fraction(1)), Fraction(1), TENTHS) == 0
    assert overspent(Books(tmp_path, Fraction(3, 10)), Fraction(3, 10), TENTHS[:3]) == 0


def test_dust_is_what_floats_lose() -> None:
    assert overspent(Floating(Fraction(1)), Fraction(1), DUST) > 0
    assert overspent(Floating(Fraction(3, 10)), Fraction(3, 10), TENTHS[:3]) < 0, "and they refuse what was due"


AMOUNTS = st.one_of(
    st.fractions(min_value=TINY, max_value=1, max_denominator=10**20),
    st.sampled_from([TINY, Fraction(1, 3), Fraction(1, 10), exact(5e-324, "epsilon"), Fraction(1) - TINY]),
)


@given(total=st.fractions(min_value=Fraction(1, 10**6), max_value=2), wishes=st.lists(AMOUNTS, max_size=20))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_sequence_of_spends_exceeds_the_total(tmp_path: Path, total: Fraction, wishes: list[Fraction]) -> None:
    assert overspent(Books(tmp_path, total), total, wishes) <= 0
