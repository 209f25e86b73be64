import re

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.halfspaces import halfspace_projections
from core.mechanisms.halfspaces.halfspace_projections import HalfspaceProjections, cube_net
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import BUDGETS, PLANE, UNITS, check_private
from tests.kernels import run


def cube(columns, size=16, missing=False):
    return Domain(tuple(Integers(name=f"c{k}", low=0, high=size - 1, missing=missing) for k in range(columns)))


def blob(domain, rows, seed=0):
    generator = np.random.default_rng(seed)
    mix = generator.normal(0, 0.25, (len(domain), len(domain)))
    points = generator.normal(0, 1, (rows, len(domain))) @ mix + generator.normal(0, 0.2, len(domain))
    sizes = np.array([attribute.regular for attribute in domain])
    codes = np.clip((points + 1) / 2 * sizes, 0, sizes - 1).astype(int)
    return np.bincount(np.ravel_multi_index(tuple(codes.T), domain.shape()), minlength=domain.cells())


class Answered(Halfspaces):
    """The same questions, answered by the median over projections where the source has one."""

    def totals_at(self, source, normals):
        return source.halfspaces(normals) if hasattr(source, "halfspaces") else super().totals_at(source, normals)


@pytest.fixture(autouse=True)
def small_support(monkeypatch):
    monkeypatch.setattr(halfspace_projections, "SUPPORT", 500)


@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_privacy(budget, unit, dimension, monkeypatch):
    monkeypatch.setattr(halfspace_projections, "SUPPORT", 30)
    query = Halfspaces(columns=("x", "y"), directions=8)
    mechanism = HalfspaceProjections(queries=(query,), budget=budget, dimension=dimension, projections=3, gamma=0.9)
    check_private(mechanism, PLANE, unit, monkeypatch, pairs=6)


@pytest.mark.parametrize(("dimension", "per_axis"), [(2, 6), (3, 4), (4, 3)])
def test_the_net_covers_the_sphere(dimension, per_axis):
    net = cube_net(dimension, per_axis)
    assert len(net) == 2 * dimension * per_axis ** (dimension - 1)
    unit = net / np.linalg.norm(net, axis=1, keepdims=True)
    asked = np.random.default_rng(0).normal(size=(5_000, dimension))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    cosine = (asked @ unit.T).max(axis=1)
    assert np.sqrt(1 - cosine**2).max() <= np.sqrt(dimension - 1) / per_axis + 0.002


@pytest.mark.exhaustive
def test_theorem_at_its_own_parameters():
    """Two columns and an offset: the theorem's dimension exceeds three, so the net lies in the space itself."""
    domain = cube(2, 32)
    query = Answered(directions=200)
    mechanism = HalfspaceProjections(
        queries=(query,), budget=Budget(1), accuracy=0.1, beta=0.1, gamma=0.4, dimension=0, projections=0
    )
    sizes = mechanism.parameters(domain)
    assert (sizes.dimension, sizes.projections) == (3, 1)
    counts = Cells(domain, blob(domain, mechanism.required_rows(domain, Unit.row())))
    models = [run(mechanism, counts, Noise()) for _ in range(20)]
    assert np.mean([query.margin_error(counts, model, 0.4) > 0.1 for model in models]) <= 0.1
    # Without the margin the same answers are far off, so the margin matters here.
    assert query.worst(counts, models[0]) > 0.1


@pytest.mark.exhaustive
def test_many_projections_beat_one():
    domain = cube(5, 8)
    counts = Cells(domain, blob(domain, 200_000))
    query = Answered(directions=200, translated=False)
    truth = query.answers(counts)

    def error(projections):
        mechanism = HalfspaceProjections(queries=(query,), budget=Budget(5), projections=projections)
        return np.mean([np.abs(query.answers(run(mechanism, counts, Noise())) - truth).mean() for _ in range(4)])

    assert error(16) < error(1)


@pytest.mark.exhaustive
def test_records_answer_halfspaces_and_have_every_column():
    domain = Domain((*cube(3, 12), Integers(name="other", low=0, high=3)))
    table = np.repeat(blob(cube(3, 12), 50_000), 4).reshape(domain.shape())
    counts = Cells(domain, table)
    query = Halfspaces(columns=("c0", "c1", "c2"), directions=100)
    model = run(HalfspaceProjections(queries=(query,), budget=Budget(1), dimension=4, gamma=0.6), counts, Noise())
    truth = query.answers(counts)
    assert np.abs(query.answers(model) - truth).mean() < 0.3 * np.abs(0.5 - truth).mean()
    assert model.total == pytest.approx(200_000, rel=0.05)
    rows = model.sample(100, np.random.default_rng(0))
    assert rows.shape == (100, 4)
    assert model.marginal(("other",)).min() > 0


def test_theorem_parameters_are_those_of_the_paper():
    query = Halfspaces(columns=("c0", "c1"), bits=10)
    mechanism = HalfspaceProjections(queries=(query,), budget=Budget(1), accuracy=0.2, gamma=0.5, beta=0.1)
    assert mechanism.theorem_dimension() == int(np.ceil(4 * np.log(80) / ((0.5 / 16) ** 2 - (0.5 / 16) ** 3)))
    assert mechanism.theorem_projections(cube(2)) == int(np.ceil(12 * (np.log(20) + np.log(2) * 30)))


@pytest.mark.parametrize(
    "options",
    [
        {"dimension": 0, "projections": 0},
        {"dimension": 0},
        {"dimension": 5, "projections": 200},
        {"gamma": 0.001},
        {"net": 10**6},
        {"dimension": 2, "projections": 4_000},
    ],
)
def test_too_large_a_net_is_refused_with_values_that_work(options):
    domain = cube(8)
    query = Halfspaces(columns=domain.names)
    with pytest.raises(Refused, match="noisy counts") as caught:
        HalfspaceProjections(queries=(query,), budget=Budget(1), **options).check(domain, Unit.row())
    named = re.findall(r"(dimension|projections|net) to (\d+)", str(caught.value))
    advice = {name: int(value) for name, value in named}
    assert advice
    HalfspaceProjections(queries=(query,), budget=Budget(1), **{**options, **advice}).check(domain, Unit.row())


def test_refusals_name_the_parameter():
    query = (Halfspaces(columns=("c0",), directions=4),)
    wrong = {"accuracy": 1, "beta": 0, "gamma": 1.0, "dimension": 1, "projections": -1, "net": 2.5}
    for parameter, value in wrong.items():
        with pytest.raises(BadParameter, match=parameter):
            HalfspaceProjections(queries=query, budget=Budget(1), **{parameter: value})
    with pytest.raises(Refused, match="marginals"):
        HalfspaceProjections(queries=(Marginals(order=1),), budget=Budget(1)).check(cube(2), Unit.row())
    with pytest.raises(Refused, match="one set of columns"):
        HalfspaceProjections(queries=(*query, Halfspaces(columns=("c1",), directions=4)), budget=Budget(1)).check(
            cube(2), Unit.row()
        )


def test_rows_with_a_missing_coordinate_lie_in_no_halfspace():
    domain = cube(2, 8, missing=True)
    table = np.zeros(domain.shape(), dtype=np.int64)
    table[8, :] = 10_000
    query = Answered(directions=20)
    model = run(HalfspaceProjections(queries=(query,), budget=Budget(1), dimension=3), Cells(domain, table), Noise())
    assert query.answers(model).max() < 0.05
