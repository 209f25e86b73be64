from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.kit.spending import Purse
from core.mechanisms.tree.planes import PLANES, Sides, how_many, planes_next, shape_of
from core.mechanisms.tree.steps import Desk
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.privacy.recorder import Recorder

DOMAIN = Domain((Integers(name="x", low=0, high=20), Integers(name="y", low=0, high=10, missing=True)))
QUERY = Halfspaces(columns=("x", "y"), directions=16)


def everywhere() -> Points:
    codes = np.argwhere(np.ones(DOMAIN.shape()))
    return Points(DOMAIN, codes, np.full(len(codes), 10.0))


def desk(cells: np.ndarray, unit: Unit, budget: Budget) -> tuple[Desk, Recorder]:
    recorder = Recorder(0)
    return Desk(Cells(DOMAIN, cells, unit), recorder, Purse.of(budget, unit)), recorder


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("person", 3)], ids=str)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)], ids=str)
def test_balances_of_all_planes_move_by_their_stated_sensitivity(budget, unit):
    """A row adds 1 or -1 to every plane at once; one that changes sides moves a plane by two."""
    cells = np.full(DOMAIN.shape(), 2)
    more, other = cells.copy(), cells.copy()
    more[0, 0] += unit.limit
    if unit.neighbours == "replace":
        other[-1, -2] += unit.limit
    asked = []
    for table in (more, other):
        made, recorder = desk(table, unit, budget)
        planes_next(made, QUERY, everywhere(), Fraction(1, 4), np.random.default_rng(0))
        asked.append(recorder.calls[0])
    assert asked[0].hidden.shape == (PLANES,)
    moved = np.abs(asked[0].hidden - asked[1].hidden)
    assert moved.max() == unit.l1
    assert asked[0].distance(asked[1]) <= asked[0].sensitivity
    assert asked[0].sensitivity == PLANES * (unit.l1 if budget.pure else unit.l1**2)
    if unit.neighbours == "add-remove":
        assert asked[0].distance(asked[1]) == asked[0].sensitivity


def test_a_row_with_a_missing_coordinate_moves_nothing():
    cells = np.full(DOMAIN.shape(), 2)
    more = cells.copy()
    more[3, -1] += 1
    hidden = []
    for table in (cells, more):
        made, recorder = desk(table, Unit.row(), Budget(1))
        planes_next(made, QUERY, everywhere(), Fraction(1), np.random.default_rng(0))
        hidden.append(recorder.calls[0].hidden)
    assert np.array_equal(*hidden)


def test_records_are_moved_to_the_side_where_the_rows_are():
    cells = np.zeros(DOMAIN.shape(), dtype=int)
    cells[12:, 6:10] = 60
    made, _ = desk(cells, Unit.row(), Budget(50, 1e-9))
    points = everywhere()
    sides = planes_next(made, QUERY, points, Fraction(1), np.random.default_rng(0))
    weights = sides.fit(points.weights)
    assert weights.sum() == pytest.approx(points.weights.sum()) and weights.min() >= 0
    truth = QUERY.answers(Cells(DOMAIN, cells))
    before = np.abs(QUERY.answers(points) - truth).mean()
    after = np.abs(QUERY.answers(Points(DOMAIN, points.codes, weights)) - truth).mean()
    assert after < 0.3 * before


def test_where_noise_drowns_the_counts_records_stay_as_they_are():
    signs = np.sign(np.random.default_rng(0).normal(size=(20, 500))).astype(np.float32)
    weights = np.random.default_rng(1).random(500)
    noisy = np.random.default_rng(2).normal(0, 1e6, 20)
    assert np.allclose(Sides(signs, noisy, 1e6).fit(weights), weights, rtol=0.05)


def test_the_shape_is_that_of_the_weighted_records():
    codes = np.array([[0, 0], [20, 10], [10, 11]])
    shape = shape_of(QUERY, Points(DOMAIN, codes, np.array([3.0, 1.0, 50.0])))
    assert shape.rows == 4 and np.allclose(shape.mean, [-0.5, -0.5])
    assert np.allclose(shape.factor @ shape.factor.T, 0.75)


def test_one_column_through_the_middle_has_two_planes():
    assert how_many(Halfspaces(columns=("x",), directions=2, translated=False), DOMAIN) == 2
    assert how_many(QUERY, DOMAIN) == PLANES
