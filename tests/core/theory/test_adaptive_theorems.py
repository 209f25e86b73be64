"""The iterative construction, games, ranges, halfspaces and sessions at numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.mechanisms.games.game_both import GameBoth
from core.privacy.budget import Budget
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.theory import (
    BothPlayersBound,
    DataPlayerBound,
    HalfspacesBound,
    IntervalsBound,
    QueryPlayerBound,
    RectanglesBound,
    iterative_median,
    iterative_median_any,
    iterative_perceptron,
    iterative_weights,
    online_median,
    online_perceptron,
    online_weights,
)
from core.theory.iterative import ExponentialDistinguisher, IterativeBound, Median, WeightsBound, iterative_net

ln = math.log
near = pytest.approx


def implicit(factor, updates, queries, beta, share):
    """The fixed point of alpha = factor ln(2 T |Q|/beta)/share with T = updates(alpha), by plain iteration."""
    alpha = 0.5
    for _ in range(500):
        rounds = updates(alpha)
        alpha = math.sqrt(alpha * factor(rounds) * ln(2 * rounds * queries / beta) / share)
    return alpha


def test_iterative_weights_pure():
    # T(alpha/2) = 16 ln 1024/alpha^2; alpha = 32 T ln(2 T |Q|/beta)/(n epsilon).
    expected = implicit(lambda t: 32 * t, lambda a: 16 * ln(1024) / a**2, 1000, 0.05, 10**9)
    found = iterative_weights(log_universe=ln(1024), log_queries=ln(1000)).error(10**9, 1)
    assert found == near(expected, rel=1e-6)
    rounds = 16 * ln(1024) / found**2
    assert found**3 == near(512 * ln(1024) * ln(2 * rounds * 1000 / 0.05) / 10**9, rel=1e-6)


def test_iterative_weights_with_delta():
    spread = ln(10**9)
    expected = implicit(lambda t: 64 * math.sqrt(t * spread), lambda a: 16 * ln(1024) / a**2, 1000, 0.05, 10**7)
    bound = iterative_weights(log_universe=ln(1024), log_queries=ln(1000), delta=1e-9)
    assert bound.error(10**7, 1) == near(expected, rel=1e-6)


def test_theorem_5_7_as_printed_is_a_quarter():
    for delta, factor in ((0.0, lambda t: 8 * t), (1e-9, lambda t: 16 * math.sqrt(t * ln(10**9)))):
        bound = iterative_weights(log_universe=ln(1024), log_queries=ln(1000), delta=delta, printed=True)
        expected = implicit(factor, lambda a: 16 * ln(1024) / a**2, 1000, 0.05, 10**9)
        assert bound.error(10**9, 1) == near(expected, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1, 10, 300])
@pytest.mark.parametrize("rounds", [1, 20, 3000])
def test_the_share_of_each_step_is_private(rounds, epsilon):
    bound = IterativeBound(update=Median(log_net=1), distinguisher=ExponentialDistinguisher(log_queries=1), delta=1e-6)
    share = math.exp(bound.log_share(ln(rounds), epsilon))
    drv = math.sqrt(4 * rounds * ln(10**6)) * share + 2 * rounds * share * math.expm1(share)
    assert drv <= epsilon * (1 + 1e-9)
    pure = IterativeBound(update=Median(log_net=1), distinguisher=ExponentialDistinguisher(log_queries=1))
    assert 2 * rounds * math.exp(pure.log_share(ln(rounds), epsilon)) == near(epsilon)


def test_a_perfect_distinguisher_leaves_the_noise_of_the_check():
    class Perfect:
        def log_shortfall(self, log_gamma, log_scale):
            return -math.inf

    # A net of 2^10: T = 10; alpha = 8 ln(20/0.05)/(n epsilon/20) = 160 ln(400)/10^5.
    bound = IterativeBound(update=Median(log_net=10 * ln(2)), distinguisher=Perfect())
    assert bound.error(10**5, 1) == near(160 * ln(400) / 10**5, rel=1e-9)


def test_iterative_median_over_a_net():
    bound = IterativeBound(
        update=Median(log_net=10 * ln(2)), distinguisher=ExponentialDistinguisher(log_queries=ln(100))
    )
    assert bound.updates(0.1, 5) == near(10)
    assert bound.error(10**6, 1) == near(320 * ln(2000 / 0.05) / 10**6, rel=1e-9)


def test_the_median_is_worse_than_weights_by_the_logarithm_of_the_queries():
    sizes = {"log_universe": ln(1024), "log_queries": ln(1000)}
    ratio = iterative_median(**sizes).updates(0.1, 1) / iterative_weights(**sizes).updates(0.1, 1)
    assert ratio == near(ln(1000) / (4 * ln(2)))


def test_the_median_over_all_tables():
    # Theorem 5.10 with 64 for 16 and log2: 64 sqrt(10 * 20) ln(2 * 1000 * n * 10/beta)/(sqrt(n) epsilon).
    bound = iterative_median_any(log_universe=ln(1024), log_queries=ln(1000), delta=math.exp(-20))
    n = 10**10
    assert bound.error(n, 1) == near(64 * math.sqrt(200) * ln(2 * 1000 * n * 10 / 0.05) / math.sqrt(n), rel=1e-9)
    printed = iterative_median_any(log_universe=ln(1024), log_queries=ln(1000), delta=math.exp(-20), printed=True)
    assert printed.error(n, 1) == near(bound.error(n, 1) / 4)


def test_the_perceptron_meets_theorem_5_12():
    # 4 sqrt(4) sqrt(|x|_2) (4 |X| ln(1/delta))^(1/4) sqrt(ln(2 |Q| |X| |x|_2^2/beta))/(sqrt(epsilon) |x|_1); the page's
    # logarithm is a little larger than ln(2 |Q| T/beta).
    universe, n, queries, delta = 10**4, 10**7, 1000, 1e-9
    norm = math.sqrt(5000 * n)
    closed = 8 * math.sqrt(norm) * (4 * universe * ln(1 / delta)) ** 0.25
    closed *= math.sqrt(ln(2 * queries * universe * norm**2 / 0.05)) / n
    bound = iterative_perceptron(log_universe=ln(universe), log_queries=ln(queries), delta=delta, cell_limit=5000)
    assert 0.5 * closed < bound.error(n, 1) < closed
    alpha = bound.error(n, 1)
    rounds = 4 * universe * 5000 / (n * alpha**2)
    exact = 128 * norm * math.sqrt(universe * ln(1 / delta)) * ln(2 * rounds * queries / 0.05) / n**2
    assert alpha**2 == near(exact, rel=1e-6)
    same = iterative_perceptron(log_universe=ln(universe), log_queries=ln(queries), delta=delta, unevenness=5)
    assert same.error(n, 1) == near(alpha)


def test_the_perceptron_wins_on_dense_tables_and_loses_on_sparse_ones():
    # All cuts of a graph: edges are rows, pairs of nodes are possible records, no pair occurs twice.
    for nodes, density, winner in ((20_000, 0.5, "perceptron"), (10**6, 3e-3, "weights")):
        universe = nodes**2 / 2
        sizes = {"log_universe": ln(universe), "log_queries": 2 * nodes * ln(2), "delta": 1e-9}
        perceptron, weights = iterative_perceptron(**sizes, cell_limit=1), iterative_weights(**sizes)
        edges = int(universe * density)
        errors = {"perceptron": perceptron.error(edges, 100), "weights": weights.error(edges, 100)}
        assert max(errors.values()) < 1
        assert min(errors, key=errors.get) == winner


def test_updates_of_weights():
    assert math.exp(WeightsBound(log_universe=ln(1024)).log_updates(0.1, 7)) == near(400 * ln(1024))


def test_the_data_player_learns():
    bound = DataPlayerBound(log_universe=ln(1024), log_queries=ln(1000))
    # T = 200 ln 1024 = 1386.29, rounded up; n >= 4 T ln(2000 T/0.05)/(0.1 epsilon).
    assert bound.rounds(0.1) == 1387
    assert bound.rows(0.1, 0.5) == math.ceil(4 * 1387 * ln(2000 * 1387 / 0.05) / 0.05)
    rho = float(rho_for(Budget(0.5, 1e-9)))
    delta = DataPlayerBound(log_universe=ln(1024), log_queries=ln(1000), delta=1e-9)
    assert delta.rows(0.1, 0.5) == math.ceil(40 * ln(2000 * 1387 / 0.05) * math.sqrt(1387 / (8 * rho)))


def test_the_data_player_needs_a_64th_of_the_rows_of_the_iterative_construction():
    # An eighth of the rounds, one access instead of two in each, and a half instead of an eighth of alpha for it.
    sizes = {"log_universe": ln(1024), "log_queries": ln(1000)}
    assert iterative_weights(**sizes).rows(0.1, 1) / DataPlayerBound(**sizes).rows(0.1, 1) == near(64, rel=0.15)


def test_the_query_player_learns():
    bound = QueryPlayerBound(log_universe=ln(1024), log_queries=ln(1000))
    # T = 800 ln 2000 = 6080.7, rounded up; s = 800 ln(1024 T/0.05) = 14910.2, rounded up; h = sqrt(2 ln 2000/T).
    assert bound.rounds(0.1) == 6081
    assert bound.draws(0.1) == math.ceil(800 * ln(1024 * 6081 / 0.05))
    step, draws = math.sqrt(2 * ln(2000) / 6081), bound.draws(0.1)
    assert bound.rows(0.1, 0.5) == near(draws * step * 6081 * 6080 / 0.5, rel=1e-9)
    rho = float(rho_for(Budget(0.5, 1e-9)))
    delta = QueryPlayerBound(log_universe=ln(1024), log_queries=ln(1000), delta=1e-9)
    # Draws of round t cost (2 h (t - 1)/n)^2/8 each.
    rows = delta.rows(0.1, 0.5)
    spent = sum((2 * step * past / rows) ** 2 / 8 * draws for past in range(6081))
    assert spent == near(rho, rel=1e-6)


def test_the_query_player_sees_a_large_universe_less():
    def growth(bound):
        small, large = (bound(log_universe=size, log_queries=ln(10), delta=1e-9).rows(0.1, 1) for size in (1e3, 1e5))
        return large / small

    # Rounds grow with ln|X| for the one player, draws for the other; a root of either is paid.
    assert growth(DataPlayerBound) == near(10 * 1.24, rel=0.05)
    assert growth(QueryPlayerBound) == near(10, rel=0.05)


def test_intervals():
    # 32 * 10/(0.5 * 0.001) ln(40/(0.1 * 0.05)) = 640000 ln(8000).
    assert IntervalsBound(bits=10).rows(0.1, 0.5) == math.ceil(640_000 * ln(8000))


def test_a_union_of_three_intervals_is_asked_at_a_third_of_the_accuracy():
    assert IntervalsBound(bits=10, pieces=3).rows(0.3, 1) == IntervalsBound(bits=10).rows(0.3 / 3, 1)


def test_rectangles():
    assert RectanglesBound(bits=(10,)).rows(0.1, 0.5) == IntervalsBound(bits=10).rows(0.1, 0.5)
    # d = 2, alpha = 0.8: 100 pieces, 800 counts, each within 0.4/100.
    assert RectanglesBound(bits=(3, 5)).rows(0.8, 1) == math.ceil(800 / 0.004 * ln(800 / 0.05))


def test_intervals_grow_as_bits_and_the_cube_of_the_accuracy():
    rows = IntervalsBound(bits=16).rows
    assert rows(0.01, 1) / rows(0.02, 1) == near(8, rel=0.1)
    assert IntervalsBound(bits=32).rows(0.1, 1) / rows(0.1, 1) == near(2, rel=0.1)


def test_halfspaces():
    bound = HalfspacesBound(dimensions=2, bits=4, margin=0.8, beta=0.1)
    # g = 0.05: k = 4 ln(160)/(0.0025 - 0.000125) = 8547.7; m = 12 (ln 20 + 8 ln 2) = 102.5; net = (1 + 10/3)^k.
    assert bound.projected(0.1) == 8548
    assert bound.projections() == 103
    assert bound.log_net(0.1) == near(8548 * ln(13 / 3))
    counts = ln(103) + 8548 * ln(13 / 3)
    assert ln(bound.rows(0.1, 1)) == near(ln(20) + counts + ln(counts + ln(20)), rel=1e-9)


def test_halfspaces_in_their_own_dimensions():
    # (1 + 16/3)^3 = 254.04 halfspaces, each within 0.1: 254.04 ln(254.04/0.05)/(0.5 * 0.1).
    bound = HalfspacesBound(dimensions=3, bits=8, margin=0.5, project=False)
    net = (19 / 3) ** 3
    assert bound.rows(0.1, 0.5) == math.ceil(net * ln(net / 0.05) / 0.05)


def test_the_projection_meets_johnson_and_lindenstrauss():
    bound = HalfspacesBound(dimensions=2, bits=4, margin=0.5)
    g = 0.5 / 16
    assert 2 * math.exp(-(g**2 - g**3) * bound.projected(0.2) / 4) <= 0.1 / 4
    assert 2 ** (4 * 2) * math.exp(-bound.projections() / 12) <= 0.025


def test_online_weights():
    # c = 36 ln(e^4)/0.36 = 400, w = ln(2e3) + ln(4*400/0.05): n = 3 * 9 * 400 * w/(0.6 * 0.5).
    bound = online_weights(log_universe=4, log_queries=ln(1000))
    assert bound.hard_answers(0.6, 10) == near(400)
    assert bound.rows(0.6, 0.5) == near(27 * 400 * (ln(2000) + ln(32_000)) / 0.3, abs=1)
    # delta > 0: n = 3 (sqrt(512) + 1) sqrt(400 ln(2/delta)) w/(0.6 * 0.5), ln(2/delta) = 25.
    with_delta = online_weights(log_universe=4, log_queries=ln(1000), delta=2 * math.exp(-25))
    words = ln(2000) + ln(32_000)
    assert with_delta.rows(0.6, 0.5) == near(3 * 23.627417 * 100 * words / 0.3, abs=1)


def test_online_updates():
    assert online_perceptron(log_universe=9, log_queries=3, unevenness=4).hard_answers(0.6, 10) == near(100)
    assert online_median(log_universe=9, log_queries=3).hard_answers(0.6, 10) == near(9 / ln(2) * 3 / 0.04)


def test_online_costs_no_more_than_offline_up_to_constants():
    online = online_weights(log_universe=30, log_queries=ln(1000))
    offline = iterative_weights(log_universe=30, log_queries=ln(1000))
    assert 0.1 < online.error(10**9, 1) / offline.error(10**9, 1) < 10


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_the_game_in_which_both_learn(delta):
    """At its own rounds the three parts of the error sum to alpha, and the draws of all rounds to the budget."""
    bound = BothPlayersBound(log_universe=ln(10_000), log_queries=ln(500), delta=delta)
    alpha, epsilon = 0.1, 1.0
    rows, rounds = bound.rows(alpha, epsilon), bound.rounds(alpha)
    first = math.exp(bound.log_first(alpha, epsilon))
    parts = (
        math.sqrt(ln(10_000) / (2 * rounds)),
        math.sqrt(2 * ln(20) / rounds),
        ln(1000) / (rows * first / 2 * rounds),
    )
    assert sum(parts[:2]) == near(alpha / 2, rel=1e-3) and parts[2] == near(alpha / 2, rel=1e-4)
    draws = first * np.arange(1, rounds + 1)
    if delta == 0:
        assert draws.sum() == near(epsilon)
        assert rows == near(2 * (rounds + 1) * ln(1000) / (epsilon * alpha), rel=1e-4)
    else:
        assert (draws**2 / 8).sum() == near(float(rho_for(Budget(epsilon, delta))))


def test_the_mechanism_in_which_both_learn_has_the_same_error():
    """The mechanism's own figure at the theorem's rounds and rows is within the theorem's alpha."""
    domain = Domain((Integers(name="a", low=0, high=99),))
    bound = BothPlayersBound(log_universe=ln(100), log_queries=ln(100))
    alpha = 0.3
    rows = bound.rows(alpha, 1.0)
    rounds = bound.rounds(alpha)
    game = GameBoth(queries=(Marginals(order=1),), budget=Budget(1), rounds=rounds)
    unit = Unit.row("replace")
    assert game.turns(domain, unit) == rounds
    epsilons = [float(event.epsilon) for event in game.cost(domain, unit).events]
    assert sum(epsilons) == near(1.0) and epsilons[0] == near(math.exp(bound.log_first(alpha, 1.0)), rel=1e-6)
    assert rows == math.ceil(2 * (rounds + 1) * ln(200) / alpha)


def test_two_nets_of_the_same_size():
    """G 5.3.1: queries in the place of records, but for a factor of 4 and the signs."""
    universe, queries, a = ln(10**6), ln(10**4), 0.1
    of_queries = iterative_net(log_universe=universe, log_queries=queries, net_alpha=a).log_net
    of_records = queries / a**2 * universe
    assert of_queries == near(4 * of_records * (queries + ln(2)) / queries, rel=1e-3)


def test_what_multiplicative_weights_end_at_is_a_net():
    """On random tables and classes: no more than 4 ln|X|/a^2 wrong questions in a row, then all are within a."""
    generator = np.random.default_rng()
    for _ in range(20):
        cells, a = 16, 0.3
        table, queries = generator.dirichlet(np.full(cells, 0.2)), generator.random((40, cells))
        weights, updates = np.full(cells, 1 / cells), 0
        while True:
            errors = queries @ (table - weights)
            worst = int(np.abs(errors).argmax())
            if abs(errors[worst]) <= a:
                break
            weights = weights * np.exp(np.sign(errors[worst]) * a / 2 * queries[worst])
            weights, updates = weights / weights.sum(), updates + 1
        assert updates <= 4 * ln(cells) / a**2
