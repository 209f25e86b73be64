import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.halfspaces import halfspace_fit
from core.mechanisms.halfspaces.halfspace_fit import HalfspaceFit, support
from core.mechanisms.halfspaces.halfspace_projections import HalfspaceProjections
from core.mechanisms.halfspaces.moments import PointShape
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.marginals import Marginals
from core.schema.domain import Categories, Domain, Integers
from core.table.counts import Cells
from core.table.table import Table
from tests.accounts import part_of
from tests.core.mechanisms.halfspaces.test_halfspace_projections import blob, cube
from tests.core.mechanisms.replay import BUDGETS, PLANE, UNITS, check_private
from tests.kernels import run

HOLES = Domain((Integers(name="x", low=0, high=4, missing=True), Integers(name="y", low=0, high=5)))


def error(query, model, counts):
    return np.abs(query.answers(model) - query.answers(counts))


@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("translated", [True, False])
def test_privacy(budget, unit, translated, monkeypatch):
    monkeypatch.setattr(halfspace_fit, "SUPPORT", 60)
    query = Halfspaces(columns=("x", "y"), directions=8, translated=translated)
    check_private(HalfspaceFit(queries=(query,), budget=budget, planes=12), PLANE, unit, monkeypatch, pairs=10)


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy_with_missing_coordinates(budget, unit, monkeypatch):
    monkeypatch.setattr(halfspace_fit, "SUPPORT", 60)
    query = Halfspaces(directions=8)
    check_private(HalfspaceFit(queries=(query,), budget=budget, planes=12), HOLES, unit, monkeypatch, pairs=10)


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("domain", [cube(1), cube(2), cube(20), HOLES])
def test_default_cost_uses_the_budget_and_never_more(epsilon, delta, domain):
    budget = Budget(epsilon, delta)
    mechanism = HalfspaceFit(queries=(Halfspaces(directions=8),), budget=budget)
    assert 0.999 < part_of(budget, mechanism.cost(domain, Unit.row())) <= 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("translated", [True, False])
def test_beats_projections_by_a_wide_margin(budget, translated):
    domain = cube(4, 12)
    counts = Cells(domain, blob(domain, 50_000))
    query = Halfspaces(directions=500, translated=translated)
    mechanism = HalfspaceFit(queries=(query,), budget=budget, planes=200)
    ours = [error(query, run(mechanism, counts, Noise()), counts) for _ in range(2)]
    projected = run(HalfspaceProjections(queries=(query,), budget=budget), counts, Noise())
    paper = projected.halfspaces(query.normals(domain)) / projected.total - query.answers(counts)
    assert np.mean(ours) < np.abs(paper).mean() / 4
    assert np.mean(ours) < 0.01


@pytest.mark.exhaustive
def test_more_budget_is_more_accurate():
    domain = cube(3, 16)
    counts = Cells(domain, blob(domain, 20_000))
    query = Halfspaces(directions=300)
    errors = []
    for budget in (Budget(0.05), Budget(0.3), Budget(1, 1e-6)):
        mechanism = HalfspaceFit(queries=(query,), budget=budget, planes=128)
        errors.append(np.mean([error(query, run(mechanism, counts, Noise()), counts).mean() for _ in range(2)]))
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("epsilon", "most"), [(0.1, 0.005), (1, 0.002)])
def test_planes_of_two_columns_are_counted_together(epsilon, most):
    domain = cube(2, 64)
    counts = Cells(domain, blob(domain, 50_000))
    query = Halfspaces(directions=500, translated=False)
    mechanism = HalfspaceFit(queries=(query,), budget=Budget(epsilon))
    # A single run can be far off, so the middle one of five is compared.
    errors = [error(query, run(mechanism, counts, Noise()), counts).mean() for _ in range(5)]
    assert np.median(errors) < most
    assert len(mechanism.cost(domain, Unit.row()).events) == 2


@pytest.mark.exhaustive
def test_twenty_columns_without_their_product():
    generator = np.random.default_rng(0)
    domain = cube(20, 64)
    points = 0.3 + 0.4 * generator.normal(size=(20_000, 20)) @ generator.normal(size=(20, 20)) / 9
    codes = np.clip((points + 1) / 2 * 64, 0, 63).astype(int)
    table = Table.load(pd.DataFrame(codes, columns=list(domain.names)), domain, Unit.row(), Noise())
    query = Halfspaces(directions=300, translated=False)
    model = run(HalfspaceFit(queries=(query,), budget=Budget(1, 1e-6), planes=256), table, Noise())
    assert error(query, model, table).mean() < 0.25 * np.abs(query.answers(table) - 0.5).mean()
    assert model.total == pytest.approx(20_000, rel=0.05)


@pytest.mark.exhaustive
def test_records_have_every_column_and_answer_like_the_model():
    domain = Domain((*cube(2, 12), Categories(name="other", values=("a", "b"))))
    counts = Cells(domain, np.repeat(blob(cube(2, 12), 25_000), 2))
    query = Halfspaces(directions=100)
    model = run(HalfspaceFit(queries=(query,), budget=Budget(1)), counts, Noise())
    rows = model.sample(5_000, np.random.default_rng(0))
    assert rows.shape == (5_000, 3)
    cells = np.bincount(np.ravel_multi_index(tuple(rows.T), domain.shape()), minlength=domain.cells())
    assert error(query, Cells(domain, cells), counts).max() < 0.1
    assert model.marginal(("other",)) / model.total == pytest.approx([0.5, 0.5], abs=0.1)


@pytest.mark.parametrize("translated", [True, False])
def test_one_column(translated):
    domain = cube(1, 21)
    counts = Cells(domain, 100 * np.arange(21) ** 2)
    query = Halfspaces(directions=40 if translated else 2, translated=translated)
    model = run(HalfspaceFit(queries=(query,), budget=Budget(1)), counts, Noise())
    assert error(query, model, counts).max() < 0.05


@pytest.mark.exhaustive
def test_constant_columns():
    """One by its schema, one by its data."""
    domain = Domain((*cube(2, 16), Integers(name="one", low=3, high=3)))
    table = np.zeros(domain.shape(), dtype=np.int64)
    table[:, 5, 0] = 2_000
    query = Halfspaces(directions=200)
    model = run(HalfspaceFit(queries=(query,), budget=Budget(1)), Cells(domain, table), Noise())
    assert error(query, model, Cells(domain, table)).mean() < 0.02
    assert model.marginal(("one",)).shape == (1,)


@pytest.mark.exhaustive
def test_rows_with_a_missing_coordinate_lie_in_no_halfspace():
    table = np.zeros(HOLES.shape(), dtype=np.int64)
    table[5, :], table[3, 4] = 5_000, 10_000
    query = Halfspaces(directions=60)
    counts = Cells(HOLES, table)
    model = run(HalfspaceFit(queries=(query,), budget=Budget(1)), counts, Noise())
    assert model.total == pytest.approx(40_000, rel=0.05)
    assert model.marginal(("x",))[5] == pytest.approx(30_000, rel=0.05)
    assert error(query, model, counts).mean() < 0.03


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("budget", [*BUDGETS, Budget(1e-6)])
def test_next_to_no_rows_still_give_a_valid_release(rows, budget):
    table = np.zeros(cube(2).shape(), dtype=np.int64)
    table[2, 2] = rows
    query = Halfspaces(directions=20)
    model = run(HalfspaceFit(queries=(query,), budget=budget, planes=64), Cells(cube(2), table), Noise())
    answers = query.answers(model)
    assert np.isfinite(answers).all() and answers.min() >= 0 and answers.max() <= 1 + 1e-9
    assert model.sample(10, np.random.default_rng(0)).shape == (10, 2)


def test_the_support_has_the_released_shape(monkeypatch):
    monkeypatch.setattr(halfspace_fit, "STRAY", 0.0)
    domain = cube(2, 400)
    factor = np.array([[0.2, 0.0], [0.1, 0.1]])
    shape = PointShape(1_000.0, np.array([0.1, -0.2]), factor)
    codes = support(domain, Halfspaces(), shape, np.random.default_rng(0))
    points = codes / 399 * 2 - 1
    assert points.mean(axis=0) == pytest.approx(shape.mean, abs=0.002)
    assert np.cov(points.T) == pytest.approx(factor @ factor.T, abs=0.002)


def test_refusals_say_what_to_do():
    query = (Halfspaces(columns=("c0",), directions=4),)
    for value in (-1, 2.5, True, 10**6):
        with pytest.raises(BadParameter, match="planes"):
            HalfspaceFit(queries=query, budget=Budget(1), planes=value)
    with pytest.raises(Refused, match="marginals"):
        HalfspaceFit(queries=(Marginals(order=1),), budget=Budget(1)).check(cube(2), Unit.row())
    with pytest.raises(Refused, match="one set of columns"):
        HalfspaceFit(queries=(*query, Halfspaces(columns=("c1",), directions=4)), budget=Budget(1)).check(
            cube(2), Unit.row()
        )
    for budget in (Budget(1e-9), Budget(1e-9, 1e-12)):
        with pytest.raises(Refused, match="larger epsilon"):
            HalfspaceFit(queries=query, budget=budget).check(cube(2), Unit.row())
    words = Domain((Categories(name="word", values=("a", "b")), *cube(1)))
    with pytest.raises(BadParameter, match="word"):
        HalfspaceFit(queries=(Halfspaces(columns=("word", "c0")),), budget=Budget(1)).check(words, Unit.row())
