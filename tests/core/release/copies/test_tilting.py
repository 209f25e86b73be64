"""Tilts: records get the covariances that are wanted, together, and columns keep their means and spreads."""

import numpy as np
import pytest

from core.models.fitting.moments import MomentGoal
from core.models.points import Points
from core.release.copies import tilting
from core.release.copies.tilting import tilted
from core.schema.domain import Domain, Integers

NAMES, SIZE, ROWS = ("a", "b", "c"), 9, 20_000
DOMAIN = Domain(tuple(Integers(name=name, low=0, high=SIZE - 1) for name in NAMES))


def normal(correlation: float) -> Points:
    generator = np.random.default_rng(5)
    shared, own = generator.normal(size=(ROWS, 1)), generator.normal(size=(ROWS, len(NAMES)))
    numbers = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    codes = np.clip(np.rint(4 + 1.6 * numbers), 0, SIZE - 1).astype(np.int64)
    return Points(DOMAIN, codes, np.ones(ROWS))


def correlations(points: Points) -> np.ndarray:
    covariance = np.cov(points.codes.T, aweights=points.weights)
    spreads = np.sqrt(np.diag(covariance))
    return (covariance / np.outer(spreads, spreads))[np.triu_indices(len(NAMES), 1)]


def goals(points: Points, pairs: tuple[tuple[str, str], ...]) -> list[MomentGoal]:
    found = [MomentGoal.of(pair, points.marginal(pair), 0.0) for pair in pairs]
    return [goal for goal in found if goal is not None]


PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))


@pytest.mark.parametrize(("before", "wanted"), [(0.3, 0.7), (0.6, 0.0)])
def test_covariances_that_hang_together_are_met_together(before: float, wanted: float) -> None:
    start, end = normal(before), normal(wanted)
    singles = start.marginals([(name,) for name in NAMES])
    found = tilted(start, goals(end, PAIRS), singles, np.random.default_rng(0))
    np.testing.assert_allclose(correlations(found), correlations(end), atol=0.03)
    assert found.total == pytest.approx(start.total)
    for place in range(len(NAMES)):
        mean = np.average(found.codes[:, place], weights=found.weights)
        spread = np.average((found.codes[:, place] - mean) ** 2, weights=found.weights)
        assert mean == pytest.approx(start.codes[:, place].mean(), abs=0.05)
        assert spread == pytest.approx(start.codes[:, place].var(), rel=0.03)


def test_covariances_that_cannot_be_are_met_as_far_as_records_allow() -> None:
    start = normal(0.5)
    wild = [MomentGoal(goal.columns, goal.scores, 5 * ROWS, 0.0) for goal in goals(start, PAIRS)]
    found = tilted(start, wild, start.marginals([(name,) for name in NAMES]), np.random.default_rng(0))
    assert np.isfinite(found.weights).all() and (found.weights >= 0).all()
    assert correlations(found).min() > 0.6


def test_few_of_many_records_tell_the_push(monkeypatch: pytest.MonkeyPatch) -> None:
    start, end = normal(0.2), normal(0.6)
    monkeypatch.setattr(tilting, "MOST_NUMBERS", 4_000 * 9)
    found = tilted(start, goals(end, PAIRS), start.marginals([(name,) for name in NAMES]), np.random.default_rng(0))
    assert len(found.codes) == ROWS
    np.testing.assert_allclose(correlations(found), correlations(end), atol=0.08)


def test_a_column_of_one_value_changes_nothing() -> None:
    codes = normal(0.5).codes.copy()
    codes[:, 0] = 3
    points = Points(DOMAIN, codes, np.ones(ROWS))
    singles = points.marginals([(name,) for name in NAMES])
    found = tilted(points, goals(points, (("b", "c"),)), singles, np.random.default_rng(0))
    np.testing.assert_allclose(found.weights, points.weights, rtol=0.05)
