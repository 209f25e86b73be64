"""Groups that no record shares: checked, counted exactly, and as far from their guesses as the furthest."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.asked import Change
from core.kernel.compared import FURTHEST, GRID
from core.kernel.disjoint import DisjointQueries, LargestGap
from core.kernel.query import Query
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.core.kernel.kinds import DOMAIN

TABLE = Cells(DOMAIN, np.array([5, 1, 0, 7]))


def query(*weights: int, denominator: int = 1, columns: tuple[str, ...] = ("a", "b")) -> Query:
    shape = (2,) * len(columns)
    return Query(columns=columns, weights=np.array(weights).reshape(shape), denominator=denominator)


def test_totals_and_their_change() -> None:
    asked = DisjointQueries((query(2, 1, 0, 0, denominator=2), query(0, 0, 0, 2, denominator=2)))
    assert asked.counts(TABLE).tolist() == [11, 14]
    assert asked.change(Unit.row()) == Change(2, 4)
    assert asked.change(Unit.id("person", 3)) == Change(6, 36)
    assert asked.change(Unit.row("replace")) == Change(4, 8)


def test_one_question_is_a_table_of_one_group() -> None:
    asked = DisjointQueries((query(1, 0, 0, 1),))
    assert (asked.columns, asked.denominator, asked.counts(TABLE).tolist()) == (("a", "b"), 1, [12])


@pytest.mark.parametrize(
    "queries",
    [
        (),
        (query(1, 1, 0, 0), query(0, 1, 0, 0)),
        (query(1, 0, 0, 0), query(0, 1, 0, 0, denominator=2)),
        (query(1, 0, columns=("a",)), query(0, 1, columns=("b",))),
        (query(1, 0, 0, 0), Query(columns=("a", "b"), weights=np.array([0, 1]))),
    ],
)
def test_what_shares_a_cell_or_is_not_alike_is_refused(queries: tuple[Query, ...]) -> None:
    with pytest.raises(BadParameter):
        DisjointQueries(queries)


def test_the_largest_gap_is_that_of_the_furthest_group() -> None:
    asked = DisjointQueries((query(1, 0, 0, 0), query(0, 0, 1, 1)))
    assert LargestGap(asked, np.array([5, 7]) * GRID).value(TABLE) == 0
    assert LargestGap(asked, np.array([7, 6]) * GRID).value(TABLE) == 2 * GRID
    assert LargestGap(asked, np.array([5, 10]) * GRID).value(TABLE) == 3 * GRID
    with pytest.raises(BadParameter):
        LargestGap(asked, np.array([5 * GRID]))


def test_guesses_beyond_everything_stay_within_the_range_of_comparisons() -> None:
    asked = DisjointQueries((query(1, 0, 0, 0),))
    assert LargestGap(asked, np.array([2**62])).value(TABLE) == FURTHEST
