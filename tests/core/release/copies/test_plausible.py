"""Plausible tables: what a release leaves open is drawn, and what it knows stays."""

import numpy as np
import pytest

from core.models.fitting.moments import MomentGoal
from core.models.fitting.raking import TableGoal
from core.models.points import Points
from core.models.tables import Tables
from core.release.copies.plausible import plausible, redrawn
from core.schema.domain import Categories, Domain, Integers

ROWS = 20_000
DOMAIN = Domain(
    (
        Integers(name="a", low=0, high=9),
        Integers(name="b", low=0, high=19),
        Categories(name="c", values=("x", "y", "z")),
    )
)


def records(correlation: float = 0.0) -> Points:
    generator = np.random.default_rng(1)
    first, own = generator.normal(size=(2, ROWS))
    second = correlation * first + np.sqrt(1 - correlation**2) * own
    codes = [np.clip(np.rint(4.5 + 2 * first), 0, 9), np.clip(np.rint(9 + 4 * second), 0, 19)]
    return Points(DOMAIN, np.stack([*codes, generator.integers(0, 3, ROWS)], axis=1).astype(np.int64), np.ones(ROWS))


def correlation(codes: np.ndarray) -> float:
    return float(np.corrcoef(codes[:, :2].T)[0, 1])


def drawn(points: Points, missed: dict, told: tuple = (), number: int = 12) -> list[np.ndarray]:
    generator = np.random.default_rng(2)
    return [redrawn(points, missed, told, ROWS, generator).sample(ROWS, generator) for _ in range(number)]


def test_a_pair_that_was_missed_gets_a_dependence_of_that_size_in_either_direction() -> None:
    """Ranks of two columns are off their middles by 3/4 of a squared standard deviation, on average of the product."""
    found = [correlation(codes) for codes in drawn(records(), {("a", "b"): 0.15 * 3 / 4 * ROWS}, number=24)]
    assert min(found) < -0.05 and max(found) > 0.05
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(0.15, rel=0.15)


def test_single_columns_stay() -> None:
    points = records()
    for codes in drawn(points, {("a", "c"): 2_000.0, ("b", "c"): 2_000.0}, number=2):
        for place in range(3):
            counts, before = np.bincount(codes[:, place]), np.bincount(points.codes[:, place])
            assert np.abs(counts - before).sum() < 0.01 * ROWS


def test_a_measured_covariance_is_met_with_its_noise_and_not_with_the_bend_of_the_records() -> None:
    table, bent = records(0.6), records(0.4)
    goal = MomentGoal.of(("a", "b"), table.marginal(("a", "b")), 0.0)
    assert goal is not None
    sure = [correlation(codes) for codes in drawn(bent, {}, (goal,))]
    assert np.mean(sure) == pytest.approx(correlation(table.codes), abs=0.02)
    noisy = MomentGoal(goal.columns, goal.scores, goal.target, 0.05 * ROWS)
    assert np.std([correlation(codes) for codes in drawn(bent, {}, (noisy,))]) > 2 * np.std(sure)


def test_counts_that_nobody_measured_differ_by_chance_and_measured_ones_do_not() -> None:
    points = records()
    table = points.marginal(("a", "c"))
    goal = TableGoal(("a", "c"), table, 1.0)

    def off(told: tuple) -> float:
        made = [Points(DOMAIN, codes, np.ones(ROWS)).marginal(("a", "c")) for codes in drawn(points, {}, told, 4)]
        return float(np.sqrt(np.mean([(each - table) ** 2 for each in made])))

    chance = np.sqrt(table.mean())
    assert 0.5 * chance < off((TableGoal(("a", "b"), points.marginal(("a", "b")), 1.0),)) < 1.2 * chance
    assert off((goal,)) < 0.15 * chance


def test_nothing_is_drawn_where_nothing_is_said() -> None:
    """Models of other mechanisms have measured all cells: their copies start from their records."""
    points = records()
    for model in (points, Tables(DOMAIN, {}, points)):
        ours = plausible(model, 500, np.random.default_rng(3))
        np.testing.assert_array_equal(ours, model.sample(500, np.random.default_rng(3)))


def test_hardly_any_rows() -> None:
    generator = np.random.default_rng(0)
    points = Points(DOMAIN, records().codes[:5], np.full(5, 1e-9))
    assert redrawn(points, {("a", "b"): 3.0}, (), 1, generator).codes.shape[1] == 3
