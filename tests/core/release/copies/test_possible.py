"""Covariances that one table can have at once: signs that go together, and the nearest correlations that can be."""

from itertools import combinations

import numpy as np
import pytest

from core.models.fitting.moments import MomentGoal, standard
from core.models.points import Points
from core.release.copies.possible import correlations, nearest_possible, possible
from core.schema.domain import Categories, Domain, Integers

ROWS, SIZE = 6_000, 9
NAMES = ("a", "b", "c", "d")
DOMAIN = Domain(
    (*(Integers(name=name, low=0, high=SIZE - 1) for name in NAMES), Categories(name="u", values=("x", "y", "z")))
)


def apart() -> Points:
    """Columns that have nothing to do with each other."""
    generator = np.random.default_rng(4)
    numbers = np.clip(np.rint(4 + 1.6 * generator.normal(size=(ROWS, len(NAMES)))), 0, SIZE - 1)
    codes = np.column_stack([numbers, generator.integers(0, 3, ROWS)]).astype(np.int64)
    return Points(DOMAIN, codes, np.ones(ROWS))


def goal(pair: tuple[str, str], correlation: float, sigma: float = 0.0) -> MomentGoal:
    ones = [standard(apart().marginal((name,))) for name in pair]
    return MomentGoal(pair, np.multiply.outer(*ones), correlation * ROWS, sigma * ROWS)


def both(pair: tuple[str, str], correlation: float, sigma: float = 0.0) -> tuple[MomentGoal, MomentGoal]:
    return goal(pair, correlation, sigma), goal(pair, -correlation, sigma)


def matrix(goals: list[MomentGoal]) -> np.ndarray:
    found = np.eye(len(NAMES))
    for each in goals:
        if "u" not in each.columns:
            one, two = (NAMES.index(name) for name in each.columns)
            found[one, two] = found[two, one] = each.target / ROWS
    return found


@pytest.mark.parametrize("seed", range(6))
def test_signs_of_strong_dependences_go_together(seed: int) -> None:
    """Of four columns that nearly repeat each other, or their opposites, all triples multiply to more than nothing."""
    either = [both(pair, 0.9) for pair in combinations(NAMES, 2)]
    found = matrix(possible(apart(), [], either, np.random.default_rng(seed)))
    assert np.linalg.eigvalsh(found)[0] > -1e-6
    for one, two, three in combinations(range(4), 3):
        assert found[one, two] * found[two, three] * found[one, three] > 0.5
    assert np.abs(found).min() > 0.8


def test_signs_follow_what_is_sure() -> None:
    sure = [goal(("a", "b"), 0.95), goal(("a", "c"), -0.95)]
    for seed in range(8):
        *_, last = possible(apart(), sure, [both(("b", "c"), 0.85)], np.random.default_rng(seed))
        assert last.target < -0.7 * ROWS


def test_both_signs_come_up_where_both_can_be() -> None:
    drawn = [possible(apart(), [], [both(("a", "b"), 0.4)], np.random.default_rng(seed)) for seed in range(40)]
    assert 8 < sum(found[0].target > 0 for found in drawn) < 32
    assert all(abs(found[0].target) == pytest.approx(0.4 * ROWS) for found in drawn)


def test_what_can_be_stays_as_it_is() -> None:
    sure = [goal(("a", "b"), 0.5, 0.01), goal(("b", "c"), -0.3, 0.01)]
    found = possible(apart(), sure, [], np.random.default_rng(0))
    assert [each.target for each in found] == pytest.approx([0.5 * ROWS, -0.3 * ROWS])


def test_a_column_without_an_order_has_no_part_in_it() -> None:
    scores = np.zeros((SIZE, 3))
    two = MomentGoal(("a", "u"), scores, 5 * ROWS, 0.0), MomentGoal(("a", "u"), scores, -5 * ROWS, 0.0)
    found = possible(apart(), [goal(("a", "b"), 0.5)], [two], np.random.default_rng(0))
    assert found[1] in two


def test_directions_keep_a_part_of_what_is_not_known() -> None:
    wild = [goal(pair, value, 0.2) for pair, value in zip(combinations(NAMES, 2), (0.9, -0.9, 0.9) * 2, strict=True)]
    found = matrix(possible(apart(), wild, [], np.random.default_rng(0)))
    assert np.linalg.eigvalsh(found)[0] > 0.04
    assert np.diag(found) == pytest.approx(np.ones(4))


def test_the_nearest_correlations_are_nearer_than_others() -> None:
    generator = np.random.default_rng(7)
    for _ in range(5):
        wild = generator.uniform(-1, 1, (5, 5))
        wild = (wild + wild.T) / 2
        np.fill_diagonal(wild, 1.0)
        found = nearest_possible(wild, 0.0)
        assert np.linalg.eigvalsh(found)[0] > -1e-3
        assert np.diag(found) == pytest.approx(np.ones(5))
        others = [np.corrcoef(generator.normal(size=(5, 8))) for _ in range(200)]
        mixed = [found + share * (other - found) for other in others for share in (0.03, 0.3)]
        assert np.linalg.norm(found - wild) <= min(np.linalg.norm(other - wild) for other in mixed) + 1e-3


def test_correlations_of_records() -> None:
    points = apart()
    expected = np.corrcoef(points.codes[:, :4].T)
    np.testing.assert_allclose(correlations(points, NAMES), expected, atol=1e-9)
    alone = Points(DOMAIN, np.zeros((3, 5), dtype=np.int64), np.ones(3))
    np.testing.assert_array_equal(correlations(alone, NAMES), np.eye(4))
