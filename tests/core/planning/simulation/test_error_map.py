"""Where the errors will be: every column, pair and class, from one run on a public stand-in."""

from __future__ import annotations

import numpy as np
import pytest

from core.planning.simulation import error_map
from core.planning.simulation.error_map import map_errors
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.registry import mechanism_from
from core.schema.attributes import Categories
from core.schema.domain import Domain
from core.schema.ordered import Integers

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=9),
        Categories(name="town", values=("north", "south", "west")),
        Categories(name="blood", values=("a", "b")),
    )
)
PUBLIC = StandIns.of(DOMAIN, Unit.row(), 5_000)
PAIRS = Marginals(order=2)


def mapped(*queries, epsilon=1.0):
    return map_errors(mechanism_from("laplace", queries, Budget(epsilon), {}), PUBLIC)


def test_every_column_and_pair_has_an_error():
    found = mapped(PAIRS)
    assert found.columns == DOMAIN.names
    assert found.tables.keys() == found.misplaced.keys()
    assert set(map(len, found.tables)) == {1, 2} and len(found.tables) == 6
    for columns, share in found.misplaced.items():
        cells = DOMAIN.cells(columns)
        assert share == pytest.approx(found.tables[columns] * cells / 2 / 5_000, rel=0.05), "one is the other per row"
        assert 0 <= share <= 1


def test_more_budget_makes_every_table_better_and_the_same_call_is_the_same():
    rough, fine = mapped(PAIRS, epsilon=0.05), mapped(PAIRS, epsilon=50.0)
    assert all(fine.misplaced[columns] < rough.misplaced[columns] for columns in rough.misplaced)
    assert mapped(PAIRS, epsilon=0.05).misplaced == rough.misplaced


def test_columns_that_were_not_asked_about_are_left_out():
    found = mapped(Intervals(column="age"))
    assert found.columns == ("age",)
    [(mean, largest)] = found.classes.values()
    assert 0 < mean <= largest


def test_wide_schemas_and_large_pairs_are_bounded(monkeypatch):
    monkeypatch.setattr(error_map, "MOST_COLUMNS", 2)
    monkeypatch.setattr(error_map, "MOST_CELLS", 20)
    found = mapped(PAIRS)
    assert found.columns == ("age", "town")
    assert set(found.tables) == {("age",), ("town",)}, "30 cells are too many for a pair here"
    assert np.isfinite(list(found.tables.values())).all()
