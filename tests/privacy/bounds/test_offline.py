"""The theorems about releases: small databases, nets, games and updates in rounds."""

from __future__ import annotations

import math

import pytest

from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.games.game_databases import GameDatabases
from core.mechanisms.games.game_query import GameQuery
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells
from core.theory import (
    BothPlayersBound,
    DatabasePlayerBound,
    DataPlayerBound,
    IterativeBound,
    QueryPlayerBound,
    iterative_perceptron,
    iterative_weights,
)
from core.theory import NetBound as NetBound
from core.theory import SmallDbBound as SmallDbBound
from core.theory import SmallDbLinearBound as SmallDbLinearBound
from core.theory.iterative import ExponentialDistinguisher, Median
from tests.privacy.bounds.failing import ONE_WAY, PAIR, PUBLIC, RUNS, SIZES, TABLES, failures, spread, surely_above


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
def test_smalldb(weights):
    counts = Cells(PAIR, spread(SmallDbBound(**SIZES).rows(0.3, 1), weights), PUBLIC)
    mechanism = SmallDb(queries=(ONE_WAY,), budget=Budget(1), accuracy=0.15, method="enumerate")
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.3), RUNS, 0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
def test_smalldb_for_linear_queries(weights):
    """The number of rows is private here."""
    counts = Cells(PAIR, spread(SmallDbLinearBound(**SIZES).rows(0.3, 1), weights), Unit.row())
    mechanism = SmallDbLinear(queries=(ONE_WAY,), budget=Budget(1), accuracy=0.15, method="enumerate")
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.3), RUNS, 0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
def test_net(weights):
    """All tables of 12 rows: a 2 x 2 table can be rounded to twelfths so that no margin moves by more than 1/12."""
    bound = NetBound(log_net=math.log(math.comb(15, 3)), net_alpha=1 / 12, beta=0.2)
    counts = Cells(PAIR, spread(bound.rows(0.15, 1), weights), PUBLIC)
    mechanism = Net(queries=(ONE_WAY,), budget=Budget(1), net="all", rows=12)
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.15), RUNS, 0.2)
    crowd = Cells(PAIR, spread(10, weights), PUBLIC)
    assert surely_above(failures(mechanism, crowd, ONE_WAY, 0.15), RUNS, 0.2), "10 are too few"


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("weights", TABLES)
def test_iterative_median(weights):
    mechanism = IterativeMedian(queries=(ONE_WAY,), budget=Budget(1), variant="theorem", accuracy=0.6)
    tables = math.comb(SmallDbLinearBound(**SIZES).size(0.6) + 3, 3)
    chooser = ExponentialDistinguisher(log_queries=math.log(4))
    bound = IterativeBound(update=Median(log_net=math.log(tables)), distinguisher=chooser, beta=0.2)
    counts = Cells(PAIR, spread(bound.rows(0.6, 1), weights), PUBLIC)
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.6), RUNS, 0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_game_with_a_learning_data_player(weights, delta):
    bound = DataPlayerBound(**SIZES, delta=delta)
    counts = Cells(PAIR, spread(bound.rows(0.4, 1), weights), PUBLIC)
    mechanism = GameData(queries=(ONE_WAY,), budget=Budget(1, delta), rounds=bound.rounds(0.4))
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.4), RUNS, 0.2)


@pytest.mark.exhaustive
def test_game_with_a_learning_query_player():
    """Fewer runs than of others: each makes over a thousand draws."""
    runs = 60
    bound = QueryPlayerBound(**SIZES)
    counts = Cells(PAIR, spread(bound.rows(0.9, 1), TABLES[1]), PUBLIC)
    turns = {"rounds": bound.rounds(0.9), "samples": bound.draws(0.9)}
    mechanism = GameQuery(queries=(ONE_WAY,), budget=Budget(1), **turns)
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.9, runs), runs, 0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_game_with_two_learning_players(weights, delta):
    bound = BothPlayersBound(**SIZES, delta=delta)
    counts = Cells(PAIR, spread(bound.rows(0.8, 1), weights), PUBLIC)
    mechanism = GameBoth(queries=(ONE_WAY,), budget=Budget(1, delta), rounds=bound.rounds(0.8))
    assert not surely_above(failures(mechanism, counts, ONE_WAY, 0.8, 60), 60, 0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", TABLES)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_game_over_databases(weights, delta):
    """Statistics that are not linear, over all databases of ten rows: one is within 4/40 of any table of four cells."""
    query = Lipschitz(columns=PAIR.names, statistics=(("largest",), ("top", 2), ("difference", (0,), (1, 2))))
    sizes = {"log_net": math.log(math.comb(13, 3)), "log_queries": math.log(3), "net_alpha": 0.1}
    bound = DatabasePlayerBound(**sizes, delta=delta, beta=0.2)
    counts = Cells(PAIR, spread(bound.rows(0.6, 1), weights), PUBLIC)
    game = {"net": "all", "size": 10, "rate": 0.0, "rounds": bound.rounds(0.6)}
    mechanism = GameDatabases(queries=(query,), budget=Budget(1, delta), **game)
    assert not surely_above(failures(mechanism, counts, query, 0.6, 60), 60, 0.2)


BITS = Domain((Booleans(name="a"), Booleans(name="b"), Booleans(name="c")))
ONE_CELL = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
UNEVEN = [0.05, 0.3, 0.0, 0.1, 0.2, 0.05, 0.0, 0.3]


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", [ONE_CELL, UNEVEN])
def test_iterative_weights(weights):
    query = Marginals(order=2)
    bound = iterative_weights(log_universe=math.log(8), log_queries=query.log_size(BITS), beta=0.2)
    counts = Cells(BITS, spread(bound.rows(0.6, 1), weights), PUBLIC)
    mechanism = IterativeWeights(queries=(query,), budget=Budget(1), variant="theorem", accuracy=0.6)
    assert not surely_above(failures(mechanism, counts, query, 0.6), RUNS, 0.2)


@pytest.mark.exhaustive
def test_iterative_perceptron():
    query = Marginals(order=2)
    mechanism = IterativePerceptron(queries=(query,), budget=Budget(1), variant="theorem", accuracy=0.6)
    bound = iterative_perceptron(
        log_universe=math.log(8), log_queries=query.log_size(BITS), beta=0.2, unevenness=mechanism.unevenness
    )
    counts = Cells(BITS, spread(bound.rows(0.6, 1), UNEVEN), PUBLIC)
    assert not surely_above(failures(mechanism, counts, query, 0.6), RUNS, 0.2)
