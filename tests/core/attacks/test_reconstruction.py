"""The attack succeeds below c sqrt(n) of noise and finds nothing under this desk's."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.attacks.reconstruction import (
    by_budget,
    by_least_squares,
    by_linear_program,
    invented_column,
    noise_size,
    within,
)
from core.base.errors import BadParameter
from core.base.odds import most_won
from core.privacy.budget import Budget

PEOPLE, SETS, RUNS = 100, 800, 4


def shares(answer) -> np.ndarray:
    """Mean shares of both attackers over some runs."""
    found = []
    for _ in range(RUNS):
        column = invented_column(PEOPLE, SETS)
        told = column.recovered(answer(column.counts))
        found.append((told.linear_program, told.least_squares))
    return np.mean(found, axis=0)


def test_exact_answers_give_every_bit_back():
    column = invented_column(40, 200)
    assert column.recovered(column.counts).linear_program == column.recovered(column.counts).least_squares == 1.0


@pytest.mark.exhaustive
def test_noise_below_a_part_of_the_root_hides_nothing():
    """0.4 sqrt(n): measured 1.00 and 0.99; the standard error of 400 bits at 0.95 is 0.011."""
    assert (shares(lambda counts: within(counts, int(0.4 * math.sqrt(PEOPLE)))) > 0.95).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**9)])
def test_the_noise_of_this_desk_leaves_chance(delta):
    """At epsilon 1 least squares finds 51.5 % of the bits under Gaussian noise; 400 bits spread by 2.5 %."""
    budget = Budget(1, delta)
    found = shares(lambda counts: by_budget(counts, budget))
    assert (abs(found - 0.5) < 0.13).all()
    assert (found < most_won(1.0, float(delta))).all()


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**9)])
def test_the_noise_is_as_large_as_it_says(delta):
    budget = Budget(1, delta)
    off = by_budget(np.zeros(4_000, np.int64), budget)
    assert off.std() == pytest.approx(noise_size(4_000, budget), rel=0.12)


def test_both_attackers_find_the_only_bits_that_fit():
    """Against every table of bits; 60 random sets leave two of 64 tables equal with probability below 2^-40."""
    column = invented_column(6, 60)
    tables = np.array([[place >> bit & 1 for bit in range(6)] for place in range(64)])
    errors = abs(tables @ column.sets.T - column.counts).max(axis=1)
    [only] = np.flatnonzero(errors == 0)
    assert (by_linear_program(column.sets, column.counts) == tables[only]).all()
    assert (by_least_squares(column.sets, column.counts) == tables[only]).all()


def test_what_is_too_large_is_refused_in_a_sentence():
    with pytest.raises(BadParameter, match="at most 200"):
        invented_column(201, 10)
    with pytest.raises(BadParameter, match="at least 0"):
        within(np.zeros(3, np.int64), -1)
