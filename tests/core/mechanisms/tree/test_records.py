"""Pairs in a few parts by a few: paid as declared, replayed on neighbours, telling what nothing else measured."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from core.base.errors import Undeclared
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.compression import Compression, Grouping
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.records import UNKNOWN, _shown, measure_coarse
from core.mechanisms.tree.tree import Tree
from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import TableGoal
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells
from core.table.stand_in import StandIn
from tests.kernels import run
from tests.privacy.kit.cases import UNITS, neighbours
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.replay import check_steps, paired

DOMAIN = Domain(
    (Integers(name="age", low=0, high=4), Categories(name="town", values=tuple("abc")), Booleans(name="paid"))
)
PAIRS = list(combinations(DOMAIN.names, 2))
NOTHING = Noisy({}, {})
PART = Fraction(1, 3)


def views() -> Views:
    """Of columns whose cells are about equally full."""
    groupings = {each.name: Grouping.rare(np.ones(each.size), 0.0) for each in DOMAIN}
    shares = {each.name: np.full(each.size, 1 / each.size) for each in DOMAIN}
    return Views.of(Compression(DOMAIN, groupings), shares, coarsest=True)


def declared(spending: Spending) -> Cost:
    """The part, to be spent in pieces of any size."""
    return replace(spending, whole=spending.whole * PART).cost


def measured(table: Cells, spending: Spending, noise, known: Noisy = NOTHING, part: Fraction = PART) -> Noisy:
    kernel = Kernel(table, noise, declared(spending))
    made = views()
    return measure_coarse(Measuring(kernel, spending).through(made), made, known, PAIRS, part)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("pure", [False, True], ids=["gaussian", "laplace"])
def test_neighbours_are_told_apart_by_no_more_than_is_paid(pure, unit):
    spending, generator, reached = Spending(Fraction(1, 2), pure, unit), np.random.default_rng(4), 0.0
    for seed in range(30):
        first, second = neighbours(unit, generator, DOMAIN)
        recorded = Recorder(seed)
        one = measured(first, spending, recorded)
        replayed = Recorder(seed, recorded.calls)
        two = measured(second, spending, replayed)
        reached = max(reached, check_steps(paired(recorded, replayed)))
        assert one.tables.keys() == two.tables.keys()
        assert all(np.array_equal(one.tables[pair], two.tables[pair]) for pair in one.tables)
        for order in (None,) if pure else (Fraction(3, 2), Fraction(40)):
            spent = Recorder.priced(recorded.calls)
            assert accounting.units(spent, order) <= accounting.units(declared(spending), order)
    assert reached > 0.6, "half of the declared sensitivity would not do"


def test_more_than_the_part_is_refused():
    table = Cells(DOMAIN, np.ones(DOMAIN.shape(), dtype=np.int64))
    with pytest.raises(Undeclared):
        measured(table, Spending(Fraction(1, 2), pure=False, unit=Unit.row()), Noise(), part=2 * PART)


def test_what_is_known_is_kept_and_not_measured_again():
    table = Cells(DOMAIN, np.ones(DOMAIN.shape(), dtype=np.int64))
    spending = Spending(Fraction(1, 2), pure=False, unit=Unit.row())
    known = Noisy({("age", "town"): np.ones((5, 3))}, {("age", "town"): 1.0})
    found, parts = measured(table, spending, Noise(), known), views().coarsest
    assert set(found.tables) == {("age", "town"), (parts["age"], "paid"), (parts["town"], "paid")}
    assert measured(table, spending, Noise(), known, Fraction(0)) is known


def test_they_tell_how_the_parts_depend_on_each_other():
    counts = np.zeros(DOMAIN.shape(), dtype=np.int64)
    counts[:2, 0, 0], counts[3:, 1, 1] = 500, 500
    # So much budget that the noise is a row or so.
    spending = Spending(Fraction(100), pure=False, unit=Unit.row())
    found, parts = measured(Cells(DOMAIN, counts), spending, Noise()), views().coarsest
    table = found.tables[parts["age"], "paid"]
    # The third part holds two of the five ages.
    assert np.allclose(table, 250 * np.outer([1, 1, -1, -1], [1, -1]), atol=20), "beyond what single columns say"


def answers() -> StandIn:
    """Six columns that follow one trait: yes or no, in few steps and in many."""
    generator, sizes = np.random.default_rng(8), (2, 2, 5, 16, 30, 3)
    trait, own = generator.normal(size=(6_000, 1)), generator.normal(size=(6_000, len(sizes)))
    steps = np.argsort(np.argsort(0.7 * trait + 0.7 * own, axis=0), axis=0) / 6_000
    columns = [
        Booleans(name=f"q{place}") if size == 2 else Integers(name=f"q{place}", low=0, high=size - 1)
        for place, size in enumerate(sizes)
    ]
    return StandIn(Domain(tuple(columns)), (steps * np.array(sizes)).astype(np.int64), Unit.row())


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_what_pairs_tell_is_off_by_its_noise_and_by_no_more(delta: float) -> None:
    """In standard deviations, of covariances and of counts: the fit that follows bends them, what is told is not."""
    table = answers()
    moments: list[float] = []
    cells: list[float] = []
    for _ in range(6):
        told = run(Tree(queries=(Marginals(order=2),), budget=Budget(1, delta)), table).told
        for goal in told:
            truth = table.marginal(goal.columns)
            if isinstance(goal, MomentGoal):
                moments.append((goal.target - float((truth * goal.scores).sum())) / goal.sigma)
            elif isinstance(goal, TableGoal):
                assert goal.groups is not None
                cells += ((goal.target - goal.groups.merged(truth)) / goal.sigma).ravel().tolist()
    assert 0.6 < np.sqrt(np.mean(np.square(moments))) < 1.6
    assert abs(np.mean(moments)) < 0.6
    assert 0.7 < np.sqrt(np.mean(np.square(cells))) < 1.5


@pytest.mark.parametrize("order", [1, 2])
def test_pairs_of_which_nothing_is_known_may_be_far_off(order):
    """500 rows of two columns that depend on each other, at a budget that merges their values: no score tells of it."""
    generator = np.random.default_rng(4)
    first = generator.integers(0, 60, 500)
    second = np.clip(first + generator.integers(-3, 4, 500), 0, 59)
    domain = Domain((Integers(name="a", low=0, high=59), Integers(name="b", low=0, high=59)))
    source = StandIn(domain, np.stack([first, second], axis=1), Unit.row())
    model = run(Tree(queries=(Marginals(order=order),), budget=Budget(0.02, 1e-9)), source)
    assert model.missed["a", "b"] >= 0.999 * UNKNOWN * model.total


def test_groups_show_as_much_of_a_column_as_they_part_its_ranks():
    counts = np.full(12, 5.0)
    assert _shown(counts, np.arange(12)) == pytest.approx(1) == _shown(counts, np.arange(12) // 6)
    assert _shown(counts, np.zeros(12, dtype=np.int64)) == pytest.approx(0)
    assert 0.2 < _shown(counts, (np.arange(12) == 11).astype(np.int64)) < 0.4
    assert _shown(np.zeros(3), np.arange(3)) == 0
