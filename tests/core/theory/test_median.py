"""The theorems of the median mechanism at numbers worked out by hand, and their three directions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.theory.median import (
    MedianBound,
    MedianFatBound,
    MedianWalkBound,
    database_sample,
    rows_for_unknown,
    untypical_share,
)
from core.theory.smalldb import SmallDbFatBound

ln = math.log
near = pytest.approx
BOUND = MedianBound(log_universe=ln(1024), log_queries=ln(1000))
CASES = {
    "basic": BOUND,
    "printed": replace(BOUND, printed=True),
    "walk": MedianWalkBound(log_universe=ln(1024), log_queries=ln(1000)),
    "fat": MedianFatBound(log_universe=ln(1024), log_queries=ln(1000), fat=2),
    "one question": MedianBound(log_universe=ln(2), log_queries=0.0),
}
every_case = pytest.mark.parametrize("bound", CASES.values(), ids=CASES)


def test_the_parameters_of_equations_4_1_to_4_3():
    m = 160_000 * ln(1000) * ln(10) / 0.01
    assert BOUND.size(0.1) == near(m) == near(2.5449e8, rel=1e-4)
    share = 0.5 / (720 * m * ln(1024))
    assert BOUND.share(0.1, 0.5) == near(share)
    assert BOUND.gap(0.1, 10**15, 0.5) == near(4 / (share * 0.1 * 10**15) * ln(2 * 1000 / 0.5))
    assert BOUND.hard(0.1) == near(20 * m * ln(1024))
    assert CASES["walk"].hard(0.1) == near(40 * m * ln(1024))


@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("questions", [1, 2, 1000])
def test_a_database_of_the_net_is_within_a_hundredth(alpha, questions):
    # Hoeffding with a union bound: 2 k exp(-2 m (alpha/100)^2) <= 1.
    size = MedianBound(log_universe=ln(8), log_queries=ln(questions)).size(alpha)
    assert 2 * questions * math.exp(-2 * size * (alpha / 100) ** 2) <= 1 + 1e-9


def test_rows_by_hand():
    # alpha n e'/200 >= ln(2k/beta).
    expected = 200 * ln(2000 / 0.05) / (0.1 * BOUND.share(0.1, 1))
    assert BOUND.rows(0.1, 1) == near(expected, rel=1e-9)
    printed = 30 * ln(2000) * math.log2(1000) / (0.1 * BOUND.share(0.1, 1))
    assert CASES["printed"].rows(0.1, 1) == near(max(printed, expected), rel=1e-9)
    assert printed > expected


def test_failures_at_those_rows_are_as_rare_as_promised():
    signal = 0.1 * BOUND.rows(0.1, 1) * BOUND.share(0.1, 1)
    # Laplace tails: |noise| > x has probability exp(-x/scale), for k tests and at most k numbers.
    failure = 1000 * math.exp(-signal / 200) + 1000 * math.exp(-signal / 100)
    assert 0.04 / 2 < failure <= 0.05


@every_case
@pytest.mark.parametrize("alpha", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("epsilon", [0.1, 3])
def test_three_directions(bound, alpha, epsilon):
    rows = bound.rows(alpha, epsilon)
    assert bound.holds(alpha=alpha, rows=rows, epsilon=epsilon)
    assert not bound.holds(alpha=alpha, rows=rows - max(1, rows >> 50), epsilon=epsilon)
    assert bound.error(rows, epsilon) == near(alpha, rel=1e-6)
    assert bound.epsilon(alpha, rows) == near(epsilon, rel=1e-6)


@every_case
def test_more_helps(bound):
    assert bound.rows(0.2, 1) > bound.rows(0.3, 1) > bound.rows(0.3, 2)
    assert bound.error(1, 0.001) == 1.0
    assert replace(bound, beta=1e-12).rows(0.1, 1) > bound.rows(0.1, 1)


def test_the_error_falls_with_the_third_root_of_the_rows():
    # T footnote 8: O(log k log^(1/3)|X|/(n epsilon)^(1/3)), up to the logarithm in m.
    low, high = (BOUND.error(rows, 1) for rows in (10**18, 10**21))
    assert 10 * 0.8 < low / high < 10


def test_the_gap_fits_between_the_thresholds_once_rows_are_as_many_as_printed():
    # 3/20 of thresholds hold log2 k steps, so the last one has probability at most about 1/k (proof of lemma 8).
    bound = CASES["printed"]
    rows = bound.rows(0.1, 0.5)
    assert 0.15 / bound.gap(0.1, rows, 0.5) >= math.log2(1000)


def test_what_is_refused():
    with pytest.raises(BadParameter, match=r"^log_universe"):
        MedianBound(log_universe=0.0, log_queries=1.0)
    with pytest.raises(BadParameter, match=r"^beta"):
        MedianWalkBound(log_universe=1.0, log_queries=1.0, beta=0)


def test_a_dimension_takes_the_place_of_the_number_of_questions():
    """F theorem 6: databases as large as corollary 1 asks for alpha/100, whatever k is; k counts only its failures."""
    fat = MedianFatBound(log_universe=ln(1024), log_queries=ln(1000), fat=2)
    assert fat.size(0.1) == SmallDbFatBound(log_universe=ln(1024), fat=2).size(0.002)
    many = replace(fat, log_queries=ln(1e300))
    assert many.size(0.1) == fat.size(0.1)
    assert many.rows(0.1, 1) < 100 * fat.rows(0.1, 1)
    rows = fat.rows(0.1, 1)
    assert fat.holds(alpha=0.1, rows=rows, epsilon=1)
    assert not fat.holds(alpha=0.1, rows=rows * 999 // 1000, epsilon=1)


def test_guesses_that_double():
    """Every guess that comes up to then holds, and all that ever come sum to epsilon and beta."""
    parts = [1 / ((guess + 1) * (guess + 2)) for guess in range(10_000)]
    assert 0.99 < sum(parts) < 1
    rows = rows_for_unknown(1000, 0.2, 1.0, log_universe=ln(64))
    for guess in range(11):
        part = (guess + 1) * (guess + 2)
        bound = MedianBound(log_universe=ln(64), log_queries=guess * ln(2), beta=0.05 / part)
        assert bound.holds(alpha=0.2, rows=rows, epsilon=1 / part)
    known = MedianBound(log_universe=ln(64), log_queries=ln(1000)).rows(0.2, 1.0)
    assert known < rows < known * (ln(1000) / ln(2) + 3) ** 2 * 1.5
    assert rows_for_unknown(1, 0.2, 1.0, log_universe=ln(64)) < rows


def test_sampled_databases_repeat_records_as_often_as_the_lemma_says():
    """2 C(n, 2)/(|X| + 1) pairs on average (T lemma 13): 11.7 here, of 400 runs; five standard errors are 2."""
    generator = np.random.default_rng()
    cells, rows = 500, 77
    pairs = [(held * (held - 1) // 2).sum() for held in (database_sample(cells, rows, generator) for _ in range(400))]
    assert np.mean(pairs) == near(rows * (rows - 1) / (cells + 1), abs=2)
    assert database_sample(cells, rows, generator).sum() == rows


def test_untypical_databases_are_few_where_the_universe_is_large():
    assert untypical_share(ln(1e12), 1000) == near(1e-6)
    assert untypical_share(ln(1e12), 1000, 1e-3) == near(1e-6 + 1e-3, rel=1e-3)
    assert untypical_share(ln(1000), 1000) == 1.0
    with pytest.raises(BadParameter, match="sampled"):
        untypical_share(ln(1e12), 10, 2.0)
