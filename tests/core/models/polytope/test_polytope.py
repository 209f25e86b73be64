"""The polytope of histograms, its centre, and the walk in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.models.polytope.centre import around, centre
from core.models.polytope.mixing import Mixing, effective, split_rhat
from core.models.polytope.polytope import Polytope
from core.models.polytope.walk import Sweep, cut, spread, walk

FIRST = np.array([1.0, 1.0, 0.0, 0.0])
SECOND = np.array([0.0, 1.0, 0.5, 0.0])
BODY = Polytope.simplex(4).cut(FIRST, 0.55, 0.8).cut(SECOND, 0.1, 0.3)
LOOKED_AT = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0.5, 0], [1, 0, 1, 0]]).T


def rejected(body: Polytope, count: int, generator: np.random.Generator) -> np.ndarray:
    """Uniform points by drawing from the whole simplex and throwing away what is outside."""
    points = generator.dirichlet(np.ones(body.cells), 40 * count)
    return points[body.inside(points)][:count]


def the_same(one: np.ndarray, two: np.ndarray) -> float:
    """The smallest p-value over answers in several directions."""
    return min(stats.ks_2samp(one @ way, two @ way).pvalue for way in LOOKED_AT.T)


def test_inside_and_cut():
    assert BODY.slabs == 2 and BODY.cells == 4
    assert BODY.inside(np.array([[0.5, 0.1, 0.2, 0.2]])).all()
    for outside in ([0.5, 0.4, 0.05, 0.05], [0.3, 0.1, 0.3, 0.3], [0.7, -0.1, 0.4, 0.0], [0.5, 0.1, 0.2, 0.1]):
        assert not BODY.inside(np.array([outside])).any()


def test_atoms_are_cells_with_the_same_weights():
    body = Polytope.simplex(5).cut(np.array([1, 0, 1, 0, 0.0]), 0.1, 0.9).cut(np.array([0, 0, 0, 1, 0.0]), 0, 1)
    atoms = body.atoms()
    assert atoms[0] == atoms[2] and atoms[1] == atoms[4] and len(set(atoms)) == 3


@pytest.mark.parametrize(("target", "missing"), [(0.2, 0.0), (0.9, 0.9 - 0.3), (0.0, 0.1)])
def test_the_nearest_point_by_a_linear_program(target, missing):
    point, distance = BODY.nearest(SECOND, target)
    assert BODY.inside(point[None], slack=1e-7).all()
    assert distance == pytest.approx(missing, abs=1e-7)
    assert abs(point @ SECOND - target) == pytest.approx(missing, abs=1e-7)


def test_the_centre_is_a_stationary_point_inside():
    inner = rejected(BODY, 1, np.random.default_rng(0))[0]
    middle = centre(BODY, inner)
    at = BODY.weights @ middle
    assert (at > BODY.low).all() and (at < BODY.high).all() and (middle > 0).all()
    slope = 1 / middle + BODY.weights.T @ (1 / (at - BODY.low) - 1 / (BODY.high - at))
    # Along the simplex nothing grows: all parts of the gradient are equal.
    assert np.ptp(slope) < 1e-3 * np.abs(slope).max()


def test_points_around_the_centre_are_inside():
    generator = np.random.default_rng(1)
    middle = centre(BODY, rejected(BODY, 1, generator)[0])
    points = around(BODY, middle, 500, generator)
    assert BODY.inside(points).all()
    assert (points.std(axis=0) > 0.2 * rejected(BODY, 500, generator).std(axis=0)).all()


def test_the_whole_simplex_is_drawn_exactly():
    points = spread(6, 20_000, np.random.default_rng(2)).points
    assert np.allclose(points.sum(axis=1), 1)
    assert points.mean(axis=0) == pytest.approx(1 / 6, rel=0.02)
    assert points.var(axis=0) == pytest.approx(5 / (36 * 7), rel=0.06)
    # Each share has the distribution Beta(1, 5), whose tenths are equally likely.
    tenths = np.floor(10 * stats.beta(1, 5).cdf(points[:, 0])).astype(int)
    assert stats.chisquare(np.bincount(tenths, minlength=10)).pvalue > 1e-4


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("part", ["within", "along", "across", "anywhere", "run"])
def test_each_kind_of_step_leaves_the_uniform_distribution_as_it_is(part):
    generator = np.random.default_rng(3)
    body = Polytope.simplex(5).cut(np.array([1, 1, 0, 0, 0.0]), 0.5, 0.7)
    body = body.cut(np.array([0, 0, 1, 0, 0.5]), 0.05, 0.25)
    steps = Sweep.of(body, centre(body, rejected(body, 1, generator)[0]))
    start = rejected(body, 6_000, generator)
    here = start.copy()
    for _ in range(5):
        getattr(steps, part)(here, generator)
    assert body.inside(here).all()
    assert not np.allclose(here, start)
    other = rejected(body, 6_000, generator)
    ways = np.vstack([np.eye(5), body.weights])
    assert min(stats.ks_2samp(here @ way, other @ way).pvalue for way in ways) > 1e-4


@pytest.mark.exhaustive
def test_the_walk_reaches_the_uniform_distribution_from_a_corner():
    generator = np.random.default_rng(4)
    truth = rejected(BODY, 1_500, generator)
    steps = Sweep.of(BODY, centre(BODY, truth[0]))
    here = np.repeat(truth[truth[:, 0].argmax()][None], 1_500, axis=0)
    for _ in range(40):
        steps.run(here, generator)
    assert the_same(here, truth) > 1e-4


@pytest.mark.exhaustive
def test_a_cut_simplex_against_rejection():
    generator = np.random.default_rng(5)
    points, body = spread(4, 1_500, generator).points, Polytope.simplex(4)
    for weights, low, high in ((FIRST, 0.55, 0.8), (SECOND, 0.1, 0.3)):
        body, middle = cut(body, points, weights, low, high)
        walked = walk(body, middle, 1_500, generator, most=32)
        points = walked.points
    assert (body.low == BODY.low).all() and (body.high == BODY.high).all()
    assert body.inside(points).all()
    assert walked.mixing.rhat < 1.05
    assert the_same(points, rejected(BODY, 1_500, generator)) > 1e-4


@pytest.mark.exhaustive
def test_a_walk_stays_inside_a_thin_body_of_many_cells_and_repeats_itself():
    found = []
    for _ in range(2):
        generator = np.random.default_rng(6)
        truth = generator.dirichlet(np.full(64, 0.2))
        body, points = Polytope.simplex(64), spread(64, 32, generator).points
        for _ in range(6):
            weights = generator.integers(0, 2, 64).astype(float)
            body, middle = cut(body, points, weights, truth @ weights - 0.01, truth @ weights + 0.01)
            points = walk(body, middle, 32, generator, most=8).points
            assert body.inside(points).all()
        found.append(points)
    assert np.array_equal(*found)


def test_answers_that_contradict_each_other_widen_the_last_slab():
    generator = np.random.default_rng(7)
    points = spread(4, 50, generator).points
    body, middle = cut(Polytope.simplex(4), points, FIRST, 0.7, 0.8)
    points = walk(body, middle, 50, generator, most=8).points
    wider, middle = cut(body, points, FIRST, 0.2, 0.3)
    assert wider.low[1] < 0.2 and wider.high[1] > 0.7
    assert wider.inside(middle[None]).all()
    assert wider.inside(walk(wider, middle, 50, generator, most=8).points).all()


def test_mixing_sees_chains_that_stand_apart():
    generator = np.random.default_rng(8)
    mixed = generator.normal(size=(50, 20))
    assert split_rhat(mixed) < 1.02
    assert effective(mixed) > 600
    assert split_rhat(mixed + np.arange(20)) > 3
    slow = np.cumsum(mixed, axis=0)
    assert effective(slow) < 100 < effective(mixed)
    assert Mixing.of(np.stack([mixed, slow], axis=2)).rhat == split_rhat(slow)
    constant = np.ones((50, 20)) + 1e-15 * np.sign(mixed)
    assert Mixing.of(np.stack([constant, slow], axis=2)) == Mixing.of(slow[:, :, None]), "constant probes do not count"
    assert Mixing.of(constant[:, :, None]) == Mixing.perfect(20)
    assert split_rhat(np.ones((8, 4))) == 1.0 and split_rhat(np.ones((8, 4)) * np.arange(4)) == np.inf


def test_effective_size_of_a_chain_with_known_memory():
    # x' = 0.8 x + noise has (1 + 0.8)/(1 - 0.8) = 9 draws to one independent one.
    generator = np.random.default_rng(9)
    draws = np.zeros((400, 50))
    draws[0] = generator.normal(size=50) / 0.6
    for time in range(1, 400):
        draws[time] = 0.8 * draws[time - 1] + generator.normal(size=50)
    assert effective(draws) == pytest.approx(draws.size / 9, rel=0.15)
