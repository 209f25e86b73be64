"""Counts with a memory are the same counts, asked once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.kernel import remembered
from core.kernel.remembered import Remembered, corners_of
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

DOMAIN = Domain((Integers(name="x", low=0, high=2), Integers(name="y", low=0, high=3)))
TABLE = np.arange(12).reshape(3, 4)


class Counting(Cells):
    """Counts how often it is asked."""

    asked = 0

    def marginal(self, columns):
        Counting.asked += 1
        return super().marginal(columns)


@pytest.fixture
def counts(monkeypatch):
    monkeypatch.setattr(Counting, "asked", 0)
    return Remembered(Counting(DOMAIN, TABLE))


def test_every_table_is_counted_once(counts):
    for _ in range(2):
        assert np.array_equal(counts.marginal(("x",)), TABLE.sum(axis=1))
        assert np.array_equal(counts.marginal(("x", "y")), TABLE)
        assert np.array_equal(counts.corners(("x", "y")), corners_of(Cells(DOMAIN, TABLE), ("x", "y")))
    assert Counting.asked == 2
    assert counts.cells == 3 + 12 + 20


def test_totals_are_kept_for_the_very_class(counts):
    query, twin = Marginals(order=1), Marginals(order=1)
    assert counts.totals_for(query) is counts.totals_for(query)
    assert counts.totals_for(twin) is not counts.totals_for(query)
    assert counts.totals_for(query).tolist() == [*TABLE.sum(axis=1), *TABLE.sum(axis=0)]
    assert counts.tables["class", id(query)] is query, "kept, so that its address cannot become that of another"


def test_a_full_memory_forgets_everything(counts, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_CELLS", 15)
    counts.marginal(("x",)), counts.marginal(("x", "y"))
    assert counts.cells == 15, "just full"
    counts.marginal(("y",))
    assert counts.cells == 4 and list(counts.tables) == [("table", ("y",))]


def test_corners_count_all_cells_before_them():
    sums = corners_of(Cells(DOMAIN, TABLE), ("x", "y"))
    assert sums.shape == (4, 5)
    for x, y in product(range(4), range(5)):
        assert sums[x, y] == TABLE[:x, :y].sum()
