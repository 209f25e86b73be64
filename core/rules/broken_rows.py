"""How many rows of a private table break each rule: exact counts, for the curator's eyes alone.

They never leave the desk, and no release, price or message depends on them: rules are declared, not read off the data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import IntArray
from core.rules.kinds import KeyRule, Rule, TotalRule
from core.rules.rule_set import RuleSet, rules_of
from core.table.counts import Counts


def rows_that_break(counts: Counts) -> dict[str, int]:
    """For each rule the rows that break it; of a known count, by how many rows the table differs from it."""
    rules = rules_of(counts.domain)
    return {rule.text: _broken(rules, rule, counts) for rule in rules.rules}


def _broken(rules: RuleSet, rule: Rule, counts: Counts) -> int:
    occurring, often = counts.combinations(rule.columns)
    codes = _widened(rules, rule.columns, occurring)
    if isinstance(rule, KeyRule):
        joint = np.zeros(counts.domain.shape(rule.columns), dtype=np.int64)
        joint[tuple(occurring.T)] = often
        return int(joint.sum() - joint.max(axis=1).sum())
    if isinstance(rule, TotalRule):
        counted = rule.counted(counts.domain)[tuple(occurring.T)]
        return abs(int(often[counted].sum()) - rule.number)
    return int(often[~rules.kept(rule, codes)].sum())


def _widened(rules: RuleSet, columns: Sequence[str], occurring: IntArray) -> IntArray:
    """Combinations of some columns as lines of the whole schema."""
    codes = np.zeros((len(occurring), len(rules.domain)), dtype=np.int64)
    for axis, name in enumerate(columns):
        codes[:, rules.domain.names.index(name)] = occurring[:, axis]
    return codes
