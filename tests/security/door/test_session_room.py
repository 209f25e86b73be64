"""Whoever asks a shared session as much as they like fills neither the disk nor the time of the server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import DeskError, Refused
from core.formulas import question as formulas
from core.formulas.question import question
from core.kernel.query import Query
from core.schema.domain import Domain, Integers
from core.sessions import session_limits
from core.sessions.session import Session
from tests.core.people import DOMAIN, people

WIDE = Domain(tuple(Integers(name=f"c{place}", low=0, high=1) for place in range(22)))
SUM = " + ".join(f"{place + 1} * c{place}" for place in range(22))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture(params=["free", "paid"])
def session(desk: Desk, request: pytest.FixtureRequest) -> Session:
    held = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=Budget(4))
    if request.param == "paid":
        return desk.ask(held, mechanism="online-histogram", budget=Budget(1), columns=["age"])
    plan = desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(1))
    return desk.ask(held, release=desk.release(plan).certificate.plan)


def ages(number: int) -> Query:
    weights = np.array([int(bit) for bit in f"{number:010b}"])
    return Query(columns=("age",), weights=weights, words=f"ages {number}")


def size(session: Session) -> int:
    return len(session.transcript())


def test_a_session_keeps_so_many_answers_and_no_more(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_limits, "MOST_ANSWERS", 3)
    first = [session.answer(ages(number)) for number in (1, 2, 3)]
    for number in (4, 5, 6):
        with pytest.raises(Refused, match="all its 3 answers"):
            session.answer(ages(number))
    assert size(session) == 3
    assert session.status == "open"
    assert session.answer(ages(2)) == first[1], "what was asked before is still told"


def test_large_questions_fill_no_more_than_their_room(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_limits, "MOST_KEPT", 40)
    with pytest.raises(Refused, match="fill the room"):
        for number in range(1, 9):
            session.answer(ages(number))
    assert 0 < size(session) < 8
    before = size(session)
    with pytest.raises(Refused, match="fewer columns"):
        session.answer(ages(100))
    assert size(session) == before


def test_what_a_page_shows_is_the_limit_that_holds(session: Session) -> None:
    assert session.summary().room == session_limits.MOST_ANSWERS


def test_a_formula_that_lays_out_too_much_is_refused_before_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    many = " or ".join(f"c0 + c1 + c2 + {SUM[22:]} = {cut}" for cut in range(3))
    monkeypatch.setattr(formulas, "holds", never)
    for text in (many, " or ".join(f"not c{place % 22} = 1" for place in range(110))):
        with pytest.raises(DeskError, match="combinations together"):
            question(text, WIDE)


def test_the_largest_formula_that_is_taken_costs_little() -> None:
    started = time.process_time()
    assert question(f"{SUM} >= 100", WIDE).weights.size == 2**22
    # Measured at a third of a second; ten times that is no busy machine but a missing bound.
    assert time.process_time() - started < 4
