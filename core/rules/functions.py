"""Which functions keys become: those that records speak for, as far as known counts and other rules leave them open.

Where counts speak of a key, its function is the one of the nearest whole numbers of records that meet all counts at
once; elsewhere each value of a key has the value that most records have with it. So that the counts can be met, each
value that they need stays the one of some value of the key. Everything here is post-processing of what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.base.arrays import Codes, Flags, IntArray
from core.rules.contradictions import lawful_record
from core.rules.kinds import KeyRule
from core.rules.rule_set import RuleSet
from core.rules.strata import Strata, follows, near_counts

Functions = dict[KeyRule, Codes]


def decide_keys(rules: RuleSet, codes: Codes, weights: Any = None) -> RuleSet:
    """The rules with every key as the function that these records speak for.

    Without weights the counts are to be met by as many records as these.
    """
    if not rules.keys:
        return rules
    lawful = rules.lawful(codes)
    whole = lawful if lawful.any() else np.ones(len(codes), dtype=np.bool_)
    held, few = codes[whole], None if weights is None else np.asarray(weights)[whole]
    strata = Strata.of(rules) if rules.totals else None
    numbers = None if strata is None else _met(strata, held, few, len(codes) if weights is None else None)
    functions = _functions(rules, strata, numbers, held, few)
    decided = rules.decided(functions)
    if decided.lawful(codes).any() or lawful_record(decided) is not None:
        return decided
    # what most records say may leave none: then those keys that no count speaks of begin with one that is
    near, record = near_counts(rules), lawful_record(rules)
    assert record is not None, "rules that contradict each other were refused"
    for rule, function in functions.items():
        key, other = rule.columns
        if key not in near and {key, other} <= set(record):
            function[record[key]] = record[other]
    return rules.decided(functions)


def _met(strata: Strata, codes: Codes, weights: Any, rows: int | None) -> IntArray:
    """Whole numbers of records per stratum that meet the counts, nearest to these records."""
    places = strata.of_records(codes)
    some = places >= 0
    own = None if weights is None else weights[some]
    held = np.rint(np.bincount(places[some], weights=own, minlength=strata.cells.size)).astype(np.int64)
    return strata.nearest(held, rows)


def _functions(
    rules: RuleSet, strata: Strata | None, numbers: IntArray | None, codes: Codes, weights: Any
) -> Functions:
    needed: dict[str, Flags] = {}
    if strata is not None and numbers is not None:
        for axis, name in enumerate(strata.columns):
            needed[name] = np.zeros(rules.domain[name].size, dtype=np.bool_)
            needed[name][strata.codes[numbers > 0, axis]] = True
    found: Functions = {}
    for rule in _in_order(rules.keys):
        key, other = rule.columns
        inside = strata is not None and {key, other} <= set(strata.columns)
        wanted = None if inside else needed.get(other)
        found[rule] = rules.function(rule, codes, weights, wanted)
        if inside and strata is not None and numbers is not None:
            cells = strata.codes[numbers > 0]
            found[rule][cells[:, strata.columns.index(key)]] = cells[:, strata.columns.index(other)]
        elif wanted is not None and key not in needed:
            needed[key] = np.zeros(rules.domain[key].size, dtype=np.bool_)
            needed[key][[int(np.argmax(found[rule] == value)) for value in np.flatnonzero(wanted)]] = True
    return _chained(rules, found)


def _in_order(keys: tuple[KeyRule, ...]) -> list[KeyRule]:
    """Keys that begin with a column come before those that lead to it; rings of keys begin anywhere."""
    left, found = list(keys), list[KeyRule]()
    while left:
        last = [rule for rule in left if not any(rule.columns[1] == each.columns[0] for each in left)]
        found += (last := last or left[:1])
        left = [rule for rule in left if rule not in last]
    return found


def _chained(rules: RuleSet, functions: Mapping[KeyRule, Codes]) -> Functions:
    """The same functions, but what follows from a chain of others follows it."""
    found, own = dict(functions), list(rules.keys)
    for rule in rules.keys:
        rest = [other for other in own if other is not rule]
        if follows(rule, rest):
            own = rest
    for rule in rules.keys:
        if rule not in own:
            found[rule] = _along(rule, {each: functions[each] for each in own})
    return found


def _along(rule: KeyRule, functions: Mapping[KeyRule, Codes]) -> Codes:
    """The function that a chain of others makes of the first column of a key."""
    reached: dict[str, Codes] = {}
    waiting = [rule.columns[0]]
    while waiting:
        name = waiting.pop(0)
        for each, function in functions.items():
            if each.columns[0] == name and each.columns[1] not in (*reached, rule.columns[0]):
                reached[each.columns[1]] = function[reached[name]] if name in reached else function.copy()
                waiting.append(each.columns[1])
    return reached[rule.columns[1]]
