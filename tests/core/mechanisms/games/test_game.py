"""What all three games must do: pay for every look, fit the budget, refuse what cannot be played, and learn."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.games.game_query import GameQuery
from core.models.dense import Dense
from core.models.histogram import Histogram
from core.privacy.budget import Budget
from core.privacy.events import Laplace, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.samples import SMALL, small_counts
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

GAMES = (GameData, GameQuery, GameBoth)
BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
CLASSES = (
    (Marginals(order=2),),
    (Marginals(order=1), Linear(columns=("old",), weights=((1, 4), (3, 0)), whole=4)),
    (Intervals(column="size"),),
)
FACTS = Domain(tuple(Booleans(name=f"fact{number}") for number in range(6)))


def games(**options):
    for kind in GAMES:
        for budget in BUDGETS:
            for number, queries in enumerate(CLASSES):
                label = f"{kind.name}-{'pure' if budget.pure else 'approximate'}-{number}"
                yield pytest.param(kind(queries=queries, budget=budget, **options), id=label)


def unit_rows(unit: Unit, generator: np.random.Generator) -> np.ndarray:
    """Up to the limit of rows; half of the time as many as allowed, all in one cell."""
    if generator.random() < 0.5:
        return np.bincount(generator.integers(0, 24, 1), minlength=24) * unit.limit
    return np.bincount(generator.integers(0, 24, generator.integers(1, unit.limit + 1)), minlength=24)


def neighbours(unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    shared = generator.integers(0, 3, 24)
    first = np.zeros(24, dtype=int) if unit.neighbours == "add-remove" else unit_rows(unit, generator)
    return Cells(SMALL, shared + first, unit), Cells(SMALL, shared + unit_rows(unit, generator), unit)


def both_runs(game, first: Cells, second: Cells, seed: int):
    """All steps on two tables, the second one given the answers of the first; what is released must then be equal."""
    recorded = Recorder(seed)
    one = run(game, first, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = run(game, second, replayed)
    assert len(recorded.calls) == len(replayed.calls) > 0
    assert np.array_equal(one.cells, two.cells)
    return list(zip(recorded.calls, replayed.calls, strict=True))


@pytest.mark.crossing(keep=6)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("game", list(games(rounds=4)))
def test_neighbours_get_the_same_steps_within_the_declared_sensitivity(game, unit):
    generator = np.random.default_rng(4)
    reached = {"select": 0.0, "select_pair": 0.0}
    for seed in range(25):
        for before, after in both_runs(game, *neighbours(unit, generator), seed):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached[before.kind] = max(reached.get(before.kind, 0), before.distance(after) / before.sensitivity)
    assert max(reached["select"], reached["select_pair"]) == 1, "the declared sensitivity is tight"
    assert unit.public_rows == ("laplace" not in reached and "gaussian" not in reached)


@pytest.mark.crossing(keep=12)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("game", list(games()))
def test_the_cost_is_what_is_asked_and_uses_the_budget(game, unit):
    recorder = Recorder(0)
    run(game, neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared = game.cost(SMALL, unit)
    assert declared == recorder.cost()
    # A draw costs a little less than epsilon^2/8, so not every unit is used where delta is above 0.
    assert 0.96 <= part_of(game.budget, declared) <= 1


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("kind", GAMES)
def test_the_whole_run_is_exactly_private_on_a_micro_domain(kind):
    """All tables of up to four rows on four cells with one row more; losses over all outcomes, added up."""
    micro = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
    game = kind(queries=(Marginals(order=1), Marginals(order=2)), budget=Budget(1), rounds=3)
    listed = (rows for size in range(5) for rows in combinations_with_replacement(range(4), size))
    tables = [np.bincount(rows, minlength=4) for rows in listed]
    largest = 0.0
    for seed, table in enumerate(tables):
        for row in np.eye(4, dtype=int):
            steps = both_runs(game, Cells(micro, table), Cells(micro, table + row), seed)
            largest = max(largest, sum(before.loss(after) for before, after in steps))
    assert 0.5 < largest <= 1 + 1e-9


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("kind", GAMES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_release_is_far_better_than_the_uniform_table(kind, budget):
    generator = np.random.default_rng(7)
    rows = generator.random((5_000, 6)) < generator.random((5_000, 1)) * np.array([0.2, 0.4, 0.6, 0.2, 0.4, 0.9])
    counts = Cells(FACTS, np.bincount(rows @ (1 << np.arange(6)[::-1]), minlength=64))
    query = Marginals(order=3)
    start = query.worst(counts, Dense.uniform(FACTS, 1.0))
    errors = [query.worst(counts, run(kind(queries=(query,), budget=budget), counts, Noise())) for _ in range(3)]
    assert start > 0.4
    assert np.mean(errors) < start / (3 if budget.pure else 6)


@pytest.mark.parametrize("kind", GAMES)
def test_the_release_is_a_table_with_the_number_of_rows(kind):
    game = kind(queries=CLASSES[1], budget=Budget(2), rounds=20)
    public = run(game, small_counts(unit=Unit.row("replace")), Noise())
    paid = run(game, small_counts(), Noise())
    assert isinstance(public, Histogram)
    assert public.total == pytest.approx(5_000)
    assert public.cells.min() >= 0
    assert abs(paid.total - 5_000) < 400
    assert public.sample(9, np.random.default_rng(0)).shape == (9, 3)


def test_an_empty_table_is_released_like_any_other():
    for kind in GAMES:
        for unit in UNITS:
            game = kind(queries=CLASSES[0], budget=Budget(1), rounds=5)
            model = run(game, Cells(SMALL, np.zeros(24), unit), Noise())
            assert model.total >= 1 - 1e-9
            assert np.isfinite(model.cells).all()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("game", list(games()))
def test_expected_error_is_a_finite_number_of_rows(game, unit):
    expected = game.expected(SMALL, unit)
    assert 0 < expected.mean <= expected.worst < float("inf")
    assert "rounds leave unlearned" in expected.sentence()


@pytest.mark.parametrize("kind", GAMES)
def test_what_cannot_be_played_is_refused(kind):
    wide = Domain(tuple(Booleans(name=f"fact{number}") for number in range(25)))
    with pytest.raises(Refused, match=r"33,554,432 combinations.*at most 16,777,216.*'tree'"):
        kind(queries=(Marginals(order=1),), budget=Budget(1)).check(wide, Unit.row())
    listed = (Parities(columns=wide.names[:20]), Marginals(order=1))
    with pytest.raises(Refused, match="over 1,048,576 questions"):
        kind(queries=listed, budget=Budget(1)).check(Domain(tuple(wide)[:20]), Unit.row())
    with pytest.raises(Refused, match="not linear"):
        kind(queries=(Lipschitz(columns=("size",)),), budget=Budget(1)).check(SMALL, Unit.row())


@pytest.mark.parametrize(
    ("kind", "parameter", "value"),
    [(kind, "rounds", value) for kind in GAMES for value in (-1, 1.5, True, 10**6)]
    + [(kind, "rate", value) for kind in GAMES for value in (-1, float("nan"), float("inf"), "fast", True)]
    + [(GameQuery, "samples", -1), (GameBoth, "samples", 0), (GameQuery, "rounds", 1), (GameQuery, "rate", 0)],
)
def test_bad_options_are_named(kind, parameter, value):
    with pytest.raises(BadParameter, match=f"^{parameter}: "):
        kind(queries=CLASSES[0], budget=Budget(1), **{parameter: value})


def test_too_many_draws_are_refused_with_what_works():
    game = GameQuery(queries=CLASSES[0], budget=Budget(1), rounds=2_000, samples=100)
    with pytest.raises(BadParameter, match="samples: 2,000 rounds give 200,000 draws; use 50 or fewer"):
        game.check(SMALL, Unit.row())
    replace(game, samples=50).check(SMALL, Unit.row())


@pytest.mark.parametrize("kind", GAMES)
def test_default_rounds_follow_the_budget_and_the_unit(kind):
    def turns(budget, unit=UNITS[0]):
        return kind(queries=CLASSES[0], budget=budget).turns(SMALL, unit)

    assert turns(Budget("0.1")) < turns(Budget(1)) < turns(Budget(3)) <= 200
    assert turns(Budget(1), Unit.id("person", 10)) < turns(Budget(1))
    assert turns(Budget("1e-9")) == 4


@pytest.mark.parametrize("kind", GAMES)
def test_a_single_possible_record_is_no_trouble(kind):
    domain = Domain((Integers(name="a", low=0, high=0),))
    game = kind(queries=(Marginals(order=1),), budget=Budget(1))
    assert run(game, Cells(domain, np.array([7]), Unit.row("replace")), Noise()).cells.tolist() == [7]


@pytest.mark.parametrize("kind", GAMES)
def test_documented_like_every_mechanism(kind):
    for part in ("**Privacy**", "**Accuracy**", "**Runtime**", "Theorem"):
        assert part in kind.__doc__
    assert kind.title
    assert kind.prefer.endswith(".")


@pytest.mark.parametrize(
    ("kind", "growth"), [(GameData, [1, 1, 1, 1]), (GameQuery, [1, 2, 3]), (GameBoth, [1, 2, 3, 4])]
)
def test_events_grow_with_what_the_query_player_has_seen(kind, growth):
    options = {} if kind is GameData else {"samples": 2}
    game = kind(queries=CLASSES[0], budget=Budget(1), rounds=4, **options)
    step = Fraction(19, 20) / (sum(growth) * game.draws())
    draws = [Selection(step * each) for each in growth for _ in range(game.draws())]
    assert list(game.cost(SMALL, Unit.row()).events) == [Laplace(Fraction(1, 20)), *draws]
    # A public number of rows costs nothing: the draws share everything.
    shared = [Selection(step * each * Fraction(20, 19)) for each in growth for _ in range(game.draws())]
    assert list(game.cost(SMALL, Unit.row("replace")).events) == shared
