"""The best rule of each group: exact scores, a bound on what is named only, and nothing that can be bent."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.decisions.best_rules import STEPS, BestRules
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.core.kernel.kinds import BOTH, DOMAIN

RULES = np.array([[-1, 0, 1, 1], [0, 0, 0, 1], [1, 1, -1, 0]])
COSTS, OFFSETS, GROUPS = np.array([2, 3, 900]), np.array([7, -3, 0]), np.array([0, 1, 0])


def rules(**changed) -> BestRules:
    given = {"rules": RULES, "costs": COSTS, "offsets": OFFSETS, "groups": GROUPS, **changed}
    return BestRules(columns=BOTH, **given)


def scores(*cells: int, **changed) -> list[int]:
    return rules(**changed).scores(Remembered(Cells(DOMAIN, np.array(cells)))).tolist()


def test_a_group_has_the_score_of_its_best_rule():
    assert scores(0, 0, 0, 0) == [7, -3]
    # Rule 0 pays 2 for the second cell, rule 1 pays 2, rule 2 pays 3.
    assert scores(0, 4, 0, 0) == [7 - 2 * STEPS, -3 - 2 * STEPS]
    # The first cell is free by rule 0 and the third by rule 2; both together cost 3 by either.
    assert scores(1, 0, 1, 0) == [7 - 3 * STEPS, -3 - 2 * STEPS]
    assert scores(0, 0, 5, 0) == [0, -3 - 2 * STEPS]


def test_only_costs_that_a_rule_names_count():
    assert rules().sensitivity(Unit.row()) == 3 * STEPS
    assert rules().span(Unit.row()) == 3 * STEPS
    assert rules(rules=np.where(RULES == 1, 2, RULES)).sensitivity(Unit.id("person", 2)) == 2 * 900 * STEPS
    assert rules(rules=np.full_like(RULES, -1)).sensitivity(Unit.row()) == STEPS


def test_offsets_do_not_wrap_around():
    found = scores(9, 9, 9, 9, offsets=np.array([-(2**63), 2**63 - 1, -(2**63)]))
    assert found == [-LARGEST - 5 * STEPS, LARGEST - 5 * STEPS], "both costs are in use by every rule"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"groups": np.array([0, 2, 0])}, "groups"),
        ({"groups": np.array([-1, 0, 0])}, "groups"),
        ({"groups": np.array([0, 0])}, "rules"),
        ({"offsets": np.array([0])}, "rules"),
        ({"rules": RULES[0]}, "rules"),
        ({"rules": RULES + 2}, "rules"),
        ({"rules": np.array([0, 1, 1])}, "rules"),
        ({"rules": RULES[..., None]}, "rules"),
        ({"costs": np.array([2, -1])}, "costs"),
        ({"costs": np.array([2, 2**20 + 1])}, "costs"),
        ({"costs": np.array([], dtype=int)}, "costs"),
        ({"costs": np.array([[2, 3]])}, "costs"),
        ({"rules": np.zeros((0, 4), dtype=int), "offsets": OFFSETS[:0], "groups": GROUPS[:0]}, "groups"),
        ({"offsets": np.array([0.5, 0.0, 0.0])}, "offsets"),
    ],
)
def test_what_fits_not_together_is_refused(changed, name):
    with pytest.raises(BadParameter) as refused:
        rules(**changed)
    assert refused.value.parameter == name


def test_the_largest_costs_and_a_single_one_are_taken():
    assert rules(costs=np.array([0, 2**20, 1])).sensitivity(Unit.row()) == 2**20 * STEPS
    alone = {"rules": np.array([[0, -1, 0, -1]]), "offsets": OFFSETS[:1], "groups": GROUPS[:1]}
    assert scores(1, 1, 1, 1, costs=np.array([4]), **alone) == [7 - 4 * STEPS]
    assert rules(costs=np.array([4]), **alone).sensitivity(Unit.row()) == 4 * STEPS
    assert rules(costs=np.array([0]), **alone).sensitivity(Unit.row()) == STEPS == 1024
