from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.mechanisms.tree.compression import Compression
from core.mechanisms.tree.ranges import (
    MOST_BLOCKS,
    MOST_GROUPS,
    NestedCounts,
    neighbours_joined,
    nested_blocks,
    rare_joined,
)
from core.models.points import Points
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
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
