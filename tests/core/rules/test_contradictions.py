"""Contradictions are refused with a set of rules from which none can be left out."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadSchema
from core.rules import contradictions
from core.rules.contradictions import (
    check_rows,
    check_rules,
    consistent,
    known_rows,
    records_near,
    smallest_conflict,
)
from core.rules.rule_set import rules_of
from core.schema.domain import Categories, Domain
from tests.core.rules.households import COUNTS, IMPOSSIBLE, KEY, RULES, SUM, households

WED = ("single", "married")
CONFLICTS = [
    ["always: age >= 50", "never: marital = single", "never: age >= 40 and marital = married"],
    ["count(region = north) = 5", "count(region = north and age < 15) = 6"],
    ["wages >= total + 5", SUM],
    ["count(postcode = 1 and region = north) = 5", "count(postcode = 1 and region = south) = 5", "postcode -> region"],
    ["always: wages >= 900", "always: benefits >= 900", SUM, "never: total >= 1800"],
    ["never: age >= 0 and age <= 99"],
    ["count(age < 15 and marital = married) = 1", IMPOSSIBLE],
    ["count(region = north) = 0", "count(region = south) = 0"],
    ["count(region = north or region = south) = 0"],
    # a key of which only one column is counted, or that leads there by other rules and keys
    ["region -> postcode", *(f"count(postcode = {place}) = 5" for place in (1, 2, 3))],
    ["smoker -> region", "region -> marital", *(f"count(smoker = true and marital = {word}) = 5" for word in WED)],
    [
        *("region -> postcode", "if postcode = 1 then age < 20", "if postcode != 1 then age >= 20"),
        *("count(region = north and age < 10) = 4", "count(region = north and age >= 30) = 4"),
    ],
    [KEY, "region -> marital", *(f"count(postcode = 3 and marital = {word}) = 1" for word in WED)],
]


@pytest.mark.parametrize("conflict", CONFLICTS, ids=lambda rules: rules[0])
def test_a_conflict_is_told_with_the_fewest_rules(conflict):
    others = ["never: age >= 95 and smoker", "if smoker = false then cigarettes = 0", "discharge >= admission"]
    domain = households(*others, *conflict)
    assert {rule.text for rule in smallest_conflict(rules_of(domain))} == set(conflict)
    with pytest.raises(BadSchema) as told:
        check_rules(domain)
    assert all(rule in str(told.value) for rule in conflict) and not any(rule in str(told.value) for rule in others)


def test_rules_that_agree_pass():
    assert check_rules(households(*RULES)).rules and consistent(rules_of(households(*RULES)))


@pytest.mark.exhaustive
def test_satisfiability_is_that_of_all_records():
    """Random rules over three small columns, against a look at each of their 27 records."""
    generator = np.random.default_rng(3)
    names, values = ("a", "b", "c"), ("x", "y", "z")
    columns = tuple(Categories(name=name, values=values) for name in names)
    seen = set()
    for _ in range(16):
        rules, left = [], np.ones((3, 3, 3), dtype=bool)
        for _ in range(int(generator.integers(8, 30))):
            picked = generator.integers(0, 3, 3)
            used = sorted(generator.choice(3, 2, replace=False).tolist())
            rules.append("never: " + " and ".join(f"{names[axis]} = {values[picked[axis]]}" for axis in used))
            place: list[object] = [slice(None)] * 3
            for axis in used:
                place[axis] = int(picked[axis])
            left[tuple(place)] = False
        found = rules_of(Domain(columns, tuple(rules)))
        assert consistent(found) == left.any()
        seen.add(bool(left.any()))
        conflict = smallest_conflict(found)
        assert all(consistent(found.only([rule for rule in conflict if rule is not out])) for out in conflict)
    assert seen == {True, False}


def test_known_counts_decide_the_number_of_records():
    whole = households(*COUNTS)
    assert known_rows(check_rules(whole)) == (200, 200)
    check_rows(whole, 200, 10**6)
    check_rows(whole, None, 10**6)
    with pytest.raises(BadSchema, match="exactly 200 records"):
        check_rows(whole, 150, 10**6)
    with pytest.raises(BadSchema, match="need 200 records and at most 100"):
        check_rows(whole, None, 100)
    part = households(COUNTS[2])
    assert known_rows(check_rules(part)) == (30, None)
    with pytest.raises(BadSchema, match="at least 30 records"):
        check_rows(part, 20, 10**6)


def test_a_number_of_records_between_those_that_meet_the_counts_is_refused():
    """All live in the north, where both counts are of the same people, or in the south, where they are of others."""
    one = ("never: marital = married", "marital -> region")
    counts = ("count(region = north or smoker = true) = 10", "count(region = north or smoker != true) = 10")
    rules = check_rules(households(*one, *counts, "never: smoker is missing"))
    assert known_rows(rules) == (10, 20)
    assert [records_near(rules, rows) for rows in (0, 10, 13, 17, 20, 99)] == [10, 10, 10, 20, 20, 20]
    check_rows(rules.domain, 20, 100)
    with pytest.raises(BadSchema, match="cannot be met by 13 records"):
        check_rows(rules.domain, 13, 100)


def test_rules_that_take_long_to_refuse_are_looked_at_once(monkeypatch):
    domain = households("count(age < 15) = 5", "count(region = north and marital = single and age < 15) = 6")
    for _ in range(2):
        with pytest.raises(BadSchema, match="These 2 rules"):
            check_rules(domain)
        monkeypatch.setattr(contradictions, "smallest_conflict", lambda rules: pytest.fail("was known"))
