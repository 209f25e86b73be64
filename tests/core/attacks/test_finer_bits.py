"""Intervals over ever finer bits: the reduction from the median, the theorem's growth, where an accuracy is lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.attacks.finer_bits import COLUMN, SecretValue, median_of, rank_error, released
from core.base.errors import BadParameter, DeskError
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import mechanism_from, offline
from core.table.counts import Cells
from core.theory.intervals import IntervalsBound
from core.theory.lower_bounds import finest_bits

UNIT = Unit.row("replace")
QUICK = ("histogram", "laplace", "interval-tree", "interval-search", "rectangle-tree", "tree", "game-data")
"""Mechanisms for intervals that take some milliseconds at 2^10 values."""


def test_the_median_is_off_by_no_more_than_the_intervals_are():
    """Corollary 5.2 on random tables and random wrong answers; against sorting the rows."""
    generator = np.random.default_rng()
    for _ in range(100):
        secret = SecretValue(bits=5, rows=60, moved=0)
        truth = Cells(secret.domain, generator.multinomial(60, np.full(32, 1 / 32)), UNIT)
        told = generator.multinomial(60, (truth.cells + 1) / (truth.cells + 1).sum())
        worst = secret.queries.worst(truth, Cells(secret.domain, told, UNIT))
        assert rank_error(truth, median_of(told.astype(float))) <= worst + 1e-12
        middle = np.sort(np.repeat(np.arange(32), truth.cells))[29]
        assert median_of(truth.cells.astype(float)) == middle
        assert rank_error(truth, int(middle)) == 0


@pytest.mark.exhaustive
def test_the_papers_mechanism_needs_rows_as_its_theorem_says_and_keeps_its_word():
    """n grows as b ln b, and a table of so many rows is right on every interval, but for 5 % of the runs."""
    alpha, needed = 0.4, {}
    for bits in (4, 8, 16):
        secret = SecretValue(bits=bits, rows=1000, moved=0)
        mechanism = mechanism_from("interval-search", (secret.queries,), Budget(1, 0), {"accuracy": alpha})
        needed[bits] = mechanism.required_rows(secret.domain, UNIT)
        theorem = IntervalsBound(bits=bits).rows(alpha, 1.0)
        assert 1 < needed[bits] / theorem < 8
        secret = SecretValue(bits=bits, rows=needed[bits], moved=needed[bits] // 2)
        errors = [released(secret, mechanism).worst for _ in range(12)]
        assert np.mean([error <= alpha for error in errors]) >= 10 / 12
    assert 2 < needed[8] / needed[4] < 3 and 2 < needed[16] / needed[8] < 3


@pytest.mark.exhaustive
def test_with_few_rows_its_error_grows_with_the_bits():
    """300 rows at epsilon 2: about 0.15 at 3 bits and 0.6 at 14; means of 30 runs spread by less than 0.05."""
    means = []
    for bits in (3, 14):
        secret = SecretValue(bits=bits, rows=300, moved=150)
        mechanism = mechanism_from("interval-search", (secret.queries,), Budget(2, 0), {"accuracy": 0.5})
        means.append(np.mean([released(secret, mechanism).worst for _ in range(30)]))
    assert means[1] > means[0] + 0.15


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("name", QUICK)
def test_a_fixed_accuracy_is_lost_beyond_the_bits_of_the_argument(name):
    """n 100, epsilon 0.1, alpha 0.2: from 6 bits on no method is right in 95 % of the runs; seen at 10, in 25 runs."""
    rows, epsilon, alpha = 100, 0.1, 0.2
    assert math.ceil(finest_bits(alpha, epsilon, rows)) == 6
    secret = SecretValue(bits=10, rows=rows, moved=math.floor(2 * alpha * rows) + 1)
    mechanism = mechanism_from(name, (secret.queries,), Budget(epsilon, 0), {})
    assert np.mean([released(secret, mechanism).worst <= alpha for _ in range(25)]) < 0.95


def test_those_are_mechanisms_for_intervals():
    secret = SecretValue(bits=4, rows=10, moved=5)
    for name in offline:
        try:
            mechanism_from(name, (secret.queries,), Budget(1, 0), {}).check(secret.domain, UNIT)
        except DeskError:
            assert name not in QUICK
    assert secret.drawn().marginal((COLUMN,)).sum() == 10
    with pytest.raises(BadParameter, match="at most 18"):
        SecretValue(bits=30, rows=10, moved=5)
