"""Stand-ins obey the rules of the schema, so that what is told of errors is about such tables."""

from __future__ import annotations

import numpy as np

from core.mechanisms.tree.tree import Tree
from core.planning.simulation.lawful_rows import lawful_rows, without_counts
from core.planning.simulation.stand_ins import StandIns
from core.planning.simulation.trial import make_trial
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.rules.rule_set import rules_of
from core.schema.domain import Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.core.rules.households import PLAIN, RULES, any_codes, households

COLUMNS = Integers(name="age", low=0, high=9), Categories(name="work", values=tuple("abcd"))


def test_known_counts_are_left_out():
    assert without_counts(households(*RULES)).rules == RULES[:5] and without_counts(PLAIN) is PLAIN


def test_rows_keep_every_other_rule():
    made = lawful_rows(StandIn(households(*RULES), any_codes(300), Unit.row()), np.random.default_rng(1))
    assert not rules_of(made.domain).broken(made.codes) and len(made.codes) == 300


def test_invented_tables_obey():
    domain = Domain(COLUMNS, ("never: age < 5 and work = a", "count(work = b) = 7"))
    table = StandIns.of(domain, Unit.row(), 2_000).table(0)
    assert not table.marginal(("age", "work"))[:5, 0].any() and table.domain.rules == domain.rules[:1]


def test_the_error_that_is_told_is_one_of_tables_that_obey():
    """A stand-in that broke the rule would be told to err by all rows in its impossible cells."""
    rule = "never: age < 5 and work != a"
    tree = Tree(queries=(Marginals(order=2),), budget=Budget(5, 1e-9))
    domains = (Domain(COLUMNS), Domain(COLUMNS, (rule,)))
    told = [make_trial(tree, StandIns.of(domain, Unit.row(), 3_000), 0) for domain in domains]
    assert told[1].mean < 1.1 * told[0].mean
