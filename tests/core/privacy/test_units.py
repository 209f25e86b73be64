from __future__ import annotations

import dataclasses
import itertools
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import BadParameter
from core.privacy.budget import Budget, exact
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection
from core.privacy.unit import Unit

EVENTS = [(Pure, "epsilon"), (Laplace, "epsilon"), (Selection, "epsilon"), (Gaussian, "rho")]

# exact numbers


@pytest.mark.parametrize("tenth", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1)])
def test_a_tenth_is_exactly_a_tenth(tenth: object) -> None:
    assert exact(tenth, "epsilon") == Fraction(1, 10)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_float_is_the_number_it_prints(value: float) -> None:
    assert exact(value, "x") == Fraction(repr(value))
    assert float(exact(value, "x")) == value


@pytest.mark.exhaustive
@given(st.fractions())
def test_a_fraction_survives_its_own_text(value: Fraction) -> None:
    assert exact(str(value), "x") == value


@pytest.mark.parametrize(
    "bad",
    ["", "abc", "1/0", "1/2/3", "nan", "inf", "-inf", None, True, np.True_, [1], float("nan"), float("inf"), 1j, b"1"],
)
def test_what_is_no_number_is_refused_by_name(bad: object) -> None:
    with pytest.raises(BadParameter, match=r"^colour: must be a (finite )?number\.$"):
        exact(bad, "colour")


def test_a_number_below_all_floats_is_zero_and_cheap() -> None:
    assert exact("1e-999999999", "delta") == 0


# budgets


@pytest.mark.parametrize("bad", [0, -1, -0.0, float("nan"), float("inf"), 1000.5, "plenty", None, True, "1e-400"])
def test_a_bad_epsilon_is_named(bad: object) -> None:
    with pytest.raises(BadParameter, match=r"^epsilon: ") as caught:
        Budget(bad, 1e-9)
    assert caught.value.parameter == "epsilon"


@pytest.mark.parametrize("bad", [1, -1e-9, 2, float("nan"), float("inf"), "tiny", None, False])
def test_a_bad_delta_is_named(bad: object) -> None:
    with pytest.raises(BadParameter, match=r"^delta: ") as caught:
        Budget(1, bad)
    assert caught.value.parameter == "delta"


def test_a_budget_is_frozen_exact_and_readable() -> None:
    budget = Budget(epsilon=0.1, delta=1e-9)
    assert (budget.epsilon, budget.delta) == (Fraction(1, 10), Fraction(1, 10**9))
    assert repr(budget) == "Budget(epsilon=0.1, delta=1e-09)"
    assert budget == Budget("0.1", "1e-9") and hash(budget) == hash(Budget("0.1", "1e-9"))
    assert not budget.pure and Budget(1000).pure
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.epsilon = Fraction(5)  # type: ignore[misc]


@pytest.mark.exhaustive
@given(st.fractions(min_value="1e-12", max_value=1000), st.fractions(min_value=0, max_value="0.99"))
def test_a_budget_survives_json(epsilon: Fraction, delta: Fraction) -> None:
    budget = Budget(epsilon, delta)
    assert Budget.from_json(json.loads(json.dumps(budget.to_json()))) == budget
    assert Budget.from_json({"epsilon": 2}) == Budget(2)


@pytest.mark.parametrize("data", [{}, {"delta": "0"}, {"epsilon": "x"}, {"epsilon": "1", "delta": "1/0"}])
def test_a_budget_from_damaged_json_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(BadParameter):
        Budget.from_json(data)


# units of privacy


@pytest.mark.parametrize("limit", [0, -1, 1_000_001, 1.0, True, "3", None])
def test_a_bad_limit_is_named(limit: object) -> None:
    with pytest.raises(BadParameter, match=r"^limit: "):
        Unit(column="person", limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"limit": 2}, "limit"),
        ({"column": ""}, "unit"),
        ({"column": 3}, "unit"),
        ({"neighbours": "swap"}, "neighbours"),
        ({"neighbours": None}, "neighbours"),
    ],
)
def test_a_contradictory_unit_is_named(arguments: dict[str, object], parameter: str) -> None:
    with pytest.raises(BadParameter, match=f"^{parameter}: "):
        Unit(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_sensitivities_are_the_largest_change_of_a_table(neighbours: str, limit: int) -> None:
    """Enumerate every way in which one unit may fill three cells with at most `limit` rows."""
    unit = Unit("person", limit, neighbours)  # type: ignore[arg-type]
    holdings = [np.array(cells) for cells in itertools.product(range(limit + 1), repeat=3) if sum(cells) <= limit]
    nobody = [np.zeros(3, dtype=int)]
    changes = [a - b for a, b in itertools.product(holdings, holdings if neighbours == "replace" else nobody)]
    assert unit.l1 == max(np.abs(change).sum() for change in changes)
    assert unit.l2_squared == max((change**2).sum() for change in changes)


def test_a_unit_says_whom_it_protects() -> None:
    assert Unit.row().sentence() == "Neighbouring tables differ by adding or removing one row."
    by_id = Unit.id("person", 1000, "replace")
    assert by_id.sentence() == "Neighbouring tables differ by replacing all rows of one 'person' (at most 1,000)."


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("person", 7), Unit.id("a", 1, "replace")])
def test_a_unit_survives_json(unit: Unit) -> None:
    assert Unit.from_json(json.loads(json.dumps(unit.to_json()))) == unit


# events and costs


@pytest.mark.parametrize(("kind", "parameter"), EVENTS)
def test_an_event_never_refunds(kind: type, parameter: str) -> None:
    for bad in (-1, Fraction(-1, 10**30), float("nan"), "x"):
        with pytest.raises(BadParameter, match=f"^{parameter}: "):
            kind(bad)
    assert getattr(kind(0.1), parameter) == Fraction(1, 10)


def test_costs_compose_in_order() -> None:
    first, second = Cost.of([Pure(Fraction(1))]), Cost.of([Laplace(Fraction(2)), Selection(Fraction(3))])
    assert (first + second).events == (Pure(Fraction(1)), Laplace(Fraction(2)), Selection(Fraction(3)))
    assert (first + second) + first == first + (second + first)


def test_only_gaussian_noise_needs_a_delta() -> None:
    assert Cost(()).pure
    assert Cost.of([Pure(Fraction(1)), Laplace(Fraction(1)), Selection(Fraction(1)), Gaussian(Fraction(0))]).pure
    assert not Cost.of([Pure(Fraction(1)), Gaussian(Fraction(1, 100))]).pure
