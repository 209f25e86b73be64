"""Guests of a shared session: they take the hard answers that they are given, and are answered without them else."""

from __future__ import annotations

import pytest

from core import question
from core.base.errors import Refused
from core.sessions.visit import UNLISTED, Visit
from tests.core.people import ONE, desk, held
from tests.core.sessions.opened import OPTIONS, ages, asker, opened

__all__ = ["asker", "desk", "held"]

BY_REGION = "SELECT region, COUNT(*), MEDIAN(age) FROM people GROUP BY region"


@pytest.fixture
def learning(desk, held):
    """A session with something public to answer from."""
    return desk.ask(held, mechanism="online-weights", budget=ONE, **OPTIONS["online-weights"])


def test_a_guest_without_hard_answers_is_answered_from_what_is_public(learning):
    before = learning.summary()
    asked = question("age >= 50 and ill = true", learning.domain)
    answer, taken = Visit(session=learning, hard=0).answer(asked)
    assert (answer.kind, answer.number, answer.interval, taken) == ("unchecked", UNLISTED, None, 0)
    assert answer.share == pytest.approx(asked.answer(learning.hypothesis()))
    assert answer.left == before.left
    assert learning.summary() == before, "nothing was asked of the session"


def test_what_was_asked_before_is_told_to_every_guest(desk, held):
    session = opened(desk, held)
    first = session.answer(ages(1))
    assert first.kind == "hard"
    assert Visit(session=session, hard=0).answer(ages(1)) == (first, 0)


def test_a_guest_takes_as_many_as_allowed_and_leaves_the_rest(desk, held):
    session = opened(desk, held, limit=5)
    answer, taken = Visit(session=session, hard=1).answer(ages(1))
    assert (answer.kind, taken, session.summary().left) == ("hard", 1, 4)
    assert Visit(session=session, hard=1).answer(ages(3))[1] == 0, "an easy answer takes nothing"
    with pytest.raises(Refused, match="no measurement is left to this visit"):
        Visit(session=session, hard=0).answer(ages(2))
    with pytest.raises(Refused):
        Visit(session=session, hard=9, kept=4).answer(ages(2))
    assert session.summary().left == 4
    assert Visit(session=session, hard=9, kept=3).answer(ages(2))[1] == 1


def test_a_statement_is_measured_whole_or_not_at_all(learning):
    price, left = learning.sql_price(BY_REGION), learning.summary().left
    assert price.hard > 1
    found, taken = Visit(session=learning, hard=price.hard - 1).sql(BY_REGION)
    assert (taken, found.hard, learning.summary().left, learning.transcript()) == (0, 0, left, [])
    assert found.questions > 4 and all(number.low is None for row in found.rows for number in row.estimates)
    found, taken = Visit(session=learning, hard=price.hard).sql(BY_REGION)
    assert learning.transcript() and taken == left - learning.summary().left == found.hard


def test_a_session_without_a_limit_needs_no_leave(desk, held):
    session = desk.ask(held, mechanism="online-histogram", budget=ONE)
    assert session.summary().left is None
    visit = Visit(session=session, hard=0)
    assert visit.may_measure()
    answer, taken = visit.answer(question("age >= 50", session.domain))
    assert (answer.number, taken) == (1, 0) and answer.interval is not None
