"""Known tables of counts become rules that say the same."""

from __future__ import annotations

import pytest

from core.base.errors import BadSchema
from core.rules.contradictions import check_rules
from core.rules.count_table import count_rules
from core.rules.strata import known_tables
from tests.core.rules.households import PLAIN

TABLE = "region;people;marital\nnorth;7;single\nsouth;1 200;single\nnorth;2;married\nsouth;0;married\n"


def test_a_whole_table_is_known_afterwards():
    rules = check_rules(PLAIN.obeying(count_rules(TABLE, PLAIN)))
    assert known_tables(rules)["marital", "region"].tolist() == [[7, 1200], [2, 0]]


def test_bins_go_by_their_labels_and_empty_cells_are_missing():
    assert count_rules("age,n\n0 to 4,3", PLAIN) == ("count(age = '0 to 4') = 3",)
    (rule,) = count_rules("smoker,n\n,3", PLAIN)
    assert rule == "count(smoker is missing) = 3"
    assert check_rules(PLAIN.obeying((rule,))).totals


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a first line"),
        ("region,count", "needs a first line"),
        ("town,count\nx,3", "'town' is no column"),
        ("count\n3", "names no column"),
        ("region,count\nnorth", "Line 2 of the table of counts has 1 cells and needs 2"),
        ("region,count\nnorth,3\nsouth,2.5", "Line 3 of the table of counts has no whole number"),
        ("region,count\nnorth,-3", "Line 2 of the table of counts has no whole number"),
    ],
)
def test_a_mistake_is_one_sentence(text, said):
    with pytest.raises(BadSchema, match=said):
        count_rules(text, PLAIN)
