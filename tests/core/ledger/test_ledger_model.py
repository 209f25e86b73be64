"""Any sequence of calls on a ledger, against a plain model of it."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter, DeskError, OutOfBudget, Unknown
from core.ledger.ledger import Ledger
from tests.core.ledger.test_ledger import REASON, declared, one_way, opened, reserve

# any sequence of calls, against a plain model

PLANS = st.integers(0, 4)
STEPS = st.one_of(
    st.tuples(st.just("reserve"), PLANS, st.sampled_from(["people", "again"]), st.integers(0, 50)),
    st.tuples(st.just("store"), PLANS, st.binary(max_size=4)),
    st.tuples(st.just("failed"), PLANS),
    st.tuples(st.just("total"), st.integers(0, 150)),
    st.tuples(st.just("reopen")),
)


class Model:
    """What a ledger should do, with no disk and no rivals."""

    def __init__(self) -> None:
        self.total = 100
        self.plans: dict[str, tuple[str, int]] = {}
        self.results: dict[str, bytes] = {}
        self.failures: dict[str, int] = {}

    @property
    def spent(self) -> int:
        return sum(units for _, units in self.plans.values())

    def reserve(self, plan: str, dataset: str, units: int) -> type[DeskError] | None:
        if plan in self.plans:
            return None if self.plans[plan] == (dataset, units) else BadParameter
        if self.spent + units > self.total:
            return OutOfBudget
        self.plans[plan] = (dataset, units)
        return None

    def change(self, total: int) -> type[DeskError] | None:
        if total < self.spent:
            return BadParameter
        self.total = total
        return None


def expect(error: type[DeskError] | None) -> contextlib.AbstractContextManager[object]:
    return pytest.raises(error) if error else contextlib.nullcontext()


@pytest.mark.exhaustive
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=30))
def test_any_sequence_of_calls_matches_the_model(steps: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger, model = Ledger(Path(folder) / "ledger"), Model()
        opened(ledger)
        declared(ledger, "people")
        declared(ledger, "again")
        for step in steps:
            match step:
                case ("reserve", number, dataset, units):
                    with expect(model.reserve(f"p{number}", dataset, units)):
                        reserve(ledger, f"p{number}", units, dataset)
                case ("store", number, data):
                    plan = f"p{number}"
                    if plan in model.plans:
                        assert ledger.store(plan, data) == model.results.setdefault(plan, data)
                    else:
                        with pytest.raises(Unknown):
                            ledger.store(plan, data)
                case ("failed", number):
                    plan = f"p{number}"
                    with expect(None if plan in model.plans else Unknown):
                        ledger.failed(plan, "The run was stopped.")
                    if plan in model.plans and plan not in model.results:
                        model.failures[plan] = model.failures.get(plan, 0) + 1
                case ("total", total):
                    with expect(model.change(total)):
                        ledger.change_budget("ab", budget_json=str(total), filters=one_way(total), reason=REASON)
                case ("reopen",):
                    ledger = Ledger(Path(folder) / "ledger")
            account = ledger.account("ab")
            assert (account.spent, account.total) == (model.spent, model.total)
        entries = {entry.plan_id: entry for entry in ledger.entries()}
        assert {plan: (entry.dataset_id, entry.units) for plan, entry in entries.items()} == model.plans
        assert {plan: entry.attempts for plan, entry in entries.items() if entry.attempts} == model.failures
        assert {plan for plan, entry in entries.items() if entry.status == "stored"} == set(model.results)
        assert all(ledger.result(plan) == data for plan, data in model.results.items())
