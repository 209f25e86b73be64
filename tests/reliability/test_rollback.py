"""An older copy of a workspace that is put back spends nothing, and answers nothing, until what it lost is entered."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import DeskError, Failed, OutOfBudget, Refused
from core.kernel.query import Query
from core.ledger.journal import Journal
from core.plans.plan import Plan
from core.plans.statements import DeskTable
from core.sessions.session import Session
from tests.core.people import DOMAIN, people

TOTAL, HALF = Budget(2), Budget("1/2")


class Workplace:
    """A workspace, the journal outside of it, and a backup of the first alone."""

    def __init__(self, place: Path) -> None:
        self.folder, self.outside, self.copy = place / "workspace", place / "state", place / "backup"
        self.desk = self.opened()

    def opened(self) -> Desk:
        return Desk(self.folder, journal=self.outside)

    def backup(self) -> None:
        shutil.copytree(self.folder, self.copy)

    def put_back(self, *names: str) -> Desk:
        """The whole backup, or single files of it."""
        self.desk.close()
        if names:
            for name in names:
                for old in self.folder.glob(f"{name}*"):
                    old.unlink()
                for kept in self.copy.glob(f"{name}*"):
                    shutil.copy(kept, self.folder)
        else:
            shutil.rmtree(self.folder)
            shutil.copytree(self.copy, self.folder)
        self.desk = self.opened()
        return self.desk


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path)
    made.desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=TOTAL)
    return made


def plan_of(desk: Desk, edition: int = 1) -> Plan:
    return desk.plan(desk.tables()[0], [Marginals(order=1)], mechanism="laplace", budget=HALF, edition=edition)


def ages(number: int) -> Query:
    weights = np.array([int(bit) for bit in f"{number:010b}"])
    return Query(columns=("age",), weights=weights, words=f"ages {number}")


def session_of(desk: Desk) -> Session:
    return desk.ask(desk.tables()[0], mechanism="online-laplace", budget=HALF, questions=5)


def discovered(desk: Desk) -> object:
    return desk.discover(people(300), {"age": "number"}, unit=Unit.row(), total=TOTAL, part=HALF)


SPENDS: dict[str, Callable[[Desk], object]] = {
    "release": lambda desk: desk.release(plan_of(desk)),
    "session": session_of,
    "discovery": discovered,
}


@pytest.mark.parametrize("kind", SPENDS)
def test_a_lost_spend_stops_every_spend_until_it_is_entered(workplace: Workplace, kind: str) -> None:
    workplace.backup()
    SPENDS[kind](workplace.desk)
    desk = workplace.put_back()
    assert desk.statement(desk.tables()[0]).spent_share == 0, "the copy has forgotten"
    for attempt in SPENDS.values():
        with pytest.raises(Refused, match="older copy"):
            attempt(desk)
    assert desk.resume() == []
    assert len(desk.lost().spends) == 1
    assert desk.enter_lost().spends
    assert not desk.lost()
    assert desk.statement(desk.tables()[0]).spent_share == pytest.approx(0.25)
    if kind == "discovery":
        discovered(desk)  # of a place in the ledger that is new: it is another survey, and paid for
    else:
        with pytest.raises((Failed, Refused)):
            SPENDS[kind](desk)
        desk.release(plan_of(desk, edition=2))
    assert desk.statement(desk.tables()[0]).spent_share == pytest.approx(0.5)


WITH_DELTA, PERSON = Budget(2, "1e-6"), Unit.id("region", 3)


@pytest.mark.parametrize(
    ("unit", "budget", "other_unit", "other_budget", "left"),
    [
        (Unit.row(), TOTAL, Unit.row(), WITH_DELTA, 1),
        (Unit.row(), WITH_DELTA, Unit.row(), TOTAL, 1),
        (Unit.row(), TOTAL, PERSON, TOTAL, 0),
        (PERSON, TOTAL, Unit.row(), TOTAL, 0),
    ],
    ids=["a delta", "no delta", "people", "rows"],
)
def test_an_account_that_is_declared_otherwise_in_the_copy_forgets_nothing(
    tmp_path: Path, unit: Unit, budget: Budget, other_unit: Unit, other_budget: Budget, left: int
) -> None:
    """Unit and budget are free until the first plan, of which the copy knows nothing: a spend of pure noise once
    counted for nothing in the ways of a budget with a delta, and one for rows as it was in an account of people."""
    workplace = Workplace(tmp_path)
    workplace.desk.add_table(people(300), DOMAIN, unit=unit, budget=budget)
    workplace.backup()
    workplace.desk.release(pure_plan_of(workplace.desk, 1))
    desk = workplace.put_back()
    desk.add_table(people(300), DOMAIN, unit=other_unit, budget=other_budget)
    desk.enter_lost()
    account = desk.ledger.account(desk.ledger.dataset(desk.tables()[0].id).fingerprint)
    assert Fraction(account.left, account.total) == Fraction(left, 2)
    held = desk.tables()[-1]
    for number in (2, Fraction(3, 2), Fraction(1, 100)):
        if number > left:
            with pytest.raises(DeskError):
                desk.release(pure_plan_of(desk, number, held))
    if left:
        with pytest.raises(DeskError):
            plan = desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=WITH_DELTA, edition=2)
            desk.release(plan)
        desk.release(pure_plan_of(desk, left, held))
    desk.close()


def pure_plan_of(desk: Desk, epsilon: int | Fraction, held: DeskTable | None = None) -> Plan:
    table = held or desk.tables()[0]
    edition = 1 if held is None else 2
    return desk.plan(table, [Marginals(order=1)], mechanism="laplace", budget=Budget(epsilon), edition=edition)


def test_the_same_plan_gives_no_second_answer(workplace: Workplace) -> None:
    workplace.backup()
    plan = plan_of(workplace.desk)
    workplace.desk.release(plan)
    desk = workplace.put_back()
    desk.enter_lost()
    for _ in range(2):
        with pytest.raises(Failed, match="fresh edition"):
            desk.release(plan_of(desk))
    assert desk.result(plan.id) is None
    assert desk.progress(plan.id).state == "ended"


def test_a_plan_that_was_paid_before_and_finished_after_the_backup_is_not_run_again(workplace: Workplace) -> None:
    desk = workplace.desk
    plan = plan_of(desk)
    desk._parts.payments.reserve(plan)
    workplace.backup()
    desk.release(plan)
    desk = workplace.put_back()
    assert desk.lost().results == (plan.id,)
    assert desk.resume() == []
    with pytest.raises(Refused, match="older copy"):
        desk.release(plan)
    desk.enter_lost()
    with pytest.raises(Failed, match="fresh edition"):
        desk.release(plan)
    assert desk.statement(desk.tables()[0]).spent_share == pytest.approx(0.25), "paid once"


def test_a_table_that_was_lost_finds_its_spends_when_it_comes_again(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    workplace.backup()
    held = workplace.desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=TOTAL)
    workplace.desk.release(workplace.desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=TOTAL))
    desk = workplace.put_back()
    assert desk.tables() == []
    desk.enter_lost()
    again = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=TOTAL)
    with pytest.raises(OutOfBudget):
        desk.release(desk.plan(again, [Marginals(order=1)], mechanism="laplace", budget=HALF))


@pytest.mark.exhaustive
@pytest.mark.parametrize("names", [(), ("sessions.sqlite",)])
def test_an_older_session_file_answers_nothing_more(workplace: Workplace, names: tuple[str, ...]) -> None:
    session = session_of(workplace.desk)
    session.answer(ages(1))
    workplace.backup()
    session.answer(ages(2))
    desk = workplace.put_back(*names)
    older = desk.session(session.id)
    assert len(older.transcript()) == 1, "the copy has forgotten"
    assert older.answer(ages(1)).number == 1, "what it remembers it may tell"
    with pytest.raises(Refused, match="older copy"):
        older.answer(ages(3))
    assert desk.session(session.id).status == "closed"
    with pytest.raises(Refused, match="closed"):
        desk.session(session.id).answer(ages(2))


def spent(desk: Desk) -> float:
    return desk.statement(desk.tables()[0]).spent_share


@pytest.mark.exhaustive
@pytest.mark.parametrize("names", [(), ("sessions.sqlite",), ("ledger.sqlite",)])
def test_a_session_that_gave_back_stays_closed_in_every_older_copy(
    workplace: Workplace, names: tuple[str, ...]
) -> None:
    session = session_of(workplace.desk)
    session.answer(ages(1))
    workplace.backup()
    session.close()
    whole, less = 0.25, spent(workplace.desk)
    assert less < whole
    desk = workplace.put_back(*names)
    with pytest.raises(Refused, match="closed"):
        desk.session(session.id).answer(ages(2))
    assert spent(desk) == pytest.approx(less if names == ("sessions.sqlite",) else whole)
    desk.session(session.id).close()
    desk.resume()
    assert spent(desk) == pytest.approx(whole if names == () else less), "a copy that forgot its end gives nothing back"


def test_a_copy_that_has_forgotten_answers_gives_nothing_back(workplace: Workplace) -> None:
    session = session_of(workplace.desk)
    workplace.backup()
    session.answer(ages(1))
    desk = workplace.put_back("sessions.sqlite")
    desk.session(session.id).close()
    assert desk.session(session.id).status == "closed"
    assert spent(desk) == pytest.approx(0.25)


def test_of_two_copies_one_that_did_not_hear_an_answer_gives_nothing_back(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One copy closes and is killed before it settles; the other, where the session is still open, answers."""
    session = session_of(workplace.desk)
    workplace.backup()
    with monkeypatch.context() as killed:
        killed.setattr(Session, "settle", lambda self: None)
        session.close()
    twin = Desk(workplace.copy, journal=workplace.outside)
    twin.session(session.id).answer(ages(1))
    workplace.desk.resume()
    assert spent(workplace.desk) == pytest.approx(0.25)
    twin.close()


@pytest.mark.exhaustive
def test_two_copies_share_one_budget(workplace: Workplace) -> None:
    workplace.backup()
    twin = Desk(workplace.copy, journal=workplace.outside)
    workplace.desk.release(plan_of(workplace.desk))
    with pytest.raises(Refused, match="older copy"):
        twin.release(plan_of(twin, edition=2))
    twin.enter_lost()
    twin.release(plan_of(twin, edition=2))
    with pytest.raises(Refused, match="older copy"):
        workplace.desk.release(plan_of(workplace.desk, edition=3))
    workplace.desk.enter_lost()
    assert workplace.desk.statement(workplace.desk.tables()[0]).spent_share == pytest.approx(0.5)
    twin.close()


@pytest.mark.exhaustive
def test_without_the_journal_the_copy_would_pay_nothing_for_a_second_draw(workplace: Workplace) -> None:
    """The mutant, and what is not noticed: a copy on a machine that has no journal of it."""
    workplace.backup()
    first = workplace.desk.release(plan_of(workplace.desk)).zip()
    shutil.rmtree(workplace.outside)
    desk = workplace.put_back()
    assert desk.release(plan_of(desk)).zip() != first


@pytest.mark.exhaustive
def test_a_release_says_which_spend_of_its_account_it_was(workplace: Workplace) -> None:
    """What tells of a rollback where the journal is gone too: a number that the workspace has not reached."""
    desk = workplace.desk
    other = desk.add_table(people(200), DOMAIN, unit=Unit.row(), budget=TOTAL, apart="other people")
    first = desk.release(plan_of(desk))
    workplace.backup()
    session_of(desk)
    third = desk.release(plan_of(desk, edition=2))
    elsewhere = desk.release(desk.plan(other, [Marginals(order=1)], mechanism="laplace", budget=HALF))
    assert [each.certificate.spend for each in (first, third, elsewhere)] == [1, 3, 1]
    shutil.rmtree(workplace.outside)
    desk = workplace.put_back()
    account = desk.ledger.dataset(desk.tables()[0].id).fingerprint
    assert len(desk.ledger.entries(fingerprint=account)) < third.certificate.spend


@pytest.mark.exhaustive
def test_a_spend_that_a_crash_kept_from_the_journal_is_noted_later(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Journal, "note", lambda *_: None)
        workplace.desk.release(plan_of(workplace.desk))
    workplace.desk.release(plan_of(workplace.desk, edition=2))
    assert workplace.desk.ledger.journal is not None
    spends, stored = workplace.desk.ledger.journal.read()
    assert len(spends) == len(stored) == 2


def test_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.note([], ["one"])
    with (tmp_path / "journal" / "spends").open("a") as file:
        file.write('\n{"stored": "tw')
    journal.note([], ["three"])
    assert journal.read() == ({}, {"one", "three"})


def test_a_note_that_a_full_disk_cuts_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk takes what still fits and calls that no error."""
    journal, write = Journal(tmp_path / "journal"), os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:-5]))
    with pytest.raises(DeskError, match="nothing is spent"):
        journal.note([], ["one"])
    monkeypatch.undo()
    journal.note([], ["two"])
    assert journal.read() == ({}, {"two"})


def test_notes_are_their_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        journal = Journal(tmp_path / "state" / "journal")
        journal.note([], ["one"])
        journal.note_answer("s", 1)
        journal.note_end("s")
    finally:
        os.umask(before)
    folder = tmp_path / "state" / "journal"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def is_locked(file: Path) -> bool:
    with file.open() as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_whoever_notes_or_answers_does_so_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, write, seen = Journal(tmp_path), os.write, list[bool]()

    def watched(file: int, content: bytes) -> int:
        seen.append(is_locked(tmp_path / "spends"))
        return write(file, content)

    monkeypatch.setattr(os, "write", watched)
    journal.note([], ["one"])
    assert seen == [True]
    with journal.only("s"):
        assert is_locked(tmp_path / "turn-s")
    assert not is_locked(tmp_path / "turn-s")


def test_answers_only_grow(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert journal.answers("s") == 0
    for number in (3, 1, 2):
        journal.note_answer("s", number)
        assert journal.answers("s") == 3


def test_what_cannot_be_noted_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    desk = Desk(tmp_path / "workspace", journal=tmp_path / "file")
    held = desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=TOTAL)
    with pytest.raises(DeskError, match="RELEASE_DESK_STATE"):
        desk.release(desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=HALF))
    assert desk.ledger.entries() == []
    desk.close()
