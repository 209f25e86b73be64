from __future__ import annotations

import numpy as np
import pytest

from core.models.fitting.raking import Pull, TableGoal, places, pulled, rake
from core.models.points import Points
from core.queries.kit.grouped import GroupedTable
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="x", low=0, high=4), Integers(name="y", low=0, high=2)))


def records(rows: int = 3_000) -> Points:
    codes = np.random.default_rng(0).integers(0, (5, 3), (rows, 2))
    return Points(DOMAIN, codes, np.ones(rows))


def test_any_partition_of_the_records_can_be_met():
    """Odd and even sums of two columns: no table of one column shows it."""
    points = records()
    odd = points.codes.sum(axis=1) % 2
    weights = pulled(points.weights, [Pull.of(odd, np.array([2_000.0, 1_000.0]), 1.0)])
    assert np.bincount(odd, weights=weights) == pytest.approx([2_000, 1_000], abs=1.1)
    assert weights.sum() == pytest.approx(3_000)


def test_what_lies_within_the_noise_is_left_alone():
    points = records()
    odd = points.codes.sum(axis=1) % 2
    held = np.bincount(odd).astype(float)
    assert np.allclose(pulled(points.weights, [Pull.of(odd, held + np.array([50, -50]), 60.0)]), 1.0)


def test_a_table_is_the_partition_into_its_cells():
    points = records()
    table = np.array([[700.0, 200, 100]] * 5) * 3_000 / 5_000
    by_table = rake(points, {("x", "y"): table}, {("x", "y"): 5.0})
    by_parts = pulled(points.weights, [Pull.of(places(points, ("x", "y")), table, 5.0)])
    assert np.array_equal(by_table.weights, by_parts)
    assert np.abs(by_table.marginal(("x", "y")) - table).max() < 12


def test_places_are_held_in_the_smallest_type():
    assert Pull.of(np.array([0, 200]), np.zeros(201), 1.0).places.dtype == np.uint8
    assert Pull.of(np.array([0, 300]), np.zeros(301), 1.0).places.dtype == np.uint16


def test_tables_that_share_a_pass_are_met_as_one_after_the_other():
    points = records(30_000)
    tables = {("x",): np.array([9e3, 6e3, 6e3, 5e3, 4e3]), ("y",): np.array([15e3, 9e3, 6e3])}
    tables["x", "y"] = np.outer(tables["x",], tables["y",]) / 3e4
    sigmas = {("x",): 20.0, ("y",): 10.0, ("x", "y"): 50.0}
    together = Pull.all_of(points, tables, sigmas)
    assert [[each.columns for each in pull.wanted] for pull in together] == [list(tables)]
    apart = [Pull.of(places(points, columns), table, sigmas[columns]) for columns, table in tables.items()]
    met = pulled(points.weights, together)
    assert np.allclose(met, pulled(points.weights, apart))
    for columns, table in tables.items():
        assert np.abs(Points(DOMAIN, points.codes, met).marginal(columns) - table).max() < 2 * sigmas[columns]


def test_sums_are_met_where_every_cell_is_within_its_noise():
    """Four of five values are a little too rare: no cell shows it, and their sum does."""
    points = records()
    held = points.marginal(("x",))
    target, table = held + np.array([40, 40, 40, 40, -160]) * 0.9, GroupedTable(("x",), (np.array([0, 0, 0, 0, 1]),))
    sums = {("x",): [TableGoal(("x",), table.merged(target), 40 * np.sqrt([4, 1]), table)]}
    alone = Pull.all_of(points, {("x",): target}, {("x",): 150.0})
    assert np.allclose(pulled(points.weights, alone), 1.0)
    met = pulled(points.weights, Pull.all_of(points, {("x",): target}, {("x",): 150.0}, sums))
    after = Points(DOMAIN, points.codes, met).marginal(("x",))
    assert abs(after[4] - target[4]) < 41 < abs(held[4] - target[4])
    assert met.sum() == pytest.approx(3_000)
