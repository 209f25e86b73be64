"""Both definitions of privacy, checked on mechanisms small enough to know every probability."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.theory.distributional import (
    NoisyTotal,
    differential_loss,
    distributional_miss,
    loss,
    mirrored_mod,
    separation,
    sums_of_draws,
)

BITS = (0, 0, 0, 1, 1, 1)
"""A population of six bits."""


def noisy(function, scale):
    """The law of a clipped noisy total: outputs beyond the range fall on its ends."""

    def law(database):
        middle = function(sum(BITS[place] for place in database))
        weights = {output: math.exp(-abs(output - middle) / scale) for output in range(-60, 61)}
        whole = sum(weights.values())
        return {output: weight / whole for output, weight in weights.items()}

    return law


def test_the_function_moves_by_one_at_most_and_takes_every_value():
    for period in (1, 2, 5, 9):
        values = [mirrored_mod(total, period) for total in range(6 * period)]
        assert max(abs(a - b) for a, b in pairwise(values)) <= 1
        assert set(values) == set(range(period))
        assert mirrored_mod(-1, period) == 0 or period == 1


@pytest.mark.parametrize("function", [lambda total: total, lambda total: mirrored_mod(total, 2)])
def test_the_formulas_agree_with_the_laws(function):
    """Exact laws over all databases of 3 of 6 bits, against |f(s) - f(t)|/scale and hypergeometric sums."""
    law, short = noisy(function, 2.0), NoisyTotal(function=function, scale=2.0)
    assert differential_loss(law, 6, 3) == pytest.approx(short.differential(3), abs=1e-6)
    for epsilon in (0.3, 0.5 + 1e-6, 0.9, 1.2):
        assert distributional_miss(law, 6, 3, epsilon) == pytest.approx(short.distributional(3, 3, 6, epsilon))


def test_sums_are_hypergeometric():
    counted = np.bincount([sum(BITS[place] for place in chosen) for chosen in combinations(range(6), 3)], minlength=4)
    assert sums_of_draws(3, 3, 6) == pytest.approx(counted / 20)
    assert sums_of_draws(5, 2, 6)[[3, 4, 5]].sum() == 0


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1.0])
def test_the_separating_example_keeps_one_promise_and_breaks_the_other(epsilon):
    """Theorem 7.3: epsilon-private, but a constant share of pairs of draws is told apart by 1, however many rows."""
    for rows in (400, 1600):
        found = separation(epsilon, rows, ones=5 * rows, population=10 * rows)
        assert found.differential <= epsilon + 1e-12
        assert found.missed > 0.2


def test_a_noisy_count_with_noise_of_the_root_keeps_both():
    """Two draws of n bits differ by some roots of n; noise of 8 roots tells few of them apart, at any share of ones."""
    rows = 400
    law = NoisyTotal(function=lambda total: total, scale=8 * math.sqrt(rows))
    assert law.differential(rows) <= 1 / 160
    for ones in (0, 40, 2000, 4000):
        assert law.distributional(rows, ones, 4000, 1.0) < 1e-12


def test_distributional_privacy_implies_differential_privacy_on_small_laws():
    """Theorem 7.1 on random laws over databases of 2 out of 4 elements; each population has 3 of them."""
    generator = np.random.default_rng()
    kept = 0
    for _ in range(300):
        spread = float(generator.choice([0.05, 0.3, 1.0]))
        table = {pair: _random_law(generator, spread) for pair in combinations(range(4), 2)}
        epsilon = 1.5 * spread
        holds = all(
            distributional_miss(
                lambda places, own=own, table=table: table[tuple(own[place] for place in places)], 3, 2, epsilon
            )
            < 2 / 9
            for own in combinations(range(4), 3)
        )
        if holds:
            kept += 1
            assert differential_loss(table.__getitem__, 4, 2) <= epsilon + 1e-9
    assert 20 < kept < 280


def _random_law(generator, spread):
    weights = np.exp(generator.uniform(-spread, spread, 4))
    return dict(enumerate(weights / weights.sum()))


def test_an_output_that_only_one_database_has_is_an_infinite_loss():
    assert loss({"a": 1.0}, {"a": 0.5, "b": 0.5}) == math.inf
    assert loss({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5, "c": 0.0}) == 0


def test_what_is_too_large_is_refused():
    with pytest.raises(BadParameter, match="5,000"):
        differential_loss(noisy(lambda total: total, 1.0), 30, 10)
    with pytest.raises(BadParameter, match="epsilon"):
        separation(3.0, 10, 5, 20)
