"""What was reserved can be taken once, in parts where composition allows it, and not a grain more."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import Undeclared
from core.kernel.allowance import Allowance
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Greedy, Laplace, Pure, Selection
from core.privacy.privacy_filter import Filters

PARTS = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000), min_size=1, max_size=8)


@pytest.mark.exhaustive
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


def test_greedy_choices_are_taken_together():
    greedy = Greedy(Fraction(1, 2), 3)
    left = Allowance(Cost((greedy, greedy, Pure(Fraction(1, 2)))))
    for wrong in (Greedy(Fraction(1, 2), 2), Greedy(Fraction(1, 3), 3), Selection(Fraction(3, 5))):
        with pytest.raises(Undeclared):
            left.take(wrong)
    left.take(greedy)
    again = Allowance.from_json(json.loads(json.dumps(left.to_json())))
    assert again.used(Cost((greedy, greedy, Pure(Fraction(1, 2))))) == Cost((greedy,))
    again.take(greedy)
    with pytest.raises(Undeclared):
        again.take(greedy)


def test_greedy_choices_are_a_part_of_what_is_as_large_as_all_of_them():
    left = Allowance(Cost((Pure(Fraction(1)),)))
    with pytest.raises(Undeclared):
        left.take(Greedy(Fraction(1, 2), 3))
    left.take(Greedy(Fraction(1, 4), 3))
    assert left.to_json()["pools"] == [["1/4", 1]]


def test_gaussian_events_share_their_rho():
    left = Allowance(Cost((Gaussian(Fraction(1, 3)), Gaussian(Fraction(1, 6)))))
    left.take(Gaussian(Fraction(2, 5)))
    left.take(Gaussian(Fraction(1, 10)))
    with pytest.raises(Undeclared):
        left.take(Gaussian(Fraction(1, 10**9)))


@pytest.mark.exhaustive
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


@pytest.mark.parametrize("reserved", [Gaussian(Fraction(1)), Pure(Fraction(1))])
def test_threads_share_one_allowance(reserved):
    left, part = Allowance(Cost((reserved,))), type(reserved)(Fraction(1, 200))

    def take(_):
        try:
            left.take(part)
        except Undeclared:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(1000))) == 200


def test_a_pool_that_is_used_up_is_gone():
    left = Allowance(Cost((Pure(Fraction(1)),)))
    left.take(Pure(Fraction(1)))
    assert left.to_json()["pools"] == []


def test_a_pure_event_never_takes_a_single_one():
    left = Allowance(Cost((Pure(Fraction(1, 2)), Laplace(Fraction(1, 2)))))
    left.take(Pure(Fraction(1, 2)))
    assert left.to_json()["pools"] == [] and len(left.to_json()["single"]) == 1


EVENTS = st.lists(
    st.tuples(
        st.sampled_from((Pure, Laplace, Selection, Gaussian)),
        st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100),
    ),
    max_size=6,
)
WAYS = Filters.of(Budget(1, 1e-9))


@pytest.mark.exhaustive
@given(EVENTS, EVENTS)
def test_what_was_used_never_counts_less_than_what_was_taken(reserved, wanted):
    cost = Cost.of(kind(amount) for kind, amount in reserved)
    left, taken = Allowance(cost), []
    for kind, amount in wanted:
        with contextlib.suppress(Undeclared):
            left.take(kind(amount))
            taken.append(kind(amount))
    used, whole = WAYS.amounts(Allowance.from_json(left.to_json()).used(cost)), WAYS.amounts(cost)
    for way, happened in WAYS.amounts(Cost.of(taken)).items():
        if whole[way] is not None:
            assert happened <= used[way] + len(taken), "each event is rounded up to a unit of its own"
            assert used[way] <= whole[way]


def test_what_was_not_begun_was_not_used():
    pure, single, noise = Pure(Fraction(1, 2)), Laplace(Fraction(1, 3)), Gaussian(Fraction(1, 4))
    cost = Cost((pure, pure, single, single, noise))
    left = Allowance(cost)
    assert left.used(cost) == Cost(())
    left.take(Pure(Fraction(1, 8)))
    left.take(single)
    left.take(Gaussian(Fraction(1, 16)))
    assert left.used(cost) == Cost((Gaussian(Fraction(1, 16)), pure, single)), "a pool that was begun counts whole"


@pytest.mark.parametrize("more", [Gaussian(Fraction(1)), Laplace(Fraction(1)), Pure(Fraction(1))])
def test_what_is_left_of_another_reservation_is_refused(more):
    with pytest.raises(Undeclared):
        Allowance(Cost((more,))).used(Cost(()))
