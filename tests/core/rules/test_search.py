"""Records that keep rules: found where there are any, near to what is preferred; and what can occur at all."""

from __future__ import annotations

import numpy as np

from core.formulas.question import MOST_CELLS
from core.rules import rule_set
from core.rules.rule_set import rules_of
from core.rules.search import find_record, possible
from tests.core.rules.households import IMPOSSIBLE, ORDER, SUM, households


def test_what_is_preferred_stays_where_it_can():
    rules = rules_of(households(IMPOSSIBLE))
    assert find_record(rules, prefer={"age": 12, "marital": 1}) == {"age": 12, "marital": 1}
    found = find_record(rules, fixed={"marital": 1}, prefer={"age": 2})
    assert found is not None and found["marital"] == 1 and found["age"] >= 3
    assert find_record(rules, fixed={"marital": 1, "age": 0}) is None


def test_comparisons_too_wide_to_lay_out_are_searched_by_their_ends(monkeypatch):
    monkeypatch.setattr(rule_set, "MOST_CELLS", 10)
    rules = rules_of.__wrapped__(households(SUM, "benefits >= wages"))
    found = find_record(rules, fixed={"total": 9, "wages": 8})
    assert found is not None and found["benefits"] >= 8
    assert find_record(rules, fixed={"total": 0, "wages": 8}) is None


def test_possible_looks_beyond_the_columns():
    rules = rules_of(households(IMPOSSIBLE, "never: marital = single and age < 15", ORDER))
    found = possible(rules, ("age",), MOST_CELLS)
    assert found.tolist() == [False] * 3 + [True] * 17
    apart = possible(rules, ("age",), 1)
    assert apart.all(), "each rule on its own lets every age pass"
    assert np.asarray(possible(rules, ("region",), MOST_CELLS)).all()
