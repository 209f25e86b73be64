"""Promises are made about the very parameters that run, or not at all."""

import math

import numpy as np
import pytest

from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.kit.proven import Proven
from core.mechanisms.ranges.interval_search import IntervalSearch
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.mechanisms.tree.tree import Tree
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.registry import offline
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from core.theory import BothPlayersBound, bounds
from tests.kernels import run

DOMAIN = Domain((Integers(name="x", low=0, high=15), Booleans(name="y")))
TINY = Domain((Booleans(name="x"), Booleans(name="y")))
ROW, KNOWN = Unit.row(), Unit.row(neighbours="replace")
PURE = Budget(1)
MANY = 10**9


def test_only_mechanisms_with_a_theorem_promise_something():
    proven = {name for name, kind in offline.items() if issubclass(kind, Proven)}
    assert proven <= bounds.keys()
    assert not isinstance(Tree(queries=(Marginals(),), budget=PURE), Proven)


@pytest.mark.parametrize("kind", [LaplaceTables, GaussianTables])
def test_noisy_tables_that_are_made_to_agree_carry_no_theorem(kind):
    """The theorem is about noise on every answer; the release mixes noisy tables with records fitted to them."""
    assert not isinstance(kind(queries=(Marginals(order=2),), budget=Budget(1, 1e-9)), Proven)


@pytest.mark.parametrize("kind", [IterativeWeights, IterativePerceptron, IterativeMedian])
def test_the_theorem_variant_promises_its_accuracy_or_nothing(kind):
    def promise(unit=KNOWN, rows=MANY, **options):
        return kind(queries=(Marginals(order=1),), budget=PURE, **options).promise(TINY, unit, rows)

    assert promise(variant="theorem", accuracy=0.5) == 0.5 * MANY
    assert promise(variant="theorem", accuracy=0.5, rows=10) is None
    assert promise(variant="theorem", accuracy=0.5, unit=ROW) is None, "the proof takes the rows as known"
    assert promise(variant="theorem", accuracy=0.5, selection=0.3) is None, "the proof splits in halves"
    assert promise() is None, "the tuned variant has no theorem"


def test_a_net_of_ones_own_size_carries_no_theorem():
    options = {"variant": "theorem", "accuracy": 0.5, "size": 3}
    assert IterativeMedian(queries=(Marginals(order=1),), budget=PURE, **options).promise(TINY, KNOWN, MANY) is None


def test_the_search_promises_from_its_own_proof():
    search = IntervalSearch(queries=(Intervals(column="x"),), budget=PURE)
    needed = search.required_rows(DOMAIN, ROW)
    assert search.promise(DOMAIN, ROW, needed) == 0.1 * needed
    assert search.promise(DOMAIN, ROW, needed - 1) is None
    equal = IntervalSearch(queries=(Intervals(column="x"),), budget=PURE, mass="equal")
    assert equal.promise(DOMAIN, ROW, MANY) is None, "proven for noisy masses only"
    loose = IntervalSearch(queries=(Intervals(column="x"),), budget=PURE, beta=0.2)
    assert loose.promise(DOMAIN, ROW, MANY) is None, "its own failure is above 5 %"


@pytest.mark.parametrize("kind", [SmallDb, SmallDbLinear, Net])
def test_small_databases_promise_where_all_are_compared(kind):
    listed = kind(queries=(Marginals(order=1),), budget=PURE, rows=8)
    assert 0 < listed.promise(TINY, ROW, 10**6) < 10**6
    assert listed.promise(TINY, ROW, 3) is None, "more than the whole table"
    some = {"net": "random"} if kind is Net else {"method": "net"}
    assert kind(queries=(Marginals(order=1),), budget=PURE, rows=8, **some).promise(TINY, ROW, 10**6) is None


@pytest.mark.parametrize("kind", [GameData, GameBoth])
def test_a_learning_data_player_promises_at_the_rate_of_the_proof(kind):
    game = kind(queries=(Marginals(order=1),), budget=PURE, rounds=50)
    assert 0 < game.promise(TINY, ROW, 10**6) < 10**6
    assert kind(queries=(Marginals(order=1),), budget=PURE, rounds=50, rate=2.0).promise(TINY, ROW, 10**6) is None


def test_both_players_promise_what_their_theorem_does():
    """Rounds and rows of the theorem at alpha 0.9: what runs then is promised within it."""
    theorem = BothPlayersBound(log_universe=math.log(4), log_queries=math.log(4), beta=0.025)
    rows, rounds = theorem.rows(0.9, 1), theorem.rounds(0.9)
    game = GameBoth(queries=(Marginals(order=1),), budget=PURE, rounds=rounds)
    assert 0.7 * rows < game.promise(TINY, KNOWN, rows) <= 0.9 * rows
    assert game.promise(TINY, KNOWN, rows // 9) is None


@pytest.mark.parametrize("kind", [SmallDb, GameData, GameBoth, IntervalSearch])
def test_promises_are_kept(kind):
    """One run of each; a promise may fail in 1 of 20, and these are far from tight."""
    rows = 2_000_000
    cells = np.array([0.4, 0.3, 0.2, 0.1]) * rows
    queries = (Intervals(column="n"),) if kind is IntervalSearch else (Marginals(order=1),)
    domain = Domain((Integers(name="n", low=0, high=3),))
    counts = Cells(domain, cells.astype(np.int64), ROW)
    mechanism = kind(queries=queries, budget=Budget(4))
    promised = mechanism.promise(domain, ROW, rows)
    assert promised is not None
    assert max(query.worst(counts, run(mechanism, counts)) for query in queries) * rows <= promised
