from __future__ import annotations

import doctest
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from core.base import bisection
from core.base.bisection import largest_that_fits, narrowed


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 31, 32, 1_000_003])
@pytest.mark.parametrize("start", [1, 7, 2**20])
@pytest.mark.parametrize("most", [None, 1, 30, 31, 2**21])
def test_it_is_the_largest_of_all_that_fit(limit: int, start: int, most: int | None) -> None:
    found = largest_that_fits(lambda number: number <= limit, start=start, most=most)
    assert found == (limit if most is None else min(limit, most))


def test_nothing_beyond_the_most_is_tried_and_nothing_below_one() -> None:
    tried: list[int] = []
    largest_that_fits(lambda number: tried.append(number) is None, start=3, most=50)
    assert min(tried) >= 1
    assert max(tried) == 50
    tried.clear()
    assert largest_that_fits(lambda number: tried.append(number) is not None, start=64) == 0
    assert min(tried) == 1


def test_with_bits_it_stops_early_at_a_number_that_fits() -> None:
    tried: list[int] = []

    def fits(number: int) -> bool:
        tried.append(number)
        return number <= 10**12 + 7

    found = largest_that_fits(fits, start=2**10, bits=8)
    assert found <= 10**12 + 7 < found * (1 + 2**-8) + 1
    assert found in tried
    assert len(tried) < 45


def test_the_examples_are_right() -> None:
    assert doctest.testmod(bisection).failed == 0


@pytest.mark.parametrize("kind", [float, Fraction, Decimal])
@pytest.mark.parametrize("rising", [True, False])
def test_a_gap_is_halved_around_the_place_where_something_begins_to_hold(kind: type, rising: bool) -> None:
    edge, tried = kind(1) / kind(3), []

    def holds(number: Any) -> bool:
        tried.append(number)
        return bool(number >= edge) if rising else bool(number <= edge)

    ends = (kind(0), kind(1)) if rising else (kind(1), kind(0))
    fails, holding = narrowed(holds, *ends, halvings=20)
    assert abs(holding - fails) == kind(1) / 2**20
    assert (fails < edge <= holding) if rising else (holding <= edge < fails)
    assert len(tried) == 20 and not {kind(0), kind(1)} & set(tried)
