from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.noisy_halfspaces import PLANES, Sides, balance_level, measure_planes, plane_count, shape_of
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.privacy.kit.recorder import Recorder

DOMAIN = Domain((Integers(name="x", low=0, high=20), Integers(name="y", low=0, high=10, missing=True)))
QUERY = Halfspaces(columns=("x", "y"), directions=16)


def everywhere() -> Points:
    codes = np.argwhere(np.ones(DOMAIN.shape()))
    return Points(DOMAIN, codes, np.full(len(codes), 10.0))


def measuring(cells: np.ndarray, unit: Unit, budget: Budget) -> tuple[Measuring, Recorder]:
    recorder, spending = Recorder(0), Spending.of(budget, unit)
    return Measuring(Kernel(Cells(DOMAIN, cells, unit), recorder, spending.cost), spending), recorder


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
        made, recorder = measuring(table, unit, budget)
        measure_planes(made, QUERY, everywhere(), Fraction(1, 4), np.random.default_rng(0))
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
        made, recorder = measuring(table, Unit.row(), Budget(1))
        measure_planes(made, QUERY, everywhere(), Fraction(1), np.random.default_rng(0))
        hidden.append(recorder.calls[0].hidden)
    assert np.array_equal(*hidden)


def test_records_are_moved_to_the_side_where_the_rows_are():
    cells = np.zeros(DOMAIN.shape(), dtype=int)
    cells[12:, 6:10] = 60
    made, _ = measuring(cells, Unit.row(), Budget(50, 1e-9))
    points = everywhere()
    sides = measure_planes(made, QUERY, points, Fraction(1), np.random.default_rng(0))
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


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)], ids=str)
def test_the_noise_of_a_balance_is_known_beforehand(budget):
    made, _ = measuring(np.ones(DOMAIN.shape(), dtype=int), Unit.row(), budget)
    sides = measure_planes(made, QUERY, everywhere(), Fraction(1, 3), np.random.default_rng(0))
    assert balance_level(QUERY, DOMAIN, made.spending, Fraction(1, 3)).sigma == sides.sigma


def test_one_column_through_the_middle_has_two_planes():
    assert plane_count(Halfspaces(columns=("x",), directions=2, translated=False), DOMAIN) == 2
    assert plane_count(QUERY, DOMAIN) == PLANES
