import re

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.halfspaces import SCALE
from core.models.histogram import Histogram
from core.models.points import Points
from core.queries import halfspaces
from core.queries.halfspaces import Halfspaces
from core.queries.kit.normals import discretised, net
from core.queries.kit.sources import distinct
from core.schema.domain import Domain, Integers, Reals
from core.table.counts import Cells
from tests.core.queries.cases import NUMBERS, random_cells

PLANE = Domain((Integers(name="x", low=-2, high=2), Reals(name="y", low=0, high=10, bins=5)))
LARGE = Domain(tuple(Integers(name=f"n{place}", low=0, high=999) for place in range(5)))


def test_the_net_is_public_and_the_same_every_time():
    first = net(3, True, 50, 8).copy()
    net.cache_clear()
    assert np.array_equal(net(3, True, 50, 8), first)
    assert np.array_equal(net(3, True, 20, 8), first[:20])
    assert len(np.unique(first, axis=0)) == 50
    assert np.abs(first).max() == 64


def test_the_net_points_everywhere():
    for columns in (2, 3, 6):
        lines = net(columns, False, 512, 12).astype(float)
        lines /= np.linalg.norm(lines, axis=1, keepdims=True)
        assert np.abs(lines.mean(axis=0)).max() < 0.02
        assert np.allclose(lines.T @ lines / 512, np.eye(columns) / columns, atol=0.02)


def test_a_point_on_the_plane_belongs_to_the_halfspace():
    """Exact arithmetic: the diagonal of the grid lies on x = y however the sum is ordered."""
    counts = Cells(PLANE, np.eye(5, dtype=np.int64))
    query = Halfspaces(translated=False)
    assert query.at(PLANE, (1, -1)).total(counts) == query.at(PLANE, (-1, 1)).total(counts) == 5
    assert query.totals_at(counts, np.array([[1, -1], [-1, 1], [1, 1]])).tolist() == [5, 5, 3]


def test_a_plane_is_told_in_the_units_of_its_columns():
    """Whoever counts rows by the sentence counts the rows of the question."""
    generator = np.random.default_rng(8)
    for query in Halfspaces(directions=40).sample(PLANE, 40, generator):
        told = re.fullmatch(r"share of rows with (.*) at least (\S+)", query.words)
        assert told is not None
        factors = dict.fromkeys(PLANE.names, 0.0)
        for sign, times, name in re.findall(r"([+-]?) ?(?:(\S+) × )?([a-z]+)", told[1]):
            factors[name] = (-1 if sign == "-" else 1) * float(times or 1)
        heights = sum(
            factor * PLANE[name].centers().reshape([-1, 1] if name == PLANE.names[0] else [1, -1])
            for name, factor in factors.items()
        ) - float(told[2])
        clear = np.abs(heights) > 0.02
        assert np.array_equal(query.weights[clear] == 1, heights[clear] > 0)
        assert clear.mean() > 0.8


def test_a_translated_plane_has_an_offset():
    counts = Cells(PLANE, np.ones(25))
    assert Halfspaces().at(PLANE, (1, 0, -0.5)).total(counts) == 10  # x scaled to -1, -.5, 0, .5, 1
    assert Halfspaces().at(PLANE, (1, 0, -0.51)).total(counts) == 5


def test_points_lie_in_the_unit_ball():
    query = Halfspaces()
    codes = np.argwhere(np.ones(PLANE.shape()))
    points, present = query.space(PLANE).points(codes)
    assert present.all()
    assert np.linalg.norm(points / SCALE / np.sqrt(points.shape[1]), axis=1).max() <= 1
    assert points[:, 0].min() == -SCALE and points[:, 1].max() == SCALE and (points[:, 2] == SCALE).all()


def test_rows_with_a_missing_value_lie_in_no_halfspace():
    counts = random_cells(NUMBERS, 4)
    query = Halfspaces(columns=("x",), directions=2, translated=False)
    present = counts.marginal(("x",))[:5].sum()
    assert (query.totals(counts).sum() - counts.marginal(("x",))[2]) == present
    assert (query.answers(counts) < 1).all()


def test_large_universes_are_counted_by_their_points():
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 1000, (400, 5))
    model = Points(LARGE, codes, np.full(400, 2.5))
    query = Halfspaces(directions=30)
    products = query.space(LARGE).points(codes)[0] @ query.normals(LARGE).T
    assert np.allclose(query.totals(model), 2.5 * (products >= 0).sum(axis=0))
    assert query.worst(model, model) == 0
    narrow = Histogram(PLANE, np.eye(5))
    assert len(distinct(narrow, ("x", "y"))[0]) == 5


def test_a_model_without_records_is_refused_when_its_table_is_too_large():
    class Opaque:
        domain = LARGE

        def marginal(self, columns):
            raise AssertionError("too large to build")

    with pytest.raises(Refused, match="combinations"):
        distinct(Opaque(), LARGE.names)


def test_blocks_do_not_change_the_answers(monkeypatch):
    counts = random_cells(NUMBERS, 5)
    query = Halfspaces(directions=40)
    whole = query.totals(counts)
    monkeypatch.setattr(halfspaces, "BLOCK", 100)
    assert np.array_equal(query.totals(counts), whole)


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.3, 1.0])
def test_margin_error_lets_near_points_count_either_way(translated, gamma):
    query = Halfspaces(columns=("x", "y"), directions=24, translated=translated)
    truth, estimate = random_cells(PLANE, 1), random_cells(PLANE, 2, 4)
    codes, counts = truth.combinations(("x", "y"))
    points = query.space(PLANE).points(codes)[0].astype(float)
    answers = query.answers(estimate)
    worst = 0.0
    for normal, answer in zip(query.normals(PLANE), answers, strict=True):
        unit = normal / np.linalg.norm(normal)
        heights = points @ unit
        lengths = np.linalg.norm(points, axis=1)
        near = np.array([length == 0 or abs(h / length) <= gamma for h, length in zip(heights, lengths, strict=True)])
        low = counts[(heights >= 0) & ~near].sum() / counts.sum()
        high = counts[(heights >= 0) | near].sum() / counts.sum()
        worst = max(worst, low - answer, answer - high)
    found = query.margin_error(truth, estimate, gamma)
    assert np.isclose(found, worst)
    assert found <= query.worst(truth, estimate) + 1e-12
    if gamma == 1.0:
        assert found == 0


def test_a_margin_is_between_zero_and_one():
    counts = random_cells(PLANE, 0)
    for gamma in (-0.1, 1.5, "wide"):
        with pytest.raises(BadParameter, match="gamma"):
            Halfspaces().margin_error(counts, counts, gamma)


@pytest.mark.parametrize("normal", [(1, 2), (0, 0, 0), (1, float("nan"), 0)])
def test_a_normal_must_be_a_direction(normal):
    with pytest.raises(BadParameter, match="normal"):
        Halfspaces().at(PLANE, normal)


def test_the_net_shatters_as_many_points_as_there_are_dimensions():
    assert Halfspaces(translated=False).vc(PLANE).low == Halfspaces(translated=False).vc(PLANE).high == 2
    assert Halfspaces().vc(PLANE).low == Halfspaces().vc(PLANE).high == 3
    assert Halfspaces(directions=2).vc(PLANE).high == 1


def test_normals_keep_their_direction_when_discretised():
    assert discretised(np.array([0.5, -1.0, 0.25]), 8).tolist() == [32, -64, 16]


def test_the_words_of_a_member_need_no_table():
    few, many = (Domain(tuple(Integers(name=name, low=0, high=high) for name in "xy")) for high in (9, 9_999))
    query = Halfspaces(columns=("x", "y"), directions=8)
    assert [query.words(few, place) for place in range(8)] == [query.member(few, place).words for place in range(8)]
    assert query.words(many, 3).startswith("share of rows with")
