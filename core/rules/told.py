"""What people are told about rules: where they come from, and what the promise means beside them."""

from __future__ import annotations

from core.rules.rule_set import RuleSet

DECLARED = (
    "The rules were declared as publicly known and do not come from the data; every synthetic record keeps them. If "
    "rows of the private table break a rule, the release does not show it."
)
COUNTED = (
    "Known counts are taken to be the same for all neighbouring tables: the promise covers everything that the release "
    "says about a person beyond what these counts say. A count made from this very table is not publicly known: it has "
    "to be bought with a release."
)


def about(rules: RuleSet) -> str:
    """What the rules of a release mean for its promise."""
    return f"{DECLARED} {COUNTED}" if rules.totals else DECLARED
