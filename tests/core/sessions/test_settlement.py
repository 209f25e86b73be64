"""A session that has ended gives back what no noise was ever drawn for, and no grain more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Unit
from core.base.errors import DeskError, Failed, Refused
from core.ledger.ledger import Ledger
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.plans.statements import DeskTable
from core.privacy.events import Cost, Gaussian, Laplace
from core.sessions.session import Session
from tests.core.people import DOMAIN, TOTAL, people
from tests.core.sessions.opened import ages

BUDGET = Budget("1/2", 1e-9)
LIMIT, MANY = 5, 400
"""Questions of a session: with few of them pure noise is better, with many Gaussian noise."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def held(desk: Desk) -> DeskTable:
    return desk.add_table(people(), DOMAIN, unit=Unit.row(), budget=TOTAL, name="people")


def opened(desk: Desk, held: DeskTable, **changes: Any) -> Session:
    return desk.ask(held, **({"mechanism": "online-laplace", "budget": BUDGET, "questions": LIMIT} | changes))


def sums(desk: Desk, held: DeskTable) -> dict[str, int | None]:
    return json.loads(desk.ledger.account(desk.ledger.dataset(held.id).fingerprint).sums)


def taken(desk: Desk, held: DeskTable, cost: Cost) -> dict[str, int | None]:
    """What a cost takes in each way, counted here from its events."""
    return desk.ledger.account(desk.ledger.dataset(held.id).fingerprint).filters.amounts(cost)


def events(session: Session) -> tuple[Any, ...]:
    return session.mechanism.cost(session.domain, session.unit).events


def first(session: Session, count: int) -> Cost:
    """The events of a session's first measurements; Gaussian noise adds up to one."""
    happened = events(session)[:count]
    if all(isinstance(event, Laplace) for event in happened):
        return Cost(happened)
    return Cost((Gaussian(sum((event.rho for event in happened), Fraction(0))),))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("asked", "limit"), [(0, LIMIT), (2, LIMIT), (LIMIT, LIMIT), (3, MANY)])
def test_the_account_counts_exactly_the_events_that_happened(
    desk: Desk, held: DeskTable, asked: int, limit: int
) -> None:
    session = opened(desk, held, questions=limit)
    assert isinstance(events(session)[-1], Gaussian if limit == MANY else Laplace)
    for number in range(asked):
        session.answer(ages(1 + number))
    before = desk.statement(held).spent_share
    session.close()
    session.close()
    assert sums(desk, held) == taken(desk, held, first(session, 1 + asked))
    statement = desk.statement(held)
    assert statement.entries[0].units == pytest.approx(statement.spent_share * statement.total, abs=1)
    assert session.summary().given_back == pytest.approx(before - statement.spent_share, abs=1e-9)
    assert (session.summary().given_back > 0) == (asked < limit)


def test_what_came_back_can_be_spent_and_no_more(desk: Desk, held: DeskTable) -> None:
    session = opened(desk, held, budget=TOTAL)
    assert not desk.affordable(desk.plan_session(held, mechanism="online-laplace", budget=Budget("1/100")))
    session.close()
    second = opened(desk, held, budget=Budget(TOTAL.epsilon * Fraction(9, 10), TOTAL.delta))
    assert second.answer(ages(1)).kind == "hard"
    assert not desk.affordable(desk.plan_session(held, mechanism="online-laplace", budget=TOTAL, edition=2))


def test_comparisons_that_were_begun_count_whole(desk: Desk, held: DeskTable) -> None:
    session = opened(desk, held, mechanism="online-weights", alpha=0.1, rows=3_000, questions=100)
    plan = session.mechanism._plan(session.domain, session.unit)  # type: ignore[attr-defined]
    session.close()
    opening = Cost((plan.rows, *(portion.event for portion in plan.opening)))
    assert sums(desk, held) == taken(desk, held, opening + Cost((plan.sparse.cost.events[0],)))
    assert plan.sparse.runs > 1 or plan.sparse.most > 1


def test_an_error_after_a_draw_counts_what_was_drawn(
    desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(desk, held)
    session.answer(ages(1))
    monkeypatch.setattr(OnlineLaplace, "save", lambda *_: 1 // 0)
    with pytest.raises(Failed, match="closed"):
        session.answer(ages(2))
    assert sums(desk, held) == taken(desk, held, first(session, 3))
    assert [answer.words for answer in session.transcript()] == ["ages 1"]
    assert session.summary().reason == "failed"
    with pytest.raises(Refused, match="could not go on"):
        session.answer(ages(2))


@pytest.mark.exhaustive
def test_a_crash_before_the_refund_is_made_good(
    desk: Desk, held: DeskTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, whole = opened(desk, held), desk.statement(held).spent_share

    def killed(*_: object) -> None:
        raise DeskError("killed")

    with monkeypatch.context() as crash:
        crash.setattr(Ledger, "give_back", killed)
        with pytest.raises(DeskError, match="killed"):
            session.close()
    assert (session.status, desk.statement(held).spent_share) == ("closed", whole)
    again = Desk(tmp_path / "workspace")
    again.resume()
    assert again.statement(held).spent_share < whole
    again.close()


@pytest.mark.exhaustive
def test_a_session_from_a_release_gives_nothing_of_the_release_back(desk: Desk, held: DeskTable) -> None:
    session = desk.ask(held, mechanism="laplace", budget=BUDGET)
    before = sums(desk, held)
    session.close()
    desk.resume()
    assert (session.status, sums(desk, held)) == ("closed", before)


def test_a_session_with_pure_noise_gives_single_events_back(desk: Desk, held: DeskTable) -> None:
    session = opened(desk, held, budget=Budget("1/2"))
    session.answer(ages(1))
    session.close()
    assert sums(desk, held) == taken(desk, held, first(session, 2))


def test_a_plan_of_other_prices_gives_nothing_back(
    desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, before = opened(desk, held), sums(desk, held)
    monkeypatch.setattr(OnlineLaplace, "cost", lambda *_: Cost((Gaussian(Fraction(1, 10**6)),)))
    session.close()
    assert (session.status, sums(desk, held)) == ("closed", before)


def test_the_mutant_that_forgets_the_last_turn_is_found(
    desk: Desk, held: DeskTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a turn that fails left the allowance as it was before, its draw would be free; the sums would tell."""
    session = opened(desk, held)
    with session.file.snapshot(session.id) as turn:
        before = turn.left() or ""
    monkeypatch.setattr("core.sessions.computing.written", lambda allowance: before)
    monkeypatch.setattr(OnlineLaplace, "save", lambda *_: 1 // 0)
    with pytest.raises(Failed):
        session.answer(ages(2))
    assert sums(desk, held) == taken(desk, held, first(session, 1)) != taken(desk, held, first(session, 2))
