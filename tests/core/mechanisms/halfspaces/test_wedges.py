import numpy as np
import pytest

from core.kernel.halfspaces import Balances
from core.mechanisms.halfspaces.wedges import features, grouped
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

HOLES = Domain((Integers(name="x", low=0, high=6, missing=True), Integers(name="y", low=0, high=7)))
CODES = np.stack(np.indices(HOLES.shape()).reshape(2, -1), axis=1)


def normals(planes, dimensions):
    """At random; the last one points along the first axis, where angles wrap around."""
    found = discretised(np.random.default_rng(2).normal(size=(planes, dimensions)), 12)
    found[-1] = [-1024] + [0] * (dimensions - 1)
    return found


@pytest.mark.parametrize(
    ("planes", "groups", "translated"), [(1, 1, False), (9, 1, False), (15, 5, True), (4, 4, True)]
)
def test_every_plane_follows_from_the_differences(planes, groups, translated):
    space = Halfspaces(translated=translated, directions=4).space(HOLES)
    wedges = grouped(space, normals(planes, space.dimensions), groups)
    counts = Cells(HOLES, np.random.default_rng(1).integers(0, 9, HOLES.shape()))
    lines, present = space.points(CODES)
    found = features(wedges, lines[present]).reshape(groups, wedges.width, -1)
    differences = wedges.counts(counts)
    assert np.array_equal(found @ counts.marginal(("x", "y")).ravel()[present], differences)
    for group, (planes_of, each) in enumerate(zip(wedges.normals, differences, strict=True)):
        signs = np.where(planes_of @ lines[present].T >= 0, 1, -1)
        # A wedge lies on one side of each plane, so a plane has one sign for each difference.
        shares = [np.unique((sign * found[group]).T[:, place]) for sign in signs for place in range(wedges.width)]
        assert all(set(share) <= {0, 1} or set(share) <= {0, -1} for share in shares)
        factors = np.array([share.sum() for share in shares]).reshape(len(planes_of), wedges.width)
        assert np.array_equal(factors @ each, Balances(space, planes_of).counts(counts))


def test_planes_of_two_dimensions_are_turned_and_sorted_and_stay_the_same_planes():
    space = Halfspaces(translated=False, directions=4).space(HOLES)
    given = normals(9, 2)
    turned = grouped(space, given, 1).normals[0]
    angles = np.arctan2(turned[:, 1], turned[:, 0])
    assert (np.diff(angles) >= 0).all() and angles[0] >= 0 and angles[-1] < np.pi
    assert {tuple(line) for line in turned} <= {tuple(line) for line in np.concatenate([given, -given])}
