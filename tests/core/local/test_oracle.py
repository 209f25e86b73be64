"""The oracle LR_D: each person's epsilon, exactly, whatever an algorithm asks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, OutOfBudget
from core.local.kinds import KINDS, randomiser_from
from core.local.oracle import LocalOracle
from core.local.randomisers.k_ary import KAryResponse
from core.local.randomisers.odds_ratio import ratio_below

PEOPLE = {"ill": np.array([0, 1, 1]), "town": np.array([2, 0, 4])}


def test_any_sequence_is_answered_until_the_epsilon_is_used():
    oracle = LocalOracle(PEOPLE, epsilon=1)
    half = ratio_below(Fraction(1, 2))
    oracle.ask(0, "ill", KAryResponse(values=2, ratio=half))
    oracle.ask(0, "town", randomiser_from("subset", 5, half))
    before = oracle.used(0)
    with pytest.raises(OutOfBudget):
        oracle.ask(0, "ill", KAryResponse(values=2, ratio=ratio_below(Fraction(1, 1000))))
    assert oracle.used(0) == before
    assert oracle.used(1) == 1
    oracle.ask(1, "ill", KAryResponse(values=2, ratio=ratio_below(Fraction(1))))


def test_the_call_that_would_exceed_is_refused_to_the_last_digit():
    """Two ratios whose product lies just above and just below e."""
    first = ratio_below(Fraction(1, 2))
    e = Fraction("2.718281828459045235360287471352662497757247093699959574966967627724")
    for factor, allowed in ((Fraction(10**40 - 1, 10**40), True), (Fraction(10**40 + 1, 10**40), False)):
        oracle = LocalOracle(PEOPLE, epsilon=1)
        oracle.ask(0, "ill", KAryResponse(values=2, ratio=first))
        oracle.ask(1, "ill", KAryResponse(values=2, ratio=first))
        # A ratio of this length is beyond what the samplers draw, so the refusal must come before the draw.
        last = KAryResponse(values=2, ratio=e * factor / first)
        with pytest.raises(BadParameter if allowed else OutOfBudget):
            oracle.ask(0, "ill", last)


def test_nothing_but_registered_randomisers_sees_an_answer():
    class Telltale(KAryResponse):
        def randomise(self, codes, draws):
            return codes

    oracle = LocalOracle(PEOPLE, epsilon=1)
    with pytest.raises(BadParameter):
        oracle.ask(0, "ill", Telltale(values=2, ratio=Fraction(2)))
    assert not [name for name in vars(oracle) if "answers" in name and not name.startswith("_LocalOracle__")]
    for name in KINDS:
        oracle = LocalOracle(PEOPLE, epsilon=1)
        oracle.ask(2, "town", randomiser_from(name, 5, Fraction(2)))
        with pytest.raises(OutOfBudget):
            oracle.ask(2, "town", randomiser_from(name, 5, Fraction(2)))


def test_bad_calls_spend_nothing():
    oracle = LocalOracle(PEOPLE, epsilon=1)
    for person, column in ((3, "ill"), (-1, "ill"), (0, "income")):
        with pytest.raises(BadParameter):
            oracle.ask(person, column, KAryResponse(values=2, ratio=Fraction(2)))
    assert all(oracle.used(person) == 1 for person in range(3))
    with pytest.raises(BadParameter):
        LocalOracle({}, epsilon=1)
    with pytest.raises(BadParameter):
        LocalOracle({"a": np.array([0]), "b": np.array([0, 1])}, epsilon=1)
