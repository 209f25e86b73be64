"""The game whose moves are databases: it pays for every look, learns, and serves statistics that are not linear."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.games.game_databases import GameDatabases
from core.mechanisms.games.strategies import Strategies
from core.models.nets.public_net import everything
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.samples import SMALL, small_counts
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
FULLEST = Lipschitz(columns=("colour", "size"), statistics=(("largest",), ("top", 3), ("difference", (0, 1), (5, 6))))
MIXED = (FULLEST, Marginals(order=1), Linear(columns=("old",), weights=((1, 4), (3, 0)), whole=4))
MICRO = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
TOPS = Lipschitz(columns=("a", "b"), statistics=(("largest",), ("top", 2)))
KNOWN = Unit.row("replace")


def game(queries=(FULLEST,), budget=BUDGETS[0], **options) -> GameDatabases:
    """A small net and few rounds keep many runs fast and change nothing that is checked."""
    return GameDatabases(queries=queries, budget=budget, **{"members": 60, "rounds": 4, **options})


def neighbours(unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    cells = generator.integers(0, 4, 24) * (generator.random(24) < 0.5)
    first, second = (np.bincount(np.repeat(generator.integers(0, 24), unit.limit), minlength=24) for _ in range(2))
    other = second if unit.neighbours == "replace" else 0
    return Cells(SMALL, cells + first, unit), Cells(SMALL, cells + other, unit)


def both_runs(mechanism, first: Cells, second: Cells, seed: int):
    """All steps on two tables, the second one given the answers of the first; what is released must then be equal."""
    recorded = Recorder(seed)
    one = run(mechanism, first, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = run(mechanism, second, replayed)
    assert len(recorded.calls) == len(replayed.calls) > 0
    np.testing.assert_array_equal(one.shares, two.shares)
    np.testing.assert_array_equal(one.members, two.members)
    assert one.total == two.total
    return list(zip(recorded.calls, replayed.calls, strict=True))


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "approximate"])
@pytest.mark.parametrize("queries", [(FULLEST,), MIXED], ids=["nonlinear", "mixed"])
def test_neighbours_get_the_same_steps_within_the_declared_sensitivity(queries, budget, unit):
    generator, reached = np.random.default_rng(4), 0.0
    for seed in range(12):
        for before, after in both_runs(game(queries, budget), *neighbours(unit, generator), seed):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            if before.kind == "select":
                reached = max(reached, before.distance(after) / before.sensitivity)
    assert reached > 0.5, "a choice looks at the table"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "approximate"])
def test_the_cost_is_what_is_asked_and_uses_the_budget(budget, unit):
    mechanism = game(MIXED, budget, rounds=0)
    recorder = Recorder(0)
    run(mechanism, neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared = mechanism.cost(SMALL, unit)
    assert sorted(map(repr, declared.events)) == sorted(map(repr, recorder.cost().events))
    assert 0.95 <= part_of(budget, declared) <= 1


@pytest.mark.exhaustive
def test_the_whole_run_is_exactly_private_on_a_micro_domain():
    """All tables of up to four rows on four cells with one row more; losses over all outcomes, added up."""
    mechanism = GameDatabases(queries=(TOPS,), budget=Budget(1), rounds=2, net="all", size=3)
    listed = (rows for size in range(5) for rows in combinations_with_replacement(range(4), size))
    largest = 0.0
    for seed, rows in enumerate(listed):
        table = np.bincount(rows, minlength=4)
        for row in np.eye(4, dtype=int):
            steps = both_runs(mechanism, Cells(MICRO, table), Cells(MICRO, table + row), seed)
            largest = max(largest, sum(before.loss(after) for before, after in steps))
    assert 0.5 < largest <= 1 + 1e-9


@pytest.mark.exhaustive
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_it_learns_statistics_that_are_not_linear(delta):
    counts = small_counts(20_000)
    truth = FULLEST.answers(counts)
    errors = [
        FULLEST.answers(run(game(budget=Budget(2, delta), members=1_000, rounds=0), counts)) - truth for _ in "123"
    ]
    assert np.median(np.abs(errors).max(axis=1)) < 0.08
    blind = FULLEST.answers(run(game(budget=Budget(2, delta), members=1_000, rounds=1, rate=1e-9), counts))
    assert np.abs(blind - truth).max() > 0.1, "the uniform mixture over the net is far off"


def test_a_database_pays_its_distance_from_what_was_measured():
    """Rows 4: the largest cell of the four databases of three rows in two cells is 3, 2, 2, 3 thirds of them."""
    line = Domain((Integers(name="a", low=0, high=1),))
    query = Lipschitz(columns=("a",), statistics=(("largest",), ("difference", (0,), (1,))))
    strategies = Strategies((query, Marginals(order=1)), line, everything(2, 3), 4.0)
    thirds = np.array([3, 2, 2, 3]) / 3
    np.testing.assert_allclose(strategies.costs(0, 2 * 3.0), np.abs(thirds - 0.75))
    np.testing.assert_allclose(strategies.costs(0, 2 * 30.0), 1 - thirds, err_msg="no more than all rows")
    np.testing.assert_allclose(strategies.costs(2, 1.0), np.abs(np.array([3, 2, 1, 0]) / 3 - 0.25))
    assert strategies.question(1).index == 1 and strategies.question(3).columns == ("a",)
    assert strategies.errors(np.array([1.0, 0.0, 0.0, 0.0])).weight == 2**24


def test_the_mixture_without_noise_is_nearly_the_best_strategy():
    """Definition 5.7: with a huge budget the worst question costs little more than the nearest database pays."""
    counts = Cells(MICRO, np.array([500, 300, 150, 50]), KNOWN)
    mechanism = GameDatabases(queries=(TOPS,), budget=Budget(1_000), rounds=400, net="all", size=10, rate=0.0)
    model = run(mechanism, counts)
    answers = Strategies((TOPS,), MICRO, model.members, 1_000.0)._answers
    costs = model.shares @ np.abs(answers - TOPS.totals(counts)) / 1_000
    regret = math.sqrt(math.log(len(model.members)) / (2 * 400))
    assert costs.max() < regret + 0.05


def test_promises_follow_the_rate_of_the_proof_and_the_whole_net():
    options = {"net": "all", "size": 10, "rounds": 100}
    proven = GameDatabases(queries=(TOPS,), budget=Budget(1), rate=0.0, **options)
    rows = 10**6
    assert 0.1 * rows < proven.promise(MICRO, Unit.row(), rows) < 0.4 * rows
    assert proven.promise(MICRO, Unit.row(), 1_000) is None, "more than the whole table"
    assert GameDatabases(queries=(TOPS,), budget=Budget(1), **options).promise(MICRO, KNOWN, rows) is None
    some = GameDatabases(queries=(TOPS,), budget=Budget(1), rate=0.0, net="random")
    assert some.promise(MICRO, KNOWN, rows) is None
    counts = Cells(MICRO, np.array([400_000, 300_000, 200_000, 100_000]))
    for _ in range(3):
        assert TOPS.worst(counts, run(proven, counts)) * rows <= proven.promise(MICRO, Unit.row(), rows)


def test_small_schemas_get_all_databases_and_others_random_ones():
    assert game().databases(MICRO).complete and game().databases(MICRO).rows == 37
    assert not game().databases(SMALL).complete
    assert game(size=5).databases(SMALL).rows == 5


def test_what_cannot_be_played_is_refused():
    with pytest.raises(Refused, match=r"475,020 databases of 6 rows.*random net"):
        game(net="all", size=6).check(SMALL, Unit.row())
    with pytest.raises(Refused, match=r"10,000 databases of 9,999 rows.*smaller size"):
        game((Marginals(order=1),), net="all", size=9_999).check(Domain((MICRO["a"],)), Unit.row())
    with pytest.raises(Refused, match="4,194,304 answers"):
        wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=31) for place in range(2)))
        game((Marginals(order=2),), members=10_000).check(wide, Unit.row())
    with pytest.raises(Refused, match=r"2\^62"):
        huge = Domain(tuple(Integers(name=f"c{place}", low=0, high=2**16 - 1) for place in range(4)))
        game((Marginals(order=1),)).check(huge, Unit.row())
    with pytest.raises(BadParameter):
        game(rate=-1.0)
