import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, Undeclared
from core.kernel import halfspaces
from core.kernel.halfspaces import MOST_CONSTANT, SCALE, STEPS, Balances, Inside, Moments, Space, Wedges
from core.kernel.kernel import Kernel
from core.kernel.noise_level import ROUNDING, NoiseLevel
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


def naive(counts):
    """Every row as (coordinates, times), by hand; rows without a coordinate are left out."""
    table = counts.marginal(("x", "y"))
    return [((int(SCALES[0][x]), int(SCALES[1][y])), int(table[x, y])) for x, y in np.ndindex(7, 8)]


@pytest.mark.parametrize("block", [1, 7, 2**21])
@pytest.mark.parametrize("space", [FLAT, LIFTED], ids=["flat", "lifted"])
def test_planes_count_rows_on_their_side_however_many_are_held_at_a_time(space, block, monkeypatch):
    monkeypatch.setattr(halfspaces, "BLOCK", block)
    counts = counted()
    normals = np.random.default_rng(3).integers(-500, 500, (6, space.dimensions))
    normals[0] = 0  # every row lies on it, which is its positive side
    inside = [0] * 6
    for point, often in naive(counts):
        full = (*point, SCALE)[: space.dimensions]
        for place, normal in enumerate(normals.tolist()):
            inside[place] += often * (sum(a * b for a, b in zip(normal, full, strict=True)) >= 0)
    rows = sum(often for _, often in naive(counts))
    assert Inside(space, normals).counts(counts).tolist() == inside
    assert Balances(space, normals).counts(counts).tolist() == [2 * found - rows for found in inside]
    assert Inside(space, normals).parts == 6 and space.dimensions == (3 if space.lifted else 2)


@pytest.mark.parametrize("constant", [1, 3, MOST_CONSTANT])
@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize("space", [FLAT, LIFTED], ids=["flat", "lifted"])
def test_sums_of_products_by_hand(space, cross, constant):
    counts = counted()
    found = Moments(space, constant, cross).counts(counts)
    sums = np.zeros((3, 3), dtype=np.int64)
    for point, often in naive(counts):
        z = [constant * STEPS, *(math.floor(Fraction(each * STEPS, SCALE) + Fraction(1, 2)) for each in point)]
        sums += often * np.outer(z, z)
    asked = [(0, 0), (0, 1), (0, 2), (1, 1), *([(1, 2)] if cross else []), (2, 2)]
    assert found.tolist() == [sums[pair] for pair in asked]


@pytest.mark.parametrize(("constant", "cross", "unit", "l1", "squared"), [
    (1, True, Unit.row(), 1 + 2 + 3, 1 + 2 + 3),
    (1, False, Unit.row(), 1 + 2 + 2, 4 * 0 + 1 + 2 + 2),
    (2, False, Unit.row(), 4 + 4 + 2, 16 + 8 + 2),
    (3, True, Unit.id("who", 2), 2 * (9 + 6 + 3), 4 * (81 + 18 + 3)),
    (1, True, Unit.row("replace"), 2 * 2 + 2 * 3 - 2, 2 * 6),
    (1, False, Unit.row("replace"), 2 * 2 + 2 * 2 - 2, 4 * 5),
    (2, False, Unit.row("replace"), 10, 2 * 26),
    (9, True, Unit.row("replace"), 81 + 18 + 3, 2 * (9**4 + 81 * 2 + 3)),
])  # fmt: skip
def test_changes_of_moments_by_hand(constant, cross, unit, l1, squared):
    change = Moments(FLAT, constant, cross).change(unit)
    assert (change.l1, change.l2_squared) == (l1 * STEPS**2, squared * STEPS**4)


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 3), Unit.row("replace"), Unit.id("who", 3, "replace")])
def test_changes_of_planes_by_hand(unit):
    normals = np.ones((4, 2), dtype=np.int64)
    balances, wedges = Balances(FLAT, normals).change(unit), fan(5).change(unit)
    assert (balances.l1, balances.l2_squared) == (4 * unit.l1, 4 * unit.l1**2)
    assert (wedges.l1, wedges.l2_squared) == (unit.l1, unit.l1**2)


def test_bounds_of_what_may_be_asked():
    """Beyond these, floats are no longer exact or sums leave 64 bits: the bounds are part of the proof."""
    assert (SCALE, STEPS, MOST_CONSTANT) == (2**20, 2**8, 2**6)
    edge = np.array([SCALE, -SCALE])
    assert Space(("x",), (edge,), False).dimensions == 1
    for wrong in (SCALE + 1, -SCALE - 1, -(2**63)):
        with pytest.raises(BadParameter, match="coordinates"):
            Space(("x",), (np.array([wrong, 0]),), False)
    longest = 2**53 // (2 * SCALE)  # in two dimensions
    assert Inside(FLAT, np.array([[longest - 1, 0]])).parts == 1
    for normals in ([[longest, 0]], [[0, -longest]], [[0, -(2**63)]], [[1, 2, 3]], [1, 2]):
        with pytest.raises(BadParameter, match="normals"):
            Inside(FLAT, np.array(normals))
    for constant in (0, MOST_CONSTANT + 1, 1.0, True):
        with pytest.raises(BadParameter, match="constant"):
            Moments(FLAT, constant, True)


@pytest.mark.parametrize(
    "normals",
    [[[0, -1]], [[1, -1]], [[5, -1], [1, 1]], [[-1, 0]], [[1, 1], [1, 0]], [[1, 0], [1, -1]]],
    ids=["below", "half below", "little below", "half turn", "back", "down"],
)
def test_angles_within_a_half_circle(normals):
    with pytest.raises(BadParameter, match="sorted"):
        Wedges(FLAT, np.array([normals]))


def test_the_first_angle_and_equal_ones_are_taken():
    assert Wedges(FLAT, np.array([[[1, 0], [1, 1], [1, 1], [-5, 1]]])).width == 4


def test_every_difference_of_wedges_by_hand():
    """Wedges of three dimensions: which planes agree with the first, in bits; of two: how many do."""
    for wedges in (fan(5), groups(3)):
        counts, space = counted(), wedges.space
        expected = np.zeros((len(wedges.normals), wedges.width), dtype=np.int64)
        for point, often in naive(counts):
            full = (*point, SCALE)[: space.dimensions]
            for group, normals in enumerate(wedges.normals.tolist()):
                sides = [sum(a * b for a, b in zip(normal, full, strict=True)) >= 0 for normal in normals]
                agree = [side == sides[0] for side in sides[1:]]
                place = sum(agree) if space.dimensions == 2 else sum(2**bit for bit, same in enumerate(agree) if same)
                expected[group, place] += often if sides[0] else -often
        assert np.array_equal(wedges.counts(counts), expected)


def test_a_row_on_a_plane_lies_on_its_positive_side():
    table = np.zeros(HOLES.shape(), dtype=np.int64)
    table[3, 5] = 4  # x is 0 here
    asked = Wedges(FLAT, np.array([[[1, 0], [0, 1]]]))
    assert asked.counts(Cells(HOLES, table)).tolist() == [[0, 4]]


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_every_part_draws_by_itself(parts):
    event, spy = Laplace(Fraction(1, 3)), Recorder(0)
    asked = Inside(FLAT, np.array([[1, 0], [0, 1], [1, 1]])[:parts])
    Kernel(counted(), spy, Cost((event,) * parts)).measure(asked, event)
    assert len(spy.calls) == parts


def test_a_row_one_step_below_a_plane_lies_on_its_other_side():
    steps = Space(("x", "y"), (np.arange(-3, 4), np.arange(8)), False)
    table = np.zeros(HOLES.shape(), dtype=np.int64)
    table[2, 0] = 4  # x is -1, y is 0
    counts, normals = Cells(HOLES, table), np.array([[1, 0], [0, 1]])
    assert Wedges(steps, normals[None]).counts(counts).tolist() == [[-4, 0]]
    assert Inside(steps, normals).counts(counts).tolist() == [0, 4]
    assert Balances(steps, normals).counts(counts).tolist() == [-4, 4]


@pytest.mark.parametrize(("constant", "columns", "apart"), [(2, 3, True), (2, 4, True), (2, 5, False), (1, 2, False)])
def test_variances_of_two_rows_have_a_product_only_where_the_constant_is_large(constant, columns, apart):
    names = tuple(f"x{place}" for place in range(columns))
    space = Space(names, tuple(SCALES[0] for _ in names), False)
    b2 = constant**4 + constant**2 * columns + columns
    replaced = Moments(space, constant, False).change(Unit.id("who", 3, "replace"))
    assert replaced.l2_squared == (18 if apart else 36) * b2 * STEPS**4
    crossed = constant**4 + constant**2 * columns + columns * (columns + 1) // 2
    replaced = Moments(space, constant, True).change(Unit.id("who", 3, "replace"))
    assert replaced.l2_squared == 18 * crossed * STEPS**4
