"""What people are told about rules."""

from __future__ import annotations

from core.rules.rule_set import rules_of
from core.rules.told import COUNTED, DECLARED, about
from tests.core.rules.households import COUNTS, KEY, households


def test_known_counts_come_with_what_the_promise_means_then():
    assert about(rules_of(households(KEY))) == DECLARED
    assert about(rules_of(households(KEY, *COUNTS))).endswith(COUNTED)
