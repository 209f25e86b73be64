import numpy as np

from core.models.halfspace_median import Projections, weigh
from core.models.points import Points
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))


def test_median_of_the_nearest_canonical_halfspaces():
    identity = np.eye(2, dtype=np.int64)
    model = Projections(
        DOMAIN,
        np.stack([identity, identity, -identity]),
        np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]),
        np.array([[10.0, 20, 30, 40], [12.0, 22, 32, 42], [1.0, 2, 3, 4]]),
        Points(DOMAIN, np.zeros((1, 2), dtype=np.int64), np.array([100.0])),
    )
    assert model.halfspaces(np.array([[5, 1], [1, -7]])).tolist() == [10.0, 40.0]
    assert model.total == 100


def test_weights_fit_reachable_shares():
    generator = np.random.default_rng(0)
    inside = generator.random((30, 400)) < 0.5
    wanted = inside @ generator.dirichlet(np.full(400, 0.5))
    start = np.abs(inside.mean(axis=1) - wanted).mean()
    weights = weigh(inside, wanted)
    assert np.isclose(weights.sum(), 1)
    assert weights.min() >= 0
    assert np.abs(inside @ weights - wanted).mean() < 0.2 * start


def test_more_steps_never_fit_worse():
    generator = np.random.default_rng(1)
    inside, wanted = generator.random((20, 50)) < 0.5, generator.random(20)
    errors = [np.square(inside @ weigh(inside, wanted, steps) - wanted).mean() for steps in (1, 2, 5, 20, 100)]
    assert errors == sorted(errors, reverse=True)
