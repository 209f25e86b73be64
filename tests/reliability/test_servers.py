"""Several servers on one PostgreSQL database: it is killed and cut off under them, they die, and nothing is lost."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Marginals, Unit
from core.base.errors import DeskError, Refused
from core.ledger import leases
from core.ledger.ledger import Ledger
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.privacy.privacy_filter import PURE
from tests.core.people import DOMAIN, TOTAL, people
from tests.databases import StartedServer, name_of
from tests.forked import processes
from tests.reliability.place import LEASE, Place
from tests.reliability.test_ledger_kills import Auditor
from tests.reliability.test_ledger_races import opened
from tests.reliability.test_one_attempt import appears, started
from tests.reliability.test_session_crash import ages

pytestmark = pytest.mark.slow
CREW = 3


def persistent(books: str, log: Path, number: int) -> None:
    """A desk that pays, draws, stores and says, plan after plan, whatever happens to its database."""
    ledger = None
    said = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    for index in range(1_000_000):
        try:
            ledger = ledger or Ledger(books)
            account, plan_id = ledger.account("ab"), f"{number}-{index // 2}"
            entry = ledger.reserve(
                plan_id=plan_id, dataset_id="ab", plan_json="{}", amounts={PURE: number + 1}, account=account
            )
            os.write(said, f"reserved {plan_id} {entry.units}\n".encode())
            stored = ledger.store(plan_id, os.urandom(64))
            os.write(said, f"returned {plan_id} {hashlib.sha256(stored).hexdigest()}\n".encode())
        except DeskError:
            time.sleep(0.1)


def under_load(tmp_path: Path, postgres: StartedServer, harm: Any, times: int) -> None:
    books = postgres.new()
    auditor = Auditor(tmp_path, books)
    crew = [processes.Process(target=persistent, args=(books, auditor.log, number)) for number in range(CREW)]
    for each in crew:
        each.start()
    try:
        for _ in range(times):
            before, ends = auditor.returned(), time.monotonic() + 60
            while auditor.returned() < before + 2 * CREW:
                assert time.monotonic() < ends, "work goes on after it"
                time.sleep(0.01)
            harm(books)
    finally:
        for each in crew:
            each.kill()
            each.join(60)
    auditor.audit()
    assert auditor.returned() >= times


def test_a_server_that_crashes_forgets_nothing_that_was_said(tmp_path: Path, postgres: StartedServer) -> None:
    def crash(_: str) -> None:
        postgres.crash()
        postgres.start()

    under_load(tmp_path, postgres, crash, 3)


def test_cut_connections_lose_nothing_that_was_said(tmp_path: Path, postgres: StartedServer) -> None:
    under_load(tmp_path, postgres, postgres.cut, 8)


def test_a_plan_is_paid_once_whatever_is_cut(postgres: StartedServer) -> None:
    """A client that does not learn whether its spend was committed asks again."""
    books = postgres.new()
    ledger = Ledger(books)
    account = opened(ledger, "ab", 100)
    over = threading.Event()

    def cutting() -> None:
        while not over.wait(0.02):
            postgres.cut(books)

    cutter = threading.Thread(target=cutting)
    cutter.start()
    try:
        for index in range(40):
            for _ in range(200):
                try:
                    ledger.reserve(
                        plan_id=f"p{index}", dataset_id="ab", plan_json="{}", amounts={PURE: 2}, account=account
                    )
                    break
                except DeskError:
                    continue
    finally:
        over.set()
        cutter.join()
    assert ledger.account("ab").spent == 80 == sum(entry.units for entry in ledger.entries())


# sessions


@pytest.fixture
def place(tmp_path: Path, postgres: StartedServer) -> Place:
    """A workspace on the server that holds one table."""
    place = Place(tmp_path / "workspace", postgres.new())
    people(300).to_csv(tmp_path / "people.csv", index=False)
    desk = place.desk()
    desk.add_table(tmp_path / "people.csv", DOMAIN, unit=Unit.row(), budget=TOTAL)
    desk.close()
    return place


def session_of(desk: Desk) -> Any:
    return desk.ask(desk.tables()[0], mechanism="online-laplace", budget=Budget("1/2"), questions=6)


def test_a_session_on_two_servers_answers_each_question_once(tmp_path: Path, place: Place) -> None:
    """Each server has notes of its own outside of the workspace, as on two machines."""
    desks = [place.desk(journal=tmp_path / f"notes {number}") for number in range(2)]
    sessions = [session_of(desk) for desk in desks]
    assert sessions[0].id == sessions[1].id
    questions = [ages(number) for number in (1, 2, 3, 4, 5, 6)]
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda pair: pair[0].answer(pair[1]), [(each, q) for q in questions for each in sessions]))
    assert told[::2] == told[1::2], "one draw for each question"
    assert sorted(answer.number for answer in told[::2]) == [1, 2, 3, 4, 5, 6]
    assert [entry.status for entry in desks[0].ledger.entries()] == ["stored"], "paid once"
    sessions[0].close()
    with pytest.raises(Refused, match="closed"):
        sessions[1].answer(ages(7))
    for desk in desks:
        desk.close()


def test_a_turn_that_is_cut_off_was_never_taken(place: Place, postgres: StartedServer) -> None:
    desk = place.desk()
    session = session_of(desk)
    session.answer(ages(1))
    mechanism = type(session.mechanism)
    answer = mechanism.answer

    def cut_off(self: Any, *arguments: Any, **named: Any) -> Any:
        assert place.server is not None
        postgres.cut(place.server)
        return answer(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanism, "answer", cut_off)
        with pytest.raises(DeskError, match="lost"):
            session.answer(ages(2))
    assert [each.number for each in session.transcript()] == [1]
    assert session.status == "open"
    assert session.answer(ages(2)).number == 2
    desk.close()


# attempts


def test_a_release_whose_server_died_is_taken_over_by_one_that_looks(place: Place) -> None:
    first = started(place, "release", 1)
    assert appears(place, "run 1")
    desk = place.desk()
    [entry] = desk.ledger.pending()
    desk.keep_resuming()
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    first.join(60)
    ends = time.monotonic() + 60
    while desk.progress(entry.plan_id).state != "done" and time.monotonic() < ends:
        time.sleep(0.1)
    assert desk.progress(entry.plan_id).state == "done"
    assert len(desk.ledger.entries()) == 1, "paid once"
    desk.close()


def test_a_run_that_lost_its_lease_stores_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was cut off goes on after another has taken its plan over, and finished it."""
    slow, quick = place.desk(), place.desk()
    monkeypatch.setattr(leases, "RENEWALS", 1e-3)  # nothing reaches the database any more
    plan = slow.plan(slow.tables()[0], [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    run, made = LaplaceTables.run, []

    def stalled(self: Any, *arguments: Any, **named: Any) -> Any:
        if not made:
            made.append(None)
            time.sleep(LEASE + 0.5)
            made[0] = quick.release(plan).zip()
        return run(self, *arguments, **named)

    monkeypatch.setattr(LaplaceTables, "run", stalled)
    with pytest.raises(Refused, match="taken this plan over"):
        slow.release(plan)
    assert made[0] == slow.release(plan).zip(), "the other's result is everybody's"
    for desk in (slow, quick):
        desk.close()


def test_a_session_that_lost_its_lease_is_opened_by_the_other(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = place.desk(), place.desk()
    monkeypatch.setattr(leases, "RENEWALS", 1e-3)
    opening, states = OnlineLaplace.open, []

    def stalled(self: Any, *arguments: Any, **named: Any) -> Any:
        if not states:
            states.append(None)
            time.sleep(LEASE + 0.5)
            states[0] = session_of(quick).answer(ages(1))
        return opening(self, *arguments, **named)

    monkeypatch.setattr(OnlineLaplace, "open", stalled)
    with pytest.raises(Refused, match="taken this plan over"):
        session_of(slow)
    assert session_of(slow).answer(ages(1)) == states[0]
    for desk in (slow, quick):
        desk.close()


def test_a_restored_database_is_noticed_by_every_server_that_knew_more(
    tmp_path: Path, place: Place, postgres: StartedServer
) -> None:
    """The database goes back to what it was; the servers' notes do not."""
    assert place.server is not None
    name = name_of(place.server)
    before = f"{name}_before"
    postgres.cut(place.server)
    postgres.sql("postgres", f"CREATE DATABASE {before} TEMPLATE {name}")
    desk = place.desk(journal=tmp_path / "notes")
    plan = desk.plan(desk.tables()[0], [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
    desk.release(plan)
    desk.close()
    older = Place(place.folder, postgres.address(before)).desk(journal=tmp_path / "notes")
    assert len(older.lost().spends) == 1
    with pytest.raises(Refused, match="older copy"):
        older.release(plan)
    older.enter_lost()
    assert older.statement(older.tables()[0]).spent_share > 0
    with pytest.raises(DeskError, match="fresh edition"):
        older.release(plan)
    older.close()
    postgres.sql("postgres", f"DROP DATABASE {before} WITH (FORCE)")
