"""Known counts as equations: solved in whole numbers, nearest to what is held."""

from __future__ import annotations

import numpy as np

from core.rules.rule_set import rules_of
from core.rules.strata import Strata, known_tables
from tests.core.rules.households import COUNTS, IMPOSSIBLE, KEY, any_codes, households

TABLE = (
    *(f"count(region = {region} and marital = single) = {number}" for region, number in (("north", 7), ("south", 5))),
    *(f"count(region = {region} and marital = married) = {number}" for region, number in (("north", 2), ("south", 0))),
)


def test_numbers_solve_all_equations_and_move_as_little_as_they_can():
    rules = rules_of(households(*COUNTS))
    strata, codes = Strata.of(rules), any_codes(200)
    held = np.bincount(strata.of_records(codes), minlength=strata.cells.size)
    found = strata.nearest(held, 200)
    lines, numbers = strata.equations
    assert found is not None and (lines @ found == numbers).all() and found.sum() == 200 and (found >= 0).all()
    north, old = (int(held[strata.codes[:, axis] >= cut].sum()) for axis, cut in ((1, 1), (0, 13)))
    assert np.abs(found - held).sum() == 2 * max(abs(200 - north - 120), abs(old - 30))


def test_impossible_strata_are_left_out():
    rules = rules_of(households(IMPOSSIBLE, "count(age < 15 and marital = single) = 4"))
    strata = Strata.of(rules)
    assert strata.cells.size == 40 - 3 and strata.rows() == (4, None)
    assert strata.of_records(np.array([[0, 1, *[0] * 9], [5, 1, *[0] * 9]]))[0] == -1


def test_a_key_lets_one_value_occur_with_each_of_its_own():
    counts = [f"count(postcode = {place}) = {number}" for place, number in ((1, 3), (2, 4), (3, 5), (4, 6))]
    rules = rules_of(households(KEY, *counts, "count(region = north) = 8"))
    strata = Strata.of(rules)
    found = strata.nearest(np.full(strata.cells.size, 2), 18)
    assert found is not None
    joint = np.zeros((4, 2), dtype=int)
    np.add.at(joint, (strata.codes[:, 1], strata.codes[:, 0]), found)
    assert (np.count_nonzero(joint, axis=1) <= 1).all() and joint[:, 0].sum() == 8


def test_a_table_is_known_when_every_possible_cell_is():
    rules = rules_of(households(*TABLE))
    assert known_tables(rules)["marital", "region"].tolist() == [[7, 5], [2, 0]]
    assert not known_tables(rules_of(households(*TABLE[:3])))
    without = rules_of(households(*TABLE[:3], "never: region = south and marital = married"))
    assert known_tables(without)["marital", "region"].tolist() == [[7, 5], [2, 0]]
