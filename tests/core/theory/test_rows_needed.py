"""What a dimension implies, against each theorem's own condition."""

from __future__ import annotations

import math

import pytest

from core.queries.kit.protocol import Dimension
from core.theory.release import NetBound
from core.theory.rows_needed import rows_needed
from core.theory.smalldb import SmallDbBound, SmallDbFatBound, SmallDbVcBound, hoeffding

SIZES = {"log_universe": math.log(2**20), "alpha": 0.1, "epsilon": 1.0}
INTERVALS = Dimension(2, 2, "two ends")


def test_each_figure_is_the_fewest_of_its_theorem():
    found = rows_needed(log_queries=math.log(1000), vc=INTERVALS, **SIZES)
    universe = math.log(2**20)
    tables = hoeffding(math.log(1000), 0.05) * universe
    for bound, rows in (
        (SmallDbBound(log_universe=universe, log_queries=math.log(1000)), found.smalldb),
        (NetBound(log_net=tables, net_alpha=0.05), found.net),
        (SmallDbVcBound(log_universe=universe, vc=2), found.vc),
        (SmallDbFatBound(log_universe=universe, fat=2), found.fat),
    ):
        assert rows is not None
        assert bound.holds(alpha=0.1, rows=rows, epsilon=1.0)
        assert not bound.holds(alpha=0.1, rows=rows - 1, epsilon=1.0)
    assert found.fewest == min(found.smalldb, found.net, found.vc, found.fat)


def test_an_infinite_class_has_rows_by_its_dimension_only():
    found = rows_needed(log_queries=math.inf, vc=INTERVALS, **SIZES)
    assert found.smalldb is None and found.net is None
    assert found.fewest == min(found.vc, found.fat)


@pytest.mark.parametrize("high", [0, 1, 5])
def test_the_upper_end_of_a_bounded_dimension_is_taken(high):
    bounded, exact = Dimension(0, high, "bounded"), Dimension(high, high, "exact")
    sizes = {"log_queries": math.log(50), **SIZES}
    assert rows_needed(vc=bounded, **sizes) == rows_needed(vc=exact, **sizes)
