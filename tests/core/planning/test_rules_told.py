"""Which rules apply to a plan, and how they are met."""

from __future__ import annotations

from core.planning.rules_told import AFTERWARDS, BUILT_IN, NOT_ASKED, tell_rules
from core.queries.marginals import Marginals
from core.registry import offline
from tests.core.rules.households import IMPOSSIBLE, KEY, PLAIN, households


def test_each_rule_says_how_it_is_met():
    asked = [Marginals(order=2, columns=("age", "marital"))]
    domain = households(IMPOSSIBLE, KEY)
    assert [rule.how for rule in tell_rules(domain, asked, offline["tree"])] == [BUILT_IN, NOT_ASKED]
    assert [rule.how for rule in tell_rules(domain, asked, offline["laplace"])] == [AFTERWARDS, NOT_ASKED]
    assert not tell_rules(PLAIN, asked, offline["tree"])
