"""All rules of a schema: which records break them, by a record-by-record look."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadSchema
from core.rules import rule_set
from core.rules.rule_set import mistakes, rules_of
from tests.core.rules.households import COUNTS, IMPOSSIBLE, KEY, ORDER, RULES, any_codes, households


def test_broken_rules_are_counted():
    rules, codes = rules_of(households(*RULES)), any_codes(500)
    found = rules.broken(codes)
    assert found[IMPOSSIBLE] == np.count_nonzero((codes[:, 0] < 3) & (codes[:, 1] == 1))
    later = (codes[:, 5] < 12) & (codes[:, 5] < codes[:, 4])
    assert found[ORDER] == np.count_nonzero(later)
    assert found[COUNTS[0]] == abs(int(np.count_nonzero(codes[:, 9] == 0)) - 120)
    majority = [max(np.bincount(codes[codes[:, 10] == value, 9], minlength=2)) for value in range(4)]
    assert found[KEY] == 500 - sum(majority)


def test_a_comparison_too_wide_to_lay_out_is_the_same_record_by_record(monkeypatch):
    codes, domain = any_codes(500), households(ORDER, "total = wages + benefits")
    laid_out = rules_of(domain).lawful(codes)
    monkeypatch.setattr(rule_set, "MOST_CELLS", 10)
    rules = rules_of.__wrapped__(domain)
    assert rules.mask(rules.single[0]) is None
    assert (rules.lawful(codes) == laid_out).all() and 0 < laid_out.sum() < 500


def test_a_key_becomes_the_function_that_most_records_speak_for():
    rules = rules_of(households(KEY))
    codes = any_codes(8)
    codes[:, 10] = [0, 0, 0, 1, 1, 1, 2, 3]
    codes[:, 9] = [1, 1, 0, 0, 0, 1, 1, 0]
    assert rules.function(rules.keys[0], codes).tolist() == [1, 0, 1, 0]
    decided = rules.decided({rules.keys[0]: rules.function(rules.keys[0], codes)})
    assert decided.lawful(codes).tolist() == [True, True, False, True, True, False, True, True]


def test_a_value_that_is_needed_keeps_a_key():
    rules = rules_of(households(KEY))
    codes = any_codes(8)
    codes[:, 10] = [0, 0, 1, 1, 2, 2, 3, 3]
    codes[:, 9] = [0, 0, 0, 0, 0, 0, 0, 0]
    assert set(rules.function(rules.keys[0], codes).tolist()) == {0}
    assert set(rules.function(rules.keys[0], codes, None, np.array([True, True])).tolist()) == {0, 1}


def test_mistakes_name_the_place_of_the_rule():
    domain = households(IMPOSSIBLE, "agee > 3", KEY, "if smoker")
    lines = [IMPOSSIBLE, "agee > 3", "", KEY, "if smoker", "x" * 3_000]
    assert [told.split(" ")[1] for told in mistakes(domain, lines)] == ["2", "5", "6"]
    with pytest.raises(BadSchema, match="Rule 2"):
        rules_of(domain)


def test_rules_inside_some_columns_are_joined():
    rules = rules_of(households(IMPOSSIBLE, ORDER, "never: age >= 95"))
    found = rules.inside(("marital", "age"))
    assert found is not None and found.shape == (2, 20)
    assert not found[1, :3].any() and not found[:, 19].any() and found[0, :19].all()
    assert rules.inside(("age",)).sum() == 19 and rules.inside(("region",)) is None
