import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, Undeclared
from core.kernel.kernel import Kernel
from core.kernel.measurement import ROUNDING, NoiseLevel
from core.kernel.planes import SCALE, Balances, Inside, Space, Wedges
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.privacy.kit.recorder import Recorder

HOLES = Domain((Integers(name="x", low=0, high=6, missing=True), Integers(name="y", low=0, high=7)))
SCALES = tuple(np.rint(np.linspace(-SCALE, SCALE, size)).astype(np.int64) for size in (7, 8))
FLAT, LIFTED = (Space(("x", "y"), SCALES, lifted) for lifted in (False, True))


def fan(planes):
    angles = np.pi * (np.arange(planes) + 0.3) / planes
    return Wedges(FLAT, np.rint(2_000 * np.column_stack([np.cos(angles), np.sin(angles)])).astype(np.int64)[None])


def groups(planes, count=5):
    normals = np.random.default_rng(0).integers(-2_000, 2_000, (count, planes, 3))
    return Wedges(LIFTED, normals)


def counted(seed=1, unit=None):
    return Cells(HOLES, np.random.default_rng(seed).integers(0, 9, HOLES.shape()), unit or Unit.row())


CASES = [fan(1), fan(7), groups(1), groups(3), groups(4)]


@pytest.mark.parametrize("wedges", CASES)
def test_a_row_counts_once_in_each_group(wedges):
    for cell in np.ndindex(HOLES.shape()):
        table = np.zeros(HOLES.shape(), dtype=np.int64)
        table[cell] = 3
        found = wedges.counts(Cells(HOLES, table))
        assert found.shape == (len(wedges.normals), wedges.width)
        assert np.abs(found).sum(axis=1).tolist() == [0 if cell[0] == 7 else 3] * len(wedges.normals)


def test_three_planes_make_four_pairs_of_wedges_and_two_dimensions_make_fewer():
    assert [groups(3).width, groups(1).width, fan(9).width] == [4, 1, 9]


def test_planes_of_two_dimensions_that_are_not_sorted_are_refused():
    with pytest.raises(BadParameter, match="sorted"):
        Wedges(FLAT, np.array([[[1, 3], [4, 1]]]))


def test_rows_inside_minus_rows_outside():
    table = np.zeros(HOLES.shape(), dtype=np.int64)
    table[6, 0], table[0, 3], table[7, 2] = 7, 2, 100
    normals, counts = np.array([[1, 0], [-1, 0], [0, 1]]), Cells(HOLES, table)
    assert Balances(FLAT, normals).counts(counts).tolist() == [5, -5, -9]
    assert Inside(FLAT, normals).counts(counts).tolist() == [7, 2, 0]


@pytest.mark.parametrize("event", [Laplace(Fraction(1, 3)), Gaussian(Fraction(1, 3))])
@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 2, "replace")], ids=str)
@pytest.mark.parametrize("asked", [groups(3), Inside(LIFTED, groups(1).normals[:, 0])], ids=["wedges", "inside"])
def test_every_part_is_paid_and_has_the_noise_that_it_would_have_alone(asked, unit, event):
    alone = type(asked)(asked.space, asked.normals[:1])
    assert NoiseLevel.of(asked, event, unit).sigma == pytest.approx(NoiseLevel.of(alone, event, unit).sigma)
    assert asked.parts == 5 and alone.parts == 1
    spy = Recorder(0)
    kernel = Kernel(counted(unit=unit), spy, Cost((event,) * 5))
    kernel.measure(asked, event)
    with pytest.raises(Undeclared):
        kernel.measure(alone, event)
    assert [call.amount for call in spy.calls] == [Fraction(1, 3)] * 5
    assert np.array_equal(np.concatenate([call.hidden.ravel() for call in spy.calls]), asked.counts(counted()).ravel())
    with pytest.raises(Undeclared):
        Kernel(counted(unit=unit), spy, Cost((event,) * 4)).measure(asked, event)
    assert len(spy.calls) == 5


@pytest.mark.parametrize(("event", "sigma"), [(Laplace(Fraction(1)), 2**0.5), (Gaussian(Fraction(2)), 0.5)])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_noise_fits_the_change(event, sigma, neighbours):
    counts, wedges = counted(unit=Unit.row(neighbours)), fan(2_000)
    measured = Kernel(counts, Noise(), Cost((event,))).measure(wedges, event)
    off = measured.values - wedges.counts(counts)
    # Gaussian noise is rounded to whole numbers, which adds its own variance.
    expected = math.sqrt((counts.unit.l1 * sigma) ** 2 + (ROUNDING if isinstance(event, Gaussian) else 0))
    assert off.std() == pytest.approx(expected, rel=0.15)
    assert measured.sigma == pytest.approx(expected)
