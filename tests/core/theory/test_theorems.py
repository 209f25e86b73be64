"""Every theorem at numbers worked out by hand, and how the papers compare them."""

from __future__ import annotations

import math

import pytest

from core.privacy.budget import Budget
from core.privacy.events import Cost, Pure
from core.privacy.spendable import rho_for
from core.theory import (
    ExponentialBound,
    GaussianBound,
    LaplaceBound,
    NetBound,
    SmallDbBound,
    SmallDbFatBound,
    SmallDbLinearBound,
    SmallDbVcBound,
)
from core.theory.composition import advanced
from core.theory.iterative import ExponentialDistinguisher
from core.theory.smalldb import hoeffding

ln = math.log
near = pytest.approx


def test_laplace_basic_composition():
    # 100 queries, beta = 0.05: 100 ln(2000)/(0.5 * 100000) = 760.09/50000.
    assert LaplaceBound(log_queries=ln(100), beta=0.05).error(100_000, 0.5) == near(0.0152018, rel=1e-5)


def test_laplace_advanced_composition():
    # ln(1/delta) = 20, epsilon = 2.5: e = (sqrt(45) - sqrt(40))/100 = 0.00383648 for each of 10,000 queries.
    bound = LaplaceBound(log_queries=ln(10_000), beta=0.01, delta=math.exp(-20))
    assert bound.error(10**6, 2.5) == near(ln(10**6) / (0.00383648 * 10**6), rel=1e-5)


@pytest.mark.parametrize("queries", [50, 300, 9000])
@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
def test_the_share_of_each_laplace_query_is_private(queries, epsilon):
    share = math.exp(LaplaceBound(log_queries=ln(queries), delta=1e-6).log_share(epsilon))
    assert advanced(Cost.of([Pure(share)] * queries), 1e-6) <= epsilon * (1 + 1e-9)


def test_advanced_composition_wins_for_many_queries_only():
    def ratio(queries):
        basic = LaplaceBound(log_queries=ln(queries))
        return basic.error(10**9, 1) / LaplaceBound(log_queries=ln(queries), delta=1e-9).error(10**9, 1)

    assert ratio(4) == near(1)
    assert ratio(400_000) == near(10 * ratio(4_000), rel=1e-6)


def test_gaussian_noise():
    # sigma = sqrt(100/(2 rho)) rows; all 100 within sigma sqrt(2 ln(100/0.05)).
    sigma = math.sqrt(100 / (2 * float(rho_for(Budget(1, 1e-6)))))
    expected = sigma * math.sqrt(2 * ln(2000)) / 50_000
    assert GaussianBound(log_queries=ln(100), delta=1e-6).error(50_000, 1) == near(expected, rel=1e-9)


def test_gaussian_beats_laplace_by_a_root_of_the_logarithm():
    laplace = LaplaceBound(log_queries=ln(10**6), delta=1e-9).error(10**9, 1)
    gaussian = GaussianBound(log_queries=ln(10**6), delta=1e-9).error(10**9, 1)
    assert math.sqrt(ln(10**6 / 0.05)) / 2 < laplace / gaussian < 2 * math.sqrt(ln(10**6 / 0.05))


def test_exponential_mechanism_and_distinguisher():
    # 2 ln(1000/0.05)/(0.1 * 5000) = 19.8070/500.
    assert ExponentialBound(log_candidates=ln(1000)).error(5000, 0.1) == near(0.0396140, rel=1e-5)
    shortfall = ExponentialDistinguisher(log_queries=ln(1000)).log_shortfall(ln(0.05), ln(500))
    assert math.exp(shortfall) == near(0.0396140, rel=1e-5)


def test_net_mechanism():
    # 0.02 + 2 (50 + ln 20)/(1 * 10000) = 0.02 + 0.0105991.
    assert NetBound(log_net=50, net_alpha=0.02).error(10_000, 1) == near(0.0305991, rel=1e-5)


def test_smalldb_theorem_and_lemma():
    bound = SmallDbBound(log_universe=ln(1024), log_queries=ln(1000), beta=0.05)
    # (16 ln 1024 ln 1000/0.01 + 4 ln 20)/(0.5 * 0.1) = (76609.4 + 11.983)/0.05.
    assert bound.rows(0.1, 0.5) == near((16 * ln(1024) * ln(1000) / 0.01 + 4 * ln(20)) / 0.05, abs=1)
    assert bound.rows(0.1, 0.5) == near(1_532_427, rel=1e-4)
    assert bound.lemma(0.05, 1_532_427, 0.5) == near(0.1, rel=1e-4)
    assert bound.size(0.1) == math.floor(ln(1000) / 0.05**2) == 2763


def test_smalldb_outgrows_laplace_when_there_are_many_queries():
    universe = ln(2**10)
    for queries, smaller in ((2**8, "laplace"), (2**40, "smalldb")):
        rows = {
            "laplace": LaplaceBound(log_queries=ln(queries)).rows(0.1, 1),
            "smalldb": SmallDbBound(log_universe=universe, log_queries=ln(queries)).rows(0.1, 1),
        }
        assert min(rows, key=rows.get) == smaller


def test_all_marginals_need_d_squared_rows():
    def rows(d):
        return SmallDbBound(log_universe=d * ln(2), log_queries=d * ln(2)).rows(0.1, 1)

    assert rows(80) / rows(40) == near(4, rel=1e-2)


@pytest.mark.parametrize("queries", [1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_the_rows_of_the_small_table_meet_hoeffding(queries, alpha):
    bound = SmallDbBound(log_universe=ln(8), log_queries=ln(queries))
    assert 2 * queries * math.exp(-2 * bound.size(alpha) * (alpha / 2) ** 2) < 1
    least = hoeffding(ln(queries), alpha / 2)
    assert (
        2 * queries * math.exp(-2 * least * (alpha / 2) ** 2)
        < 1
        <= 2 * queries * math.exp(-2 * (least - 1) * (alpha / 2) ** 2)
    )


def test_smalldb_by_vc_dimension():
    # Universe of 8 points, intervals, d = 2: ln(2 (8e/2)^2) = 5.46502; m = floor(5.46502/(2 * 0.05^2)) + 1 = 1094.
    bound = SmallDbVcBound(log_universe=ln(8), vc=2, beta=0.05)
    assert bound.size(0.1) == 1094
    assert bound.rows(0.1, 1) == math.ceil(4 / 0.1 * (1094 * ln(8) + ln(20)))


def test_the_vapnik_chervonenkis_size_is_the_first_that_converges():
    bound = SmallDbVcBound(log_universe=10_000.0, vc=3)
    m = bound.size(0.2)

    def log_failure(rows):
        return ln(4) + 3 * ln(2 * math.e * rows / 3) - rows * 0.1**2 / 8

    assert log_failure(m) < 0 < log_failure(m - 2)


def test_rows_grow_linearly_with_vc_dimension_and_columns():
    def rows(d, vc):
        return SmallDbVcBound(log_universe=d * ln(2), vc=vc).rows(0.1, 1)

    assert rows(2000, 5) / rows(1000, 5) == near(2, rel=1e-3)
    assert rows(1000, 40) / rows(1000, 20) == near(2, rel=2e-2)


def test_smalldb_for_linear_queries():
    # m = floor(ln(2000)/(2 * 0.05^2)) + 1 = 1521; n >= 80 (1521 ln 1024 + ln 20).
    bound = SmallDbLinearBound(log_universe=ln(1024), log_queries=ln(1000))
    assert bound.size(0.1) == 1521
    assert bound.rows(0.1, 1) == math.ceil(80 * (1521 * ln(1024) + ln(20)))


def test_smalldb_by_fat_shattering_dimension():
    # The paper's form with constant 1: m = ceil((2 ln^2 20 + ln 2)/0.05^2) = ceil(18.6417/0.0025) = 7457.
    assert SmallDbFatBound(log_universe=ln(1024), fat=2, constant=1.0).size(0.1) == 7457
    explicit = SmallDbFatBound(log_universe=ln(1024), fat=2)
    m, a, d = explicit.size(0.1), 0.05, 2

    def log_failure(rows):
        cover = ln(2) + d * math.log2(32 * math.e * rows / (d * a)) * ln(256 * rows / a**2)
        return ln(8) + cover - rows * a**2 / 128

    assert log_failure(m) < 0 <= log_failure(m - 1)


def test_the_scale_of_the_fat_shattering_dimension():
    asked = []

    def fat(scale):
        asked.append(scale)
        return 1.0

    SmallDbFatBound(log_universe=5, fat=fat).size(0.64)
    SmallDbFatBound(log_universe=5, fat=fat, constant=1.0).size(0.64)
    assert asked == near([0.01, 0.064])
