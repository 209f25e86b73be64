"""Every accuracy theorem at its own parameters: the share of runs that miss the promised error stays under beta.

Tables are as small as the theorem allows (`bound.rows`) and are given as counts, so many rows cost nothing. A theorem
fails here when 200 runs are not plausible under beta: when even the lower end of the Clopper-Pearson interval at 1e-3
lies above it. Where a theorem is tight, a smaller promise is shown to be broken, so that the test can fail.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.kernel.query import Query
from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.games.game_databases import GameDatabases
from core.mechanisms.games.game_query import GameQuery
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.median.median_basic import MedianBasic
from core.mechanisms.median.median_walk import MedianWalk
from core.mechanisms.online.online_median import OnlineMedian
from core.mechanisms.online.online_perceptron import OnlinePerceptron
from core.mechanisms.online.online_weights import OnlineWeights
from core.mechanisms.ranges.interval_search import IntervalSearch
from core.mechanisms.ranges.rectangle_search import RectangleSearch
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from core.theory import (
    BothPlayersBound,
    DatabasePlayerBound,
    DataPlayerBound,
    ExponentialBound,
    GaussianBound,
    IterativeBound,
    LaplaceBound,
    QueryPlayerBound,
    iterative_perceptron,
    iterative_weights,
    online_median,
    online_perceptron,
    online_weights,
)
from core.theory import HalfspacesBound as HalfspacesBound
from core.theory import IntervalsBound as IntervalsBound
from core.theory import NetBound as NetBound
from core.theory import RectanglesBound as RectanglesBound
from core.theory import SmallDbBound as SmallDbBound
from core.theory import SmallDbLinearBound as SmallDbLinearBound
from core.theory.iterative import ExponentialDistinguisher, Median
from core.theory.median import MedianBound as MedianBasicBound
from core.theory.median import MedianWalkBound as MedianWalkBound
from tests.kernels import answered, opened, run
from tests.privacy.kit.audit import Blocks

RUNS = 200
NOISE = Noise()
PUBLIC = Unit.row("replace")
"""The papers know n; then neighbours replace a row."""


def surely_above(failures: int, runs: int, beta: float) -> bool:
    """Whether so many failures are implausible for a failure probability of beta."""
    return failures > 0 and float(stats.beta.ppf(1e-3, failures, runs - failures + 1)) > beta


def as_fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(10**9)


def laplace_failures(bound: LaplaceBound, epsilon: float, slack: float) -> int:
    """Runs in which some of the noise exceeds `slack` rows; integer noise is allowed half a row more."""
    share = as_fraction(math.exp(bound.log_share(epsilon)))
    drawn = NOISE.laplace(np.zeros((RUNS, queries_of(bound)), dtype=np.int64), epsilon=share, sensitivity=1)
    return int((np.abs(drawn).max(axis=1) > slack + 0.5).sum())


def queries_of(bound: LaplaceBound | GaussianBound) -> int:
    return round(math.exp(bound.log_queries))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("queries", [20, 400])
def test_laplace(queries, delta):
    bound = LaplaceBound(log_queries=math.log(queries), beta=0.2, delta=delta)
    rows = bound.rows(0.05, 0.5)
    assert not surely_above(laplace_failures(bound, 0.5, 0.05 * rows), RUNS, 0.2)
    assert surely_above(laplace_failures(bound, 0.5, 0.05 * rows * 0.4), RUNS, 0.2), "the theorem is tight"


@pytest.mark.parametrize("queries", [20, 400])
def test_gaussian(queries):
    bound = GaussianBound(log_queries=math.log(queries), beta=0.2, delta=1e-6)
    slack = 0.05 * bound.rows(0.05, 0.5)
    zeros = np.zeros((RUNS, queries), dtype=np.int64)
    rho = rho_for(Budget(0.5, 1e-6))
    worst = np.abs(NOISE.gaussian(zeros, rho=rho, sensitivity_squared=queries)).max(axis=1)
    assert not surely_above(int((worst > slack + 1).sum()), RUNS, 0.2)
    assert surely_above(int((worst > 0.6 * slack).sum()), RUNS, 0.2), "the theorem is nearly tight"


@pytest.mark.exhaustive
@pytest.mark.parametrize("candidates", [3, 100, 5000])
def test_exponential_mechanism(candidates):
    """One good candidate, and all others just worse than the theorem allows: the case it is tight for."""
    bound = ExponentialBound(log_candidates=math.log(candidates), beta=0.2)
    slack = 0.05 * bound.rows(0.05, 0.5)

    def failures(loss: int) -> int:
        scores = np.full(candidates, -loss, dtype=np.int64)
        scores[candidates // 2] = 0
        return sum(NOISE.select(scores, epsilon=Fraction(1, 2), sensitivity=1) != candidates // 2 for _ in range(RUNS))

    assert not surely_above(failures(math.floor(slack) + 1), RUNS, 0.2)
    assert surely_above(failures(math.floor(slack / 4)), RUNS, 0.2), "the theorem is tight"


def spread(rows: int, weights: list[float]) -> np.ndarray:
    """So many rows in about these proportions."""
    edges = np.rint(rows * np.cumsum([0.0, *weights]) / sum(weights)).astype(np.int64)
    return np.diff(edges)


def failures(mechanism, counts: Cells, query, alpha: float, runs: int = RUNS) -> int:
    """Runs of a mechanism whose worst answer misses the truth by more than alpha."""
    return sum(query.worst(counts, run(mechanism, counts, NOISE)) > alpha for _ in range(runs))


PAIR = Domain((Booleans(name="a"), Booleans(name="b")))
ONE_WAY = Marginals(order=1)
SIZES = {"log_universe": math.log(4), "log_queries": math.log(4), "beta": 0.2}
TABLES = [[1.0, 0.0, 0.0, 0.0], [0.6, 0.25, 0.05, 0.1]]


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


def asked_of(domain: Domain, count: int, generator: np.random.Generator) -> list[Query]:
    """Questions about random sets of cells."""
    weights = generator.integers(0, 2, (count, *domain.shape()))
    return [Query(columns=domain.names, weights=each) for each in weights]


def session_failures(mechanism, counts: Cells, alpha: float, runs: int = RUNS) -> tuple[int, set[str]]:
    """Sessions with an answer that misses by more than alpha, and the kinds of answers that were given."""
    failed, kinds, noise = 0, set(), Blocks()
    for _ in range(runs):
        asked = asked_of(counts.domain, mechanism.questions, NOISE.generator())
        state, worst = opened(mechanism, counts, noise), 0.0
        for question in asked:
            state, reply = answered(mechanism, state, question, counts, noise)
            worst = max(worst, abs(reply.count - int(question.total(counts))))
            kinds.add(reply.kind)
        failed += worst > alpha * counts.cells.sum()
    return failed, kinds


ONLINE = {
    "weights": (OnlineWeights, online_weights, 0.4, 30, {}),
    "perceptron": (OnlinePerceptron, online_perceptron, 0.6, 30, {"unevenness": 4.0}),
    "median": (OnlineMedian, online_median, 0.9, 10, {}),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("name", ONLINE)
def test_online(name, delta):
    """All rows in one cell, which a uniform hypothesis is most wrong about."""
    kind, bound_of, alpha, questions, options = ONLINE[name]
    sizes = {"log_universe": math.log(4), "log_queries": math.log(questions), "beta": 0.2}
    bound = bound_of(**sizes, delta=delta, **options)
    rows = bound.rows(alpha, 1.0)
    plan = {"alpha": alpha, "questions": questions, "rows": rows, "variant": "theorem"}
    mechanism = kind(budget=Budget(1, delta), **plan, **options)
    if name != "median":  # the net of all small tables is a little smaller than the theorem counts it
        assert mechanism.hard_answers(PAIR, PUBLIC) == math.ceil(bound.hard_answers(alpha, rows))
    failed, kinds = session_failures(mechanism, Cells(PAIR, spread(rows, TABLES[0]), PUBLIC), alpha)
    assert not surely_above(failed, RUNS, 0.2)
    assert "hard" in kinds and "unchecked" not in kinds
    crowd = Cells(PAIR, spread(20, TABLES[0]), PUBLIC)
    assert surely_above(session_failures(mechanism, crowd, alpha, 40)[0], 40, 0.2), "20 rows are too few"


TWO = Domain((Booleans(name="x"),))


def median_failures(mechanism, rows: int, runs: int, alpha: float = 0.9) -> int:
    """Sessions of two questions; a session that has not asked anything is public, so all start from the same one."""
    counts, noise = Cells(TWO, spread(rows, [0.8, 0.2]), PUBLIC), Blocks()
    start, failed = opened(mechanism, counts, noise), 0
    for _ in range(runs):
        state, worst = start, 0.0
        for weights in ([0, 1], [1, 0]):
            question = Query(columns=("x",), weights=np.array(weights))
            state, reply = answered(mechanism, state, question, counts, noise)
            worst = max(worst, abs(reply.count - int(question.total(counts))))
        failed += worst > alpha * rows
    return failed


def thesis_of(kind, bound) -> tuple[Any, int]:
    theorem = bound(log_universe=math.log(2), log_queries=math.log(2), beta=0.2)
    mechanism = kind(budget=Budget(100), constants="thesis", alpha=0.9, questions=2)
    return mechanism, theorem.rows(0.9, 100)


@pytest.mark.exhaustive
def test_median_over_a_net():
    mechanism, rows = thesis_of(MedianBasic, MedianBasicBound)
    assert not surely_above(median_failures(mechanism, rows, RUNS), RUNS, 0.2)
    assert not surely_above(median_failures(mechanism, rows, 40, 0.2), 40, 0.2), "the theorem leaves much to spare"
    assert surely_above(median_failures(mechanism, rows // 100, 40, 0.2), 40, 0.2), "a hundredth of the rows is too few"


@pytest.mark.slow
def test_median_of_a_walk():
    mechanism, rows = thesis_of(MedianWalk, MedianWalkBound)
    assert not surely_above(median_failures(mechanism, rows, RUNS), RUNS, 0.2)


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


COLUMN = Domain((Integers(name="x", low=0, high=15),))
PLANE = Domain((Integers(name="x", low=0, high=7), Integers(name="y", low=0, high=7)))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("shape", ["slope", "one value"])
def test_interval_search(shape):
    place = np.arange(16.0)
    weights = {"slope": place, "one value": 1.0 * (place == 9)}[shape]
    query = Intervals(column="x")
    rows = IntervalsBound(bits=4, beta=0.2).rows(0.4, 1)
    counts = Cells(COLUMN, spread(rows, list(weights)), PUBLIC)
    mechanism = IntervalSearch(queries=(query,), budget=Budget(1), accuracy=0.4, beta=0.2)
    assert not surely_above(failures(mechanism, counts, query, 0.4), RUNS, 0.2)


@pytest.mark.exhaustive
def test_rectangle_search():
    x, y = np.mgrid[0:8, 0:8]
    weights = 2.0 ** -(x + y)
    query = Rectangles(columns=("x", "y"))
    rows = RectanglesBound(bits=(3, 3), beta=0.2).rows(0.5, 1)
    counts = Cells(PLANE, spread(rows, list(weights.ravel())), PUBLIC)
    mechanism = RectangleSearch(queries=(query,), budget=Budget(1), accuracy=0.5)
    assert not surely_above(failures(mechanism, counts, query, 0.5), RUNS, 0.2)


@pytest.mark.exhaustive
def test_halfspace_projections():
    """The theorem's rows are out of reach, its k is not: distances to a halfspace survive projection (theorem 6.4)."""
    alpha, margin = 0.8, 0.8
    dimension = HalfspacesBound(dimensions=8, bits=4, margin=margin).projected(alpha)
    public = NOISE.generator()
    normals, points = public.normal(size=(2, RUNS, 1, 8))
    signs = public.choice(np.array([-1, 1], dtype=np.float32), (RUNS, 8, dimension))

    def mistakes(matrices: np.ndarray) -> int:
        """Distances that change by a quarter of the margin; the theorem allows alpha/8 of them."""
        moved = np.abs(cosine(normals @ matrices, points @ matrices) - cosine(normals, points))
        return int((moved >= margin / 4).sum())

    assert not surely_above(mistakes(signs), RUNS, alpha / 8)
    assert surely_above(mistakes(signs[:, :, :4]), RUNS, alpha / 8), "four dimensions are too few"


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What B calls the distance of a point and a halfspace, as a length along the last axis."""
    product = (first * second).sum(axis=-1)
    return np.abs(product) / np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))


def test_the_test_can_tell():
    assert not surely_above(0, RUNS, 0.2)
    assert not surely_above(40, RUNS, 0.2)
    assert surely_above(80, RUNS, 0.2)
