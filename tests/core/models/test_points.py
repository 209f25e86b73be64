from itertools import combinations

import numpy as np

from core.models.points import Points
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL, small_counts


def uniform_points(rows: int = 4_800) -> Points:
    every = np.array(np.unravel_index(np.arange(24), SMALL.shape())).T
    return Points(SMALL, np.repeat(every, rows // 24, axis=0).astype(np.int64), np.full(rows, 5_000 / rows))


def test_raking_without_slack_meets_consistent_tables():
    counts = small_counts()
    tables = {pair: counts.marginal(pair).astype(float) for pair in combinations(SMALL.names, 2)}
    raked = uniform_points().rake(tables, dict.fromkeys(tables, 0.0), sweeps=200)
    for pair, table in tables.items():
        assert np.abs(raked.marginal(pair) - table).max() < 1


def test_slack_leaves_cells_alone_that_are_near_enough():
    points = uniform_points()
    table = points.marginal(("colour",)) + np.array([5.0, -5.0, 0.0])
    raked = points.rake({("colour",): table}, {("colour",): 10.0})
    assert np.allclose(raked.weights, points.weights)


def test_total_is_kept_and_rows_follow_the_weights():
    counts = small_counts()
    target = {("colour", "size"): counts.marginal(("colour", "size")).astype(float)}
    raked = uniform_points().rake(target, {("colour", "size"): 1.0})
    assert np.isclose(raked.total, 5_000)
    codes = raked.sample(5_000, np.random.default_rng(2))
    drawn = Points(SMALL, codes, np.ones(len(codes))).marginal(("colour", "size"))
    assert np.abs(drawn - raked.marginal(("colour", "size"))).max() < 3


def test_weights_are_scaled_by_the_combination_of_their_record():
    points, factors = uniform_points(), np.random.default_rng(3).random((2, 3))
    scaled = points.scaled(("old", "colour"), factors)
    np.testing.assert_allclose(scaled.marginal(("old", "colour")), points.marginal(("old", "colour")) * factors)
    assert scaled.codes is points.codes and np.ptp(points.weights) == 0


def test_records_are_ordered_by_all_their_codes_in_few_numbers():
    domain = Domain(tuple(Integers(name=f"q{place}", low=0, high=999) for place in range(14)))
    codes = np.random.default_rng(2).integers(0, 3, (400, 14)) * 400
    points = Points(domain, codes, np.ones(400))
    keys = points._sort_keys()
    assert len(keys) == 3
    assert np.array_equal(np.lexsort(keys[::-1]), np.lexsort(codes.T[::-1]))
