"""Public rows that obey the rules of their schema, so that errors are simulated on tables such as the private one.

Known counts are left out: a stand-in has as many rows as were declared, which is seldom the counted number. A mechanism
that uses them does at least as well as is told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.rules.contradictions import check_rules
from core.rules.kinds import TotalRule
from core.rules.records import obeying
from core.rules.rule_set import rules_of
from core.schema.domain import Domain
from core.table.stand_in import StandIn


def without_counts(domain: Domain) -> Domain:
    """The schema with all its rules but known counts."""
    if not domain.rules:
        return domain
    return domain.obeying(rule.text for rule in rules_of(domain).rules if not isinstance(rule, TotalRule))


def lawful_rows(table: StandIn, generator: np.random.Generator) -> StandIn:
    """The same rows, those that break a rule changed."""
    domain = without_counts(table.domain)
    return replace(table, domain=domain, codes=obeying(check_rules(domain), table.codes, generator))
