"""Running times are rough figures for people: finite, positive, and larger where there is more to do."""

import math

import pytest

from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.games.game_data import GameData
from core.mechanisms.halfspaces.halfspace_projections import HalfspaceProjections
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.kit.run_time import scoring
from core.mechanisms.ranges.interval_search import IntervalSearch
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from tests.privacy.kit.cases import CASES, DOMAIN

BUDGET, ROW = Budget(1, 1e-6), Unit.row()
PAIRS, ONE, PLANES = (Marginals(order=2),), (Intervals(column="a"),), (Halfspaces(columns=("a", "b")),)


def grid(size: int) -> Domain:
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name in "abcd"))


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_every_mechanism_knows_roughly_how_long_it_takes(mechanism, unit):
    seconds = mechanism.seconds(DOMAIN, unit)
    assert isinstance(seconds, float)
    assert math.isfinite(seconds)
    assert 0 < seconds < 60, "the micro schema is quick for every mechanism"


@pytest.mark.parametrize(
    ("kind", "queries", "options"),
    [
        (NoisyHistogram, PAIRS, {}),
        (IterativeWeights, PAIRS, {"rounds": 10}),
        (GameData, PAIRS, {"rounds": 10}),
        (SmallDb, PAIRS, {"method": "net"}),
        (Net, PAIRS, {"net": "random"}),
        (IterativeMedian, PAIRS, {}),
        (HalfspaceProjections, PLANES, {}),
        (GaussianTables, PAIRS, {}),
    ],
)
def test_finer_columns_take_longer(kind, queries, options):
    mechanism = kind(queries=queries, budget=BUDGET, **options)
    assert mechanism.seconds(grid(24), ROW) > mechanism.seconds(grid(4), ROW)


@pytest.mark.parametrize(
    ("kind", "queries", "few", "many"),
    [
        (IterativeWeights, PAIRS, {"rounds": 5}, {"rounds": 50}),
        (IterativeWeights, PAIRS, {"replay": 0}, {"replay": 10}),
        (IterativeMedian, PAIRS, {"members": 10}, {"members": 1000}),
        (GameData, PAIRS, {"rounds": 5}, {"rounds": 50}),
        (SmallDb, PAIRS, {"method": "net", "members": 10}, {"method": "net", "members": 5000}),
        (SmallDb, PAIRS, {"method": "search", "rounds": 2}, {"method": "search", "rounds": 100}),
        (Net, PAIRS, {"net": "random", "members": 10}, {"net": "random", "members": 5000}),
        (IntervalSearch, ONE, {"accuracy": 0.5}, {"accuracy": 0.01}),
        (HalfspaceProjections, PLANES, {"projections": 2}, {"projections": 64}),
    ],
)
def test_more_work_takes_longer(kind, queries, few, many):
    domain = grid(8)
    quick, slow = (kind(queries=queries, budget=BUDGET, **options).seconds(domain, ROW) for options in (few, many))
    assert slow > quick


def test_a_game_about_planes_takes_its_time_for_the_points():
    """200 rounds over a million points were seen to take half a minute; some tenths of a second were told once."""
    fine = Domain(tuple(Integers(name=name, low=0, high=999) for name in "ab"))
    few, many = (
        GameData(queries=(Halfspaces(columns=("a", "b"), directions=count),), budget=BUDGET) for count in (16, 64)
    )
    assert 10 < few.seconds(fine, ROW) < 100
    assert many.seconds(fine, ROW) > 1.3 * few.seconds(fine, ROW)


def test_answers_cost_what_their_tables_and_members_do():
    domain = grid(8)
    assert scoring(PAIRS, domain) > scoring((Marginals(order=1),), domain) > 0
    assert scoring((*PAIRS, *ONE), domain) == pytest.approx(scoring(PAIRS, domain) + scoring(ONE, domain))
