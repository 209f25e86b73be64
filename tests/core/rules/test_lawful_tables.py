"""Tables of counts that obey the rules."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import Refused
from core.rules.contradictions import check_rules
from core.rules.lawful_tables import LawfulTables
from tests.core.rules.households import COUNTS, IMPOSSIBLE, households
from tests.core.rules.test_strata import TABLE


def test_impossible_cells_are_empty_and_the_total_stays():
    lawful = LawfulTables.of(check_rules(households(IMPOSSIBLE)))
    table = np.arange(80.0).reshape(20, 2, 2)
    found = lawful.applied(("age", "marital", "region"), table)
    assert not found[:3, 1].any() and found.sum() == pytest.approx(table.sum())
    kept = found[3:] / table[3:]
    assert np.allclose(kept, kept[0, 0, 0])


def test_known_counts_are_met_in_every_table_that_shows_them():
    lawful = LawfulTables.of(check_rules(households(*COUNTS)))
    assert lawful.rows == 200
    table = np.random.default_rng(1).random((20, 2))
    found = lawful.applied(("age", "region"), table)
    assert np.allclose(found.sum(axis=0), [120, 80]) and found[13:].sum() == pytest.approx(30)
    alone = lawful.applied(("age",), table[:, 0])
    assert alone[13:].sum() == pytest.approx(30) and alone.sum() == pytest.approx(200)
    assert lawful.applied(("marital",), np.array([1.0, 3.0])).tolist() == pytest.approx([50, 150])


def test_margins_of_a_known_table_are_known():
    lawful = LawfulTables.of(check_rules(households(*TABLE)))
    found = lawful.applied(("region", "age"), np.ones((2, 20)))
    assert found.sum(axis=1) == pytest.approx([9, 5])
    assert lawful.applied(("region",), np.array([0.0, 3.0])) == pytest.approx([9, 5])


def test_a_table_that_no_rule_speaks_of_stays():
    lawful = LawfulTables.of(check_rules(households(IMPOSSIBLE)))
    table = np.ones((2, 4))
    assert lawful.applied(("region", "postcode"), table) is table


def test_questions_that_known_counts_answer_are_refused():
    tables = LawfulTables.of(check_rules(households(*TABLE)))
    with pytest.raises(Refused, match="already say everything that is asked about marital, region, so nothing"):
        tables.check_asked([("region",), ("marital", "region")])
    tables.check_asked([("region",), ("age", "region")])
    tables.check_asked([])
    LawfulTables.of(check_rules(households(*COUNTS))).check_asked([("age",)])
