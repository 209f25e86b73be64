"""Interactions of tables of any shape: exact, silent about sums, and moved by no more than they say."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.interactions import Axis, Interaction
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

UNITS = (Unit.row(), Unit.row("replace"), Unit.id("who", 2), Unit.id("who", 2, "replace"))
SHAPES = [(2,), (3,), (5,), (2, 2), (2, 3), (3, 3), (4, 2), (2, 2, 2), (2, 3, 2)]


def domain_of(shape: tuple[int, ...]) -> Domain:
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in zip("xyz", shape, strict=False)))


def interaction(shape: tuple[int, ...], centred: bool) -> Interaction:
    return Interaction(domain_of(shape).names, shape, centred)


def read(asked: Interaction, table: np.ndarray) -> np.ndarray:
    return asked.counts(Cells(domain_of(asked.shape), table))


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_change_is_the_largest_over_all_units_of_every_kind(shape, centred):
    """The answers are linear, so a unit moves them by what its own rows say: all units are tried."""
    asked, cells = interaction(shape, centred), math.prod(shape)
    for unit in UNITS:
        rows = [held for size in range(unit.limit + 1) for held in combinations_with_replacement(range(cells), size)]
        told = {held: read(asked, np.bincount(held, minlength=cells).reshape(shape)) for held in rows}
        if unit.neighbours == "replace":
            pairs = [(one, two) for one in rows for two in rows if not unit.public_rows or len(one) == len(two)]
        else:
            pairs = [(one, ()) for one in rows]
        moved = [told[one] - told[two] for one, two in pairs]
        most = asked.change(unit)
        assert max(int(np.abs(each).sum()) for each in moved) <= most.l1
        assert max(int((each**2).sum()) for each in moved) == most.l2_squared


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_squared_length_of_a_row_is_that_of_the_residual(shape):
    asked = interaction(shape, centred=True)
    doubled = [2 if size == 2 else 1 for size in shape]
    in_cells = asked.change(Unit.row()).l2_squared * math.prod(doubled) / asked.scale**2
    assert in_cells == pytest.approx(math.prod(1 - 1 / size for size in shape))


def test_two_columns_centred_are_the_residual_of_both_sums():
    table = np.random.default_rng(0).integers(0, 50, (3, 4))
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    assert (read(interaction((3, 4), True), table) == 12 * table - 3 * rows - 4 * columns + table.sum()).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_of_the_table_change_nothing(shape):
    """Any table that does not depend on one of its columns has no interaction."""
    asked = interaction(shape, centred=True)
    for axis, size in enumerate(shape):
        flat = np.random.default_rng(axis).integers(0, 9, [1 if place == axis else k for place, k in enumerate(shape)])
        assert not read(asked, np.repeat(flat, size, axis=axis)).any()


def test_the_largest_counts_stay_within_64_bits():
    for shape, centred in product([(2, 2), (9, 8)], (True, False)):
        table = np.zeros(shape, dtype=np.int64)
        table[0, 0] = 2**62
        found = read(interaction(shape, centred), table)
        assert np.abs(found.astype(object)).max() <= LARGEST


def test_a_shape_that_is_not_the_tables_is_refused():
    with pytest.raises(BadParameter, match="shape"):
        Interaction(("x", "y"), (2, 2), True).counts(Cells(domain_of((3, 3)), np.ones((3, 3), dtype=np.int64)))
    for columns, shape in (((), ()), (("x",), (1,)), (("x", "y"), (2,)), (("x", "y"), (1, 3)), (("x", "y"), (3, 1))):
        with pytest.raises(BadParameter, match="shape"):
            Interaction(columns, shape, True)


def test_the_scale_makes_counts_of_what_is_taken_along_a_column():
    """Where sums over the column are 0: two values give their difference, more are multiplied by their number."""
    for size, centred, scale in ((2, True, 2), (2, False, 2), (3, True, 3), (3, False, 1), (5, True, 5)):
        axis, table = Axis(size, centred), np.arange(size, dtype=np.int64) * 2
        table = table - table.sum() // size
        assert axis.scale == scale
        taken = axis.taken(table, 0)
        assert taken.tolist() == ([table[1] - table[0]] if size == 2 else (scale * table).tolist())


@pytest.mark.parametrize(
    ("shape", "centred", "l1"),
    [((2,), True, 1), ((3,), True, 4), ((5,), True, 8), ((2, 3), True, 4), ((3, 3), True, 16), ((3, 5), False, 1)],
)
def test_the_change_in_l1_by_hand(shape, centred, l1):
    found = [interaction(shape, centred).change(unit).l1 for unit in UNITS]
    assert found == [l1, 2 * l1, 2 * l1, 4 * l1]


@pytest.mark.parametrize(("shape", "most"), [((2, 2), LARGEST // 16 // 4), ((3,), LARGEST // 6 // 3)])
def test_counts_are_clipped_to_what_all_cells_could_hold_together(shape, most):
    asked, table = interaction(shape, True), np.zeros(shape, dtype=np.int64)
    for held, clipped in ((most - 1, most - 1), (most, most), (most + 1, most), (2**62, most)):
        table.flat[0] = held
        assert read(asked, table).flat[0] == (clipped if len(shape) == 2 else 2 * clipped)


def test_counts_below_nothing_are_nothing():
    class Negative:
        def marginal(self, columns):
            return np.array([-7, 0, 2])

    assert Interaction(("x",), (3,), False).counts(Negative()).tolist() == [0, 0, 2]
