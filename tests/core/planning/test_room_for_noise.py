"""Too small a table is told before and after: never too late, and never of a table that is large enough."""

from __future__ import annotations

import pytest

from core.planning.room_for_noise import (
    MOST_MOVED,
    MOST_OFF,
    moved_in_tables,
    moved_share,
    too_few_for_answers,
    too_small,
)
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers

DOMAIN = Domain((Integers(name="a", low=0, high=9), Integers(name="b", low=0, high=9)))


def test_the_share_is_the_total_variation_that_such_errors_make():
    # 100 cells, each off by 2 of 1,000 rows: half of 200 rows are in a wrong cell.
    assert moved_share([Marginals(order=2)], DOMAIN, 2, 1000) == pytest.approx(0.1)


def test_other_questions_are_not_judged():
    assert moved_share([Intervals(column="a")], DOMAIN, 2, 1000) is None
    assert moved_share([Marginals(order=2)], DOMAIN, 2, 0) is None
    assert too_small(None) is None


def test_tables_are_judged_by_their_own_errors_where_other_questions_are_asked_too():
    mixed = [Marginals(order=2), Intervals(column="a")]
    assert moved_in_tables(mixed, DOMAIN, 50, 2, 1000) == pytest.approx(0.1)
    assert moved_in_tables(mixed, DOMAIN, 50, None, 1000) is None, "the mean of all says nothing of them"
    assert moved_in_tables(mixed[:1], DOMAIN, 2, None, 1000) == pytest.approx(0.1)


def test_only_a_small_table_is_warned_of():
    assert too_small(MOST_MOVED) is None
    assert "about 10 of 100 rows" in (too_small(0.1) or "")
    assert "more than half" in (too_small(3.0) or "")


def test_answers_of_a_session_are_judged_by_the_rows():
    assert too_few_for_answers(1000 * MOST_OFF, 1000) is None and too_few_for_answers(5, 0) is None
    assert "about 10 % of its rows" in (too_few_for_answers(100, 1000) or "")
    assert "more than half of its rows" in (too_few_for_answers(600, 1000) or "")
