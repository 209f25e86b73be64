"""What is measured follows from classes and schema alone."""

from __future__ import annotations

from core.mechanisms.measured.targets import MOST_VALUES, targets
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL

WIDE = Domain(tuple(Integers(name=name, low=0, high=MOST_VALUES) for name in "xy"))


def test_classes_come_first_then_columns_and_pairs():
    found = targets((Intervals(column="size"), Marginals(order=3)), SMALL)
    assert [each.about for each in found][2:] == ["3 single columns", "3 pairs of columns"]
    assert [each.numbers for each in found] == [2, 3, 3, 3]
    assert found[1].tables == (("colour", "size", "old"),)


def test_tables_of_a_class_are_not_measured_twice():
    assert [each.about for each in targets((Marginals(order=2),), SMALL)][1:] == ["3 single columns"]
    assert len(targets((Marginals(order=1), Marginals(order=2)), SMALL)) == 2


def test_only_columns_that_were_asked_about():
    found = targets((Intervals(column="size"),), SMALL)
    assert found[1].tables == (("size",),)


def test_what_is_too_large_or_no_sum_is_left_out():
    assert [each.query for each in targets((Intervals(column="x"),), WIDE)] == [Intervals(column="x")]
    assert targets((Rectangles(columns=("x", "y")),), WIDE) == ()
    assert [each.about for each in targets((Lipschitz(columns=("old",)),), SMALL)] == ["1 single column"]
