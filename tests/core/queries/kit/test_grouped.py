"""Coarse tables: sums over groups, and groups spread over their values again."""

from __future__ import annotations

import numpy as np

from core.privacy.unit import Unit
from core.queries.kit.grouped import GroupedTable
from core.schema.domain import Domain, Integers
from core.table.stand_in import StandIn

DOMAIN = Domain((Integers(name="a", low=0, high=3), Integers(name="b", low=0, high=2)))
TABLE = GroupedTable(("a", "b"), (np.array([0, 1, 1, 0]), np.array([1, 0, 1])))


def test_groups_sum_the_values_they_hold():
    counts = np.arange(12.0).reshape(4, 3)
    expected = np.zeros((2, 2))
    for a in range(4):
        for b in range(3):
            expected[TABLE.groups[0][a], TABLE.groups[1][b]] += counts[a, b]
    assert TABLE.shape == (2, 2)
    assert np.array_equal(TABLE.merged(counts), expected)
    rows = StandIn.uniform(DOMAIN, Unit.row(), 50, np.random.default_rng(0))
    assert np.array_equal(TABLE.total(rows), TABLE.merged(rows.marginal(("a", "b"))))


def test_what_is_spread_has_one_value_to_a_group_and_is_picked_again():
    coarse = np.array([[5, 7], [11, 13]])
    fine = TABLE.spread(coarse)
    assert fine.shape == (4, 3)
    assert fine[3, 1] == coarse[0, 0]
    assert np.array_equal(TABLE.picked(fine), coarse)
