from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from core.base.errors import Undeclared
from core.kernel.kernel import Kernel
from core.kernel.tables import TOTAL
from core.mechanisms.ranges import stages, uneven
from core.mechanisms.tree.compression import Compression
from core.mechanisms.tree.ranges import (
    MOST_BLOCKS,
    MOST_GROUPS,
    NestedCounts,
    find_blocks,
    foreseen_ranges,
    neighbours_joined,
    nested_blocks,
    rare_joined,
)
from core.mechanisms.tree.tree import Tree
from core.mechanisms.tree.workload import Workload
from core.models.points import Points
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import LINE as SHORT_LINE
from tests.core.mechanisms.replay import UNITS, check_private
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

LINE = Domain((Integers(name="x", low=0, high=999, missing=True),))
PLANE = Domain((Integers(name="x", low=0, high=63), Integers(name="y", low=0, high=31)))


def counted(domain: Domain, seed: int = 0) -> Cells:
    return Cells(domain, np.random.default_rng(seed).poisson(3, domain.shape()))


@pytest.mark.parametrize("event", [Laplace(Fraction(1, 3)), Gaussian(Fraction(1, 7))], ids=str)
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("person", 3)], ids=str)
def test_levels_share_an_event_exactly_and_each_moves_like_a_table(event, unit):
    blocks = nested_blocks(LINE, ("x",), event, unit)
    amounts = [each.epsilon if isinstance(event, Laplace) else each.rho for each in blocks.events]
    assert len(amounts) == blocks.pyramid.levels > 1
    assert sum(amounts) == (event.epsilon if isinstance(event, Laplace) else event.rho)
    assert amounts == sorted(amounts, reverse=True)
    recorder = Recorder(0)
    counts = Cells(LINE, np.ones(LINE.shape(), dtype=int), unit)
    blocks.measure(Kernel(counts, recorder, Cost(blocks.events)))
    bound = unit.l1 if isinstance(event, Laplace) else unit.l2_squared
    assert {call.sensitivity for call in recorder.calls} == {bound}


def test_a_whole_column_is_never_asked_cell_by_cell_alone():
    """Coarse levels are there to answer long ranges: with 2^16 cells the top one has at most 16 blocks."""
    domain = Domain((Integers(name="x", low=0, high=2**16 - 1),))
    blocks = nested_blocks(domain, ("x",), Laplace(Fraction(1)), Unit.row())
    sizes = [blocks.pyramid.grid(level)[0] for level in range(blocks.pyramid.levels)]
    assert sizes[0] <= 16 and sizes[-1] == 2**16
    assert all(below <= 17 * above for above, below in pairwise(sizes))


@pytest.mark.parametrize(("domain", "columns"), [(LINE, ("x",)), (PLANE, ("x", "y"))], ids=["line", "plane"])
def test_pulls_are_the_blocks_of_the_released_counts(domain, columns):
    counts = counted(domain)
    rows = float(counts.cells.sum())
    blocks = nested_blocks(domain, columns, Laplace(Fraction(10**6)), Unit.row())
    made = NestedCounts.of(columns, blocks.measure(Kernel(counts, Recorder(0), Cost(blocks.events))), rows)
    assert np.allclose(made.cells, counts.cells, atol=0.1)
    codes = np.argwhere(np.ones(domain.shape()))
    points = Points(domain, codes, counts.cells[tuple(codes.T)].astype(float))
    pulls = made.pulls(points)
    assert pulls and all(pull.shape[0] <= MOST_BLOCKS for pull in pulls)
    for pull, level in zip(pulls, range(len(pulls)), strict=True):
        (wanted,) = pull.wanted
        held = np.bincount(pull.places, weights=points.weights, minlength=wanted.target.size)
        assert held.size == np.prod(blocks.pyramid.grid(level))
        assert np.allclose(held, wanted.target, atol=1.0)


def test_rare_cells_are_joined_with_their_neighbours_only():
    counts = np.array([1.0, 2, 90, 4, 3, 5, 80, 2, 2, 7.0])
    made = rare_joined(counts, 9, 10.0)
    assert made.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert np.allclose(np.bincount(made.groups, weights=made.inside), 1.0)
    assert made.inside[3] == pytest.approx(4 / 12)
    assert rare_joined(np.zeros(5), 5, 1.0).groups.tolist() == [0] * 5
    assert rare_joined(np.full(5, 20.0), 5, 10.0).trivial


def test_neighbours_are_joined_into_groups_of_about_equal_mass():
    counts = np.random.default_rng(0).poisson(5, 5_000).astype(float)
    counts[700] = 20_000.0
    grouping = neighbours_joined(np.append(counts, 33.0), 5_000, counts.sum(), sigma=1.0)
    assert 30 < grouping.size <= MOST_GROUPS + 1 and (np.diff(grouping.groups) >= 0).all()
    assert (grouping.groups == grouping.groups[-1]).sum() == 1
    mass = np.bincount(grouping.groups[:-1], weights=counts)
    fair = counts.sum() / MOST_GROUPS
    assert np.delete(mass, grouping.groups[700]).max() < 2 * fair
    inside = np.bincount(grouping.groups, weights=grouping.inside)
    assert np.allclose(inside, 1.0)


def test_much_noise_leaves_few_groups_and_an_empty_column_still_has_some():
    counts = np.ones(4_000)
    assert neighbours_joined(counts, 4_000, 4_000.0, sigma=400.0).size <= 3
    assert neighbours_joined(counts, 4_000, 4_000.0, sigma=1e9).size == 1
    empty = neighbours_joined(np.zeros(500), 500, 1.0, sigma=0.001)
    assert empty.size == MOST_GROUPS and np.allclose(np.bincount(empty.groups, weights=empty.inside), 1.0)


def test_cells_of_every_group_get_their_share_of_the_weight_when_records_are_decoded():
    counts = np.random.default_rng(0).integers(1, 9, 600).astype(float)
    grouping = neighbours_joined(counts, 600, counts.sum(), sigma=1.0)
    domain = Domain((Integers(name="x", low=0, high=599),))
    compression = Compression(domain, {"x": grouping})
    codes = np.random.default_rng(1).integers(0, grouping.size, (40_000, 1))
    points = Points(compression.domain, codes, np.random.default_rng(2).random(40_000))
    decoded = compression.decoded(points, np.random.default_rng(3))
    expected = compression.expanded(points.marginal(("x",)), ("x",))
    assert np.allclose(decoded.marginal(("x",)), expected, atol=1.1)


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("person", 3)], ids=str)
def test_a_pure_part_is_searched_and_counted_with_exactly(unit):
    """The search, the question for uneven stretches and all levels spend the part, and not a grain more."""
    truth = np.zeros(LINE.shape(), dtype=np.int64)
    truth[::40] = 900
    part, recorder = Fraction(1, 3), Recorder(0)
    kernel = Kernel(Cells(LINE, truth, unit), recorder, Cost.of([Pure(part)]))
    blocks = find_blocks(kernel, ("x",), Laplace(part), 20_000.0)
    assert recorder.calls and blocks.pyramid.grid(blocks.pyramid.levels - 1) != LINE.shape()
    counted = sum((event.epsilon for event in blocks.events), Fraction(0))
    assert part * Fraction(80, 100) < counted <= part * Fraction(84, 100)
    made = NestedCounts.of(("x",), blocks.measure(kernel), 20_000.0)
    assert recorder.cost().events
    assert made.cells.shape == LINE.shape() and made.cells.min() >= 0
    assert made.cells.sum() == pytest.approx(20_000.0)
    with pytest.raises(Undeclared):
        kernel.measure(TOTAL, Laplace(Fraction(1, 10**9) + part - counted))


def test_gaussian_parts_and_short_columns_are_not_searched():
    few, many = Domain((Integers(name="x", low=0, high=255),)), LINE
    for domain, event in ((few, Laplace(Fraction(1))), (many, Gaussian(Fraction(1))), (PLANE, Laplace(Fraction(1)))):
        columns, unit = domain.names, Unit.row()
        recorder = Recorder(0)
        kernel = Kernel(Cells(domain, np.ones(domain.shape(), dtype=int)), recorder, Cost(()))
        found, plain = find_blocks(kernel, columns, event, 100.0), nested_blocks(domain, columns, event, unit)
        assert not recorder.calls and found.events == plain.events


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("uneven_from", [-1e9, 1e9])
def test_replay_of_a_searched_column_on_neighbours(unit, uneven_from, monkeypatch):
    monkeypatch.setattr(stages, "SMALLEST", {1: 16, 2: 30, 3: 30})
    monkeypatch.setattr(uneven, "EXACT", 1e9)
    monkeypatch.setattr(uneven, "UNEVEN", uneven_from)
    for queries in ((Intervals(column="x"),), (Intervals(column="x"), Marginals(order=1, columns=("ill",)))):
        check_private(Tree(queries=queries, budget=Budget(1)), SHORT_LINE, unit, monkeypatch, pairs=4)


def test_a_column_that_a_table_is_asked_of_is_counted_down_to_every_cell():
    domain = Domain((Integers(name="x", low=0, high=999), Booleans(name="ill")))
    alone, beside = (Intervals(column="x"),), (Intervals(column="x"), Marginals(order=1, columns=("ill",)))
    tables = (Intervals(column="x"), Marginals(order=2))
    assert [Workload.of(each, domain).searched(("x",)) for each in (alone, beside, tables)] == [True, True, False]
    assert not Workload.of((Marginals(order=2),), domain).searched(("x",))


def hard_column(size: int) -> np.ndarray:
    """Stretches that are left whole hold all their rows at one end."""
    truth = np.zeros(size, dtype=np.int64)
    truth[::64] = np.arange(size // 64) * 5
    return truth


@pytest.mark.parametrize("kind", ["hard", "dense"])
def test_the_worst_range_and_the_mean_one_are_within_what_was_said(kind):
    generator = np.random.default_rng(0)
    truth = hard_column(2_048) if kind == "hard" else generator.poisson(60, 2_048)
    domain = Domain((Integers(name="x", low=0, high=2_047),))
    tree = Tree(queries=(Intervals(column="x"),), budget=Budget(1))
    expected, beyond, means = tree.expected(domain, Unit.row()), 0, []
    ends = np.sort(generator.integers(0, 2_049, (2, 2_000)), axis=0)
    for _ in range(12):
        model = run(tree, Cells(domain, truth), SimulatedNoise(generator))
        off = np.concatenate([[0.0], np.cumsum(model.marginal(("x",)) - truth)])
        beyond += np.ptp(off) > expected.worst
        means.append(np.abs(off[ends[1]] - off[ends[0]]).mean())
    assert beyond <= 2
    assert np.mean(means) < 1.1 * expected.mean
    if kind == "dense":
        assert np.mean(means) > 0.5 * expected.mean


def test_what_is_foreseen_counts_the_search():
    event, unit = Laplace(Fraction(1)), Unit.row()
    mean, worst = foreseen_ranges(LINE, ("x",), event, unit)
    stage = stages.searched_stage(LINE, ("x",), event)
    assert stage is not None and stage.finding is not None
    assert stage.finding.epsilon + stage.counting.epsilon == 1
    assert worst > 2 * stage.most_hidden(LINE, unit) > 0
    assert 0 < mean < worst


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
def test_ranges_of_a_column_with_empty_runs_err_less(unit, monkeypatch):
    """About .64 and .48 of the error without the search; a mean of 100 runs is off by .05 or so."""
    generator, domain = np.random.default_rng(3), Domain((Integers(name="x", low=0, high=2**12 - 1),))
    truth = np.zeros(2**12, dtype=np.int64)
    truth[generator.choice(2**12, 8, replace=False)] = 4_000
    ends = np.sort(generator.integers(0, 2**12 + 1, (2, 2_000)), axis=0)

    def error():
        found = []
        for _ in range(100):
            model = run(Tree(queries=(Intervals(column="x"),), budget=Budget(1)), Cells(domain, truth, unit))
            off = np.concatenate([[0.0], np.cumsum(model.marginal(("x",)) - truth)])
            found.append(np.abs(off[ends[1]] - off[ends[0]]).mean())
        return np.mean(found)

    searched = error()
    monkeypatch.setattr(stages, "SMALLEST", {1: 2**20, 2: 2**20, 3: 2**20})
    assert searched < 0.8 * error()
