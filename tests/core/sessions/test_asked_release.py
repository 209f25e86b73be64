"""Questions about a stored release, without a session: the answers of the release, and nothing else happens."""

from __future__ import annotations

import pytest

from core import Budget, Marginals, question
from core.base.errors import Refused
from core.kernel.query import Statistic
from core.sessions.asked_release import AskedRelease
from core.sessions.visit import UNLISTED
from tests.core.people import DOMAIN, ONE, desk, held

__all__ = ["desk", "held"]

BY_REGION = "SELECT region, COUNT(*), AVG(age) FROM people GROUP BY region"


def asked_release(desk, held, **options):
    plan = desk.plan(held, [Marginals(order=2)], mechanism="gaussian", budget=ONE, **options)
    return AskedRelease(release=desk.release(plan), entry=desk.ledger.entry(plan.id))


def test_an_answer_is_that_of_a_session_from_the_release(desk, held):
    plan = desk.plan(held, [Marginals(order=2)], mechanism="gaussian", budget=ONE, measure=0.05)
    asked = AskedRelease(release=desk.release(plan), entry=desk.ledger.entry(plan.id))
    session = desk.ask(held, release=plan.id)
    for text in ("age >= 50", "age >= 50 and ill = true", "region = north and ill = true and age < 30"):
        single = question(text, DOMAIN)
        answer, taken = asked.answer(single)
        same = session.answer(single)
        assert (answer.share, answer.count, answer.margin, answer.interval, answer.words) == (
            same.share,
            same.count,
            same.margin,
            same.interval,
            same.words,
        )
        assert (taken, answer.number, answer.left, answer.kind) == (0, UNLISTED, None, "easy")
    assert asked.answer(question("age >= 50", DOMAIN))[0].interval is not None, "of a measured release it is known"
    assert asked.sql(BY_REGION)[0].frame().equals(session.sql(BY_REGION).frame())
    assert asked.sql_price(BY_REGION) == session.sql_price(BY_REGION)


def test_asking_opens_spends_and_keeps_nothing(desk, held):
    asked = asked_release(desk, held)
    before, left = [entry.plan_id for entry in desk.ledger.entries()], desk.statement(held).left
    asked.answer(question("age >= 50", DOMAIN))
    asked.sql(BY_REGION)
    assert [entry.plan_id for entry in desk.ledger.entries()] == before
    assert desk.statement(held).left == left and not desk.sessions()


def test_what_is_not_a_sum_over_rows_is_refused(desk, held):
    with pytest.raises(Refused, match="sums over the rows only"):
        asked_release(desk, held).answer(Statistic.__new__(Statistic))


def test_records_alone_in_a_chosen_number_answer_nothing_and_say_so_before(desk, held):
    assert asked_release(desk, held, records=77).answers_questions, "its tables know the number of rows"
    one = [Marginals(order=1, columns=("ill",))]
    plan = desk.plan(held, one, mechanism="smalldb", budget=Budget("1/2"), records=77)
    bare = AskedRelease(release=desk.release(plan), entry=desk.ledger.entry(plan.id))
    assert not bare.answers_questions
    with pytest.raises(Refused, match="number of rows"):
        bare.answer(question("ill = true", DOMAIN))
