"""What was reserved can be taken once, in parts where composition allows it, and not a grain more."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import Undeclared
from core.kernel.allowance import Allowance
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection

PARTS = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000), min_size=1, max_size=8)


@given(st.lists(st.fractions(min_value=0, max_value=2, max_denominator=100), max_size=4), PARTS, st.randoms())
def test_parts_never_sum_to_more_than_the_pools(pools, parts, random):
    left, taken = Allowance(Cost.of(Pure(pool) for pool in pools)), Fraction(0)
    for part in parts:
        kind = random.choice((Pure, Laplace, Selection))
        before = left.to_json()
        try:
            left.take(kind(part))
            taken += part
        except Undeclared:
            assert left.to_json() == before, "what is refused changes nothing"
            assert all(part > Fraction(pool) for pool, _ in before["pools"])
    assert taken + sum(Fraction(pool) * count for pool, count in left.to_json()["pools"]) == sum(pools)


def test_a_part_comes_from_the_smallest_pool_that_has_enough():
    left = Allowance(Cost((Pure(Fraction(1)), Pure(Fraction(1, 4)))))
    left.take(Pure(Fraction(1, 4)))
    left.take(Pure(Fraction(1)))
    with pytest.raises(Undeclared):
        left.take(Pure(Fraction(1, 1000)))


def test_single_events_are_taken_as_they_were_reserved():
    left = Allowance(Cost((Laplace(Fraction(1, 2)), Selection(Fraction(1, 2)))))
    for wrong in (Laplace(Fraction(1, 3)), Selection(Fraction(1, 3)), Pure(Fraction(1, 2)), Gaussian(Fraction(1, 9))):
        with pytest.raises(Undeclared):
            left.take(wrong)
    left.take(Laplace(Fraction(1, 2)))
    with pytest.raises(Undeclared):
        left.take(Laplace(Fraction(1, 2)))
    left.take(Selection(Fraction(1, 2)))


def test_gaussian_events_share_their_rho():
    left = Allowance(Cost((Gaussian(Fraction(1, 3)), Gaussian(Fraction(1, 6)))))
    left.take(Gaussian(Fraction(2, 5)))
    left.take(Gaussian(Fraction(1, 10)))
    with pytest.raises(Undeclared):
        left.take(Gaussian(Fraction(1, 10**9)))


def test_it_is_kept_exactly_and_stays_small():
    runs = Cost((Pure(Fraction(7, 3001)),) * 20_000 + (Laplace(Fraction(1, 7)),) * 20_000 + (Gaussian(Fraction(1, 9)),))
    left = Allowance(runs)
    left.take(Pure(Fraction(7, 3001)))
    left.take(Laplace(Fraction(1, 7)))
    left.take(Pure(Fraction(1, 3001)))
    kept = left.to_json()
    assert len(str(kept)) < 200
    again = Allowance.from_json(kept)
    assert again.to_json() == kept
    for each in (left, again):
        for _ in range(19_999):
            each.take(Laplace(Fraction(1, 7)))
        with pytest.raises(Undeclared):
            each.take(Laplace(Fraction(1, 7)))
