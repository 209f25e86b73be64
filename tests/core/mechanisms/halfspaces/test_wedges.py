import numpy as np
import pytest

from core.mechanisms.halfspaces.halfspace_fit import balances
from core.mechanisms.halfspaces.wedges import Wedges
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

HOLES = Domain((Integers(name="x", low=0, high=6, missing=True), Integers(name="y", low=0, high=7)))


def fan(planes):
    angles = np.pi * (np.arange(planes) + 0.3) / planes
    return discretised(np.column_stack([np.cos(angles), np.sin(angles)]), 12)[None]


def shuffled(planes):
    normals = discretised(np.random.default_rng(2).normal(size=(planes, 2)), 12)
    return Wedges.of(np.concatenate([normals, [[-1024, 0]]]), 1).normals


def groups(dimensions, planes, count=5):
    normals = np.random.default_rng(0).normal(size=(count * planes, dimensions))
    return discretised(normals, 12).reshape(count, planes, dimensions)


def counted(seed=1):
    return Cells(HOLES, np.random.default_rng(seed).integers(0, 9, HOLES.shape()))


CASES = [
    (fan(1), False),
    (fan(7), False),
    (shuffled(9), False),
    (groups(3, 1), True),
    (groups(3, 3), True),
    (groups(3, 4), True),
]


@pytest.mark.parametrize(("normals", "translated"), CASES)
def test_a_row_counts_once_in_each_group(normals, translated):
    query, wedges = Halfspaces(translated=translated, directions=4), Wedges(normals)
    for cell in np.ndindex(HOLES.shape()):
        table = np.zeros(HOLES.shape(), dtype=np.int64)
        table[cell] = 3
        found = wedges.differences(Cells(HOLES, table), query)
        assert found.shape == (len(normals), wedges.width)
        assert np.abs(found).sum(axis=1).tolist() == [0 if cell[0] == 7 else 3] * len(normals)


@pytest.mark.parametrize(("normals", "translated"), CASES)
def test_every_plane_follows_from_the_differences(normals, translated):
    query, wedges, counts = Halfspaces(translated=translated, directions=4), Wedges(normals), counted()
    codes = np.stack(np.indices(HOLES.shape()).reshape(2, -1), axis=1)
    lines, present = query.points(HOLES, codes)
    features = wedges.features(lines[present]).reshape(len(normals), wedges.width, -1)
    differences = wedges.differences(counts, query)
    assert np.array_equal(features @ counts.marginal(("x", "y")).ravel()[present], differences)
    for group, (planes, found) in enumerate(zip(normals, differences, strict=True)):
        signs = np.where(planes @ lines[present].T >= 0, 1, -1)
        # A wedge lies on one side of each plane, so a plane has one sign for each difference.
        shares = [np.unique((sign * features[group]).T[:, place]) for sign in signs for place in range(wedges.width)]
        assert all(set(each) <= {0, 1} or set(each) <= {0, -1} for each in shares)
        factors = np.array([[each.sum() for each in shares]]).reshape(len(planes), wedges.width)
        assert np.array_equal(factors @ found, balances(counts, query, planes))


def test_three_planes_make_four_pairs_of_wedges_and_two_dimensions_make_fewer():
    assert Wedges(groups(5, 3)).width == 4
    assert Wedges(groups(5, 1)).width == 1
    assert Wedges(fan(9)).width == 9


@pytest.mark.parametrize(("event", "sigma"), [(Laplace(1), 2**0.5), (Gaussian(2), 0.5)])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_noise_fits_the_sensitivity(event, sigma, neighbours):
    unit, query = Unit.row(neighbours), Halfspaces(translated=False, directions=4)
    counts, wedges = Cells(HOLES, counted().marginal(("x", "y")), unit), Wedges(fan(2_000))
    off = wedges.ask(counts, query, Noise(), event, unit) - wedges.differences(counts, query).ravel()
    assert off.std() == pytest.approx(unit.l1 * sigma, rel=0.15)
