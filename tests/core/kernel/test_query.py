"""One linear question: its bounds, its total and its share."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.query import MOST_DENOMINATOR, Query
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

DOMAIN = Domain((Integers(name="x", low=0, high=2),))
COUNTS = Cells(DOMAIN, np.array([3, 4, 5]))


def test_totals_and_shares_by_hand():
    query = Query(columns=("x",), weights=np.array([0, 1, 4]), denominator=4)
    assert query.total(COUNTS) == query.counts(COUNTS) == 24
    assert query.answer(COUNTS) == 24 / (4 * 12)
    assert query.answer(Cells(DOMAIN, np.zeros(3, dtype=int))) == 0.0
    assert query.answer(Cells(DOMAIN, np.array([0, 0, 1]))) == 1.0
    change = query.change(Unit.id("who", 3, "replace"))
    assert (change.l1, change.l2_squared) == (12, 144)


def test_a_predicate_counts_rows():
    query = Query(columns=("x",), weights=np.array([True, False, True]))
    assert (query.denominator, int(query.counts(COUNTS))) == (1, 8)


@pytest.mark.parametrize("denominator", [0, -1, 3, 6, 2 * MOST_DENOMINATOR, 12])
def test_denominators_are_powers_of_two(denominator):
    with pytest.raises(BadParameter, match="denominator"):
        Query(columns=("x",), weights=np.array([0, 0, 0]), denominator=denominator)


@pytest.mark.parametrize("denominator", [1, 2, 4, MOST_DENOMINATOR])
def test_weights_reach_from_nothing_to_the_denominator(denominator):
    assert MOST_DENOMINATOR == 2**30
    Query(columns=("x",), weights=np.array([0, denominator, 1]), denominator=denominator)
    for wrong in ([0, denominator + 1, 0], [-1, 0, 0], [0.5, 0, 0]):
        with pytest.raises(BadParameter, match="weights"):
            Query(columns=("x",), weights=np.array(wrong), denominator=denominator)
