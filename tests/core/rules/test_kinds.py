"""What rules allow: against every pair of values inside the cells."""

from __future__ import annotations

import numpy as np
import pytest

from core.rules.kinds import ConditionRule, LinearRule
from core.rules.rule_set import rules_of
from core.schema.domain import Domain, Integers
from tests.core.rules.households import IMPLIED, ORDER, households

OPERATORS = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less, "=": np.equal}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("cut", [-3, 0, 2])
def test_a_comparison_allows_the_cells_that_hold_values_which_fulfil_it(operator, cut):
    columns = Integers(name="a", low=0, high=11, bins=4), Integers(name="b", low=-2, high=9, bins=3)
    domain = Domain(columns, (f"a + 2 {operator} b + {cut + 2}".replace("+ -", "- "),))
    (rule,) = rules_of(domain).rules
    assert isinstance(rule, LinearRule) and rule.cut == cut
    a, b = np.meshgrid(np.arange(0, 12), np.arange(-2, 10), indexing="ij")
    holds = OPERATORS[operator](a, b + cut)
    expected = np.zeros((4, 3), dtype=bool)
    np.logical_or.at(expected, (a // 3, (b + 2) // 4), holds)
    assert (rule.allowed(domain) == expected).all()


def test_a_missing_value_sets_a_comparison_of_columns_aside():
    domain = households(ORDER)
    (rule,) = rules_of(domain).rules
    assert isinstance(rule, LinearRule)
    allowed = rule.allowed(domain)
    assert allowed[:, -1].all() and not allowed[3, 1] and allowed[3, 3]


def test_a_missing_value_fulfils_no_condition():
    domain = households(IMPLIED)
    (rule,) = rules_of(domain).rules
    assert isinstance(rule, ConditionRule)
    allowed = rule.allowed(domain)
    assert allowed[2].all() and allowed[1].all() and allowed[0].tolist() == [True] + [False] * 40
