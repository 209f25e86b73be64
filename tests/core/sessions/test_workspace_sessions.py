import json

import pytest

from core import Budget, Desk
from core.base.errors import BadParameter, BadSchema, Failed, OutOfBudget, Refused, Unknown
from core.plans.terms import is_session
from tests.core.asker import Asker
from tests.core.people import PAIRS, desk, held
from tests.core.sessions.opened import HALF, ages, asker, opened

__all__ = ["asker", "desk", "held"]


@pytest.mark.exhaustive
def test_a_session_is_paid_once_and_is_the_same_everywhere(desk, held, tmp_path):
    plan = desk.plan_session(held, mechanism="asker", budget=HALF)
    assert plan.units > 0
    assert plan.hard_answers == 3
    assert desk.affordable(plan)
    assert desk.progress(plan.id).state == "unpaid"
    session = opened(desk, held)
    assert session.id == plan.id
    spent = desk.statement(held).spent_share
    assert spent == session.summary().budget_share > 0
    assert opened(desk, held) is session
    other = Desk(tmp_path / "workspace")
    assert opened(other, held).id == session.id
    assert other.session(session.id).table == held.id
    assert desk.statement(held).spent_share == spent
    assert [entry.plan_id for entry in desk.statement(held).entries] == [session.id]
    other.close()


@pytest.mark.exhaustive
def test_every_choice_is_a_session_of_its_own(desk, held):
    small = Budget("1/20")
    ids = [
        opened(desk, held, **changes).id
        for changes in (
            {"budget": small},
            {"budget": small, "edition": 2},
            {"budget": small, "limit": 4},
            {"budget": small, "columns": ["age"]},
            {"budget": Budget("1/19")},
        )
    ]
    assert len(set(ids)) == len(ids) == len(desk.statement(held).entries)
    assert [session.id for session in desk.sessions(held)] == ids[::-1]
    assert desk.sessions("nowhere") == []
    assert len(desk.sessions()) == len(ids)
    every = opened(desk, held, budget=small, columns=["ill", "age", "region"])
    assert every.id == ids[0], "all columns are the whole table, in whatever order"


def test_the_ledger_knows_it_as_a_session(desk, held):
    session = opened(desk, held)
    entry = desk.ledger.entry(session.id)
    assert entry.status == "stored"
    assert is_session(entry)
    assert json.loads(desk.ledger.result(session.id))["mechanism"] == "asker"
    assert desk.result(session.id) is None
    assert desk.resume() == []
    assert desk.progress(session.id).state == "done"
    released = desk.plan(held, PAIRS, mechanism="gaussian", budget=Budget("1/5", 1e-9))
    desk.release(released)
    assert not is_session(desk.ledger.entry(released.id))


def test_a_session_that_was_paid_but_not_opened_opens_for_nothing(desk, held, tmp_path):
    plan = desk.plan_session(held, mechanism="asker", budget=HALF)
    desk._parts.payments.reserve(plan)
    spent = desk.statement(held).spent_share
    with pytest.raises(Refused, match="never opened"):
        desk.session(plan.id)
    assert desk.sessions(held) == []
    restarted = Desk(tmp_path / "workspace")
    assert restarted.resume() == [plan.id]
    restarted.close()
    assert restarted.session(plan.id).answer(ages(1)).kind == "hard"
    assert opened(desk, held).transcript()[0].kind == "hard"
    assert desk.statement(held).spent_share == spent


def test_an_opening_that_fails_stays_paid_and_tells_nothing(desk, held, monkeypatch):
    def explode(*_):
        raise ValueError("a private value 1234")

    with monkeypatch.context() as broken:
        broken.setattr(Asker, "open", explode)
        with pytest.raises(Failed) as problem:
            opened(desk, held)
    assert "1234" not in str(problem.value)
    spent = desk.statement(held).spent_share
    assert spent > 0
    assert opened(desk, held).answer(ages(1)).left == 2
    assert desk.statement(held).spent_share == spent


def test_a_lost_session_file_never_gives_a_second_run(desk, held, tmp_path):
    session = opened(desk, held)
    session.answer(ages(1))
    desk.close()
    for file in (tmp_path / "workspace").glob("sessions.sqlite*"):
        file.unlink()
    again = Desk(tmp_path / "workspace")
    for use in (lambda: opened(again, held), lambda: again.session(session.id)):
        with pytest.raises(Refused, match="backup"):
            use()
    again.close()


REFUSED = [
    ({"mechanism": "magic"}, Unknown, "magic"),
    ({"mechanism": None, "queries": PAIRS}, BadParameter, "queries"),
    ({"budget": None}, BadParameter, "budget"),
    ({"colour": 1}, BadParameter, "colour"),
    ({"limit": 0}, BadParameter, "limit"),
    ({"edition": 0}, BadParameter, "edition"),
    ({"edition": True}, BadParameter, "edition"),
    ({"columns": []}, BadParameter, "columns"),
    ({"columns": "age"}, BadParameter, "columns"),
    ({"columns": ["name"]}, BadSchema, "name"),
    ({"queries": PAIRS}, BadParameter, "queries"),
    ({"earlier": "nothing"}, Unknown, "nothing"),
    ({"release": "nothing"}, BadParameter, "leave it out"),
    ({"mechanism": "histogram", "earlier": "x"}, BadParameter, "earlier"),
    ({"mechanism": "histogram", "queries": PAIRS, "columns": ["age"]}, BadParameter, "columns"),
    ({"budget": Budget(900)}, OutOfBudget, "budget"),
]


def test_a_session_that_cannot_be_costs_nothing(desk, held):
    for changes, error, match in REFUSED:
        with pytest.raises(error, match=match):
            opened(desk, held, **changes)
    assert desk.statement(held).spent_share == 0
    assert desk.statement(held).entries == ()
    assert desk.sessions() == []
