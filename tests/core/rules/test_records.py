"""Records obey every rule, however they were drawn, and those that did stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from core.rules.contradictions import check_rules
from core.rules.records import meeting_totals, mended, obeying
from tests.core.rules.households import COUNTS, IMPLIED, IMPOSSIBLE, KEY, ORDER, RULES, SUM, any_codes, households


@pytest.mark.parametrize("rules", [RULES, RULES[:5], (IMPOSSIBLE,), (KEY,), COUNTS, (ORDER, SUM)], ids=len)
def test_every_rule_is_kept(rules):
    found = check_rules(households(*rules))
    codes = any_codes(200)
    assert found.broken(codes)
    made = obeying(found, codes, np.random.default_rng(1))
    assert not found.broken(made) and made.shape == codes.shape


def test_records_that_break_nothing_stay():
    found, codes = check_rules(households(IMPOSSIBLE, IMPLIED)), any_codes(2_000)
    lawful = found.lawful(codes)
    made = obeying(found, codes, np.random.default_rng(1))
    assert (made[lawful] == codes[lawful]).all()
    others = [axis for axis in range(codes.shape[1]) if axis > 3]
    assert (made[:, others] == codes[:, others]).all(), "columns that no rule names stay as they were"


def test_one_column_of_a_broken_rule_changes():
    found, codes = check_rules(households(IMPOSSIBLE)), any_codes(2_000)
    broken = ~found.lawful(codes)
    made = mended(found, codes, np.random.default_rng(1))
    assert (np.count_nonzero(made[broken] != codes[broken], axis=1) == 1).all()


def test_a_table_without_any_lawful_record_is_made_lawful():
    found = check_rules(households("always: age >= 95", "never: marital = single"))
    codes = np.zeros((3, 11), dtype=np.int64)
    made = obeying(found, codes, np.random.default_rng(1))
    assert made[:, 0].tolist() == [19] * 3 and made[:, 1].tolist() == [1] * 3


def test_as_few_records_move_as_the_counts_need():
    found, codes = check_rules(households(*COUNTS[:2])), any_codes(200)
    north = int(np.count_nonzero(codes[:, 9] == 0))
    made = meeting_totals(found, codes, np.random.default_rng(1))
    assert np.count_nonzero((made != codes).any(axis=1)) <= abs(north - 120)
    assert np.count_nonzero(made[:, 9] == 0) == 120


def test_counts_of_records_that_nobody_drew_are_met():
    found = check_rules(households(IMPOSSIBLE, "count(age < 5 and region = south) = 9"))
    codes = any_codes(50)
    codes[:, 0], codes[:, 1] = 10, 1
    made = obeying(found, codes, np.random.default_rng(1))
    young = made[:, 0] == 0
    assert np.count_nonzero(young & (made[:, 9] == 1)) == 9 and not made[young, 1].any()


def test_nothing_to_obey_changes_nothing():
    codes = any_codes(10)
    assert obeying(check_rules(households()), codes, np.random.default_rng(1)) is codes
