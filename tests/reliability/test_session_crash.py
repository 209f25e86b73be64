"""SIGKILL at every step of opening and answering, and processes that race on one session."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Budget, Desk, Unit
from core.base.errors import DeskError
from core.kernel.query import Query
from core.ledger.database import Database
from core.ledger.journal import Journal
from core.sessions.kept.file import SessionFile
from core.sessions.kept.turn import Turn
from core.sessions.session import Session
from tests.core import asker
from tests.core.people import DOMAIN, TOTAL, people
from tests.databases import BOTH, traced
from tests.forked import processes
from tests.reliability.place import Place

LIMIT = 4
QUESTIONS = (1, 3, 2, 5, 4, 6, 8, 16, 9, 32)
"""Sets of age groups as bits: an odd number of groups is hard, an even one easy."""


@pytest.fixture
def place(tmp_path: Path, books: Path | str, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A workspace that holds one table."""
    asker.register(monkeypatch.setattr)
    place = Place.of(tmp_path / "workspace", books)
    desk = place.desk()
    desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=TOTAL)
    desk.close()
    return place


def opened(desk: Desk) -> Session:
    return desk.ask(desk.tables()[0], mechanism="asker", budget=Budget("1/2"), limit=LIMIT)


def ages(number: int) -> Query:
    weights = np.array([int(bit) for bit in f"{number:010b}"])
    return Query(columns=("age",), weights=weights, words=f"ages {number}")


def state_of(session: Session) -> list[Any]:
    """Secret, rows, hard answers used, and the chain of hard questions."""
    with session.file.snapshot(session.id) as turn:
        return json.loads(turn.state().data)


# SIGKILL

OPENING = (
    "ledger reserve COMMIT",
    "open",
    "file add BEGIN",
    "file add INSERT",
    "file add COMMIT",
    "ledger store BEGIN",
    "ledger store COMMIT",
    "opened",
)
"""Where a desk is killed; a statement: before it takes effect."""


class Fuse:
    """Kills its own process when a step is reached for the nth time."""

    def __init__(self, step: str, nth: int) -> None:
        self.step, self.nth = step, nth
        self.reached: Counter[str] = Counter()

    def reach(self, step: str) -> None:
        self.reached[step] += 1
        if step == self.step and self.reached[step] == self.nth:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, method: str, name: str, phase: str = "", database: Database | None = None) -> None:
        """Reach a step before a method runs; of one that writes, before each of its SQL statements."""
        inner = getattr(owner, method)

        def watched(*arguments: Any, **named: Any) -> Any:
            if database is None:
                self.reach(name)
                return inner(*arguments, **named)
            with self.tracing(database, f"{phase} {name}"):
                return inner(*arguments, **named)

        setattr(owner, method, watched)

    def tracing(self, database: Database, phase: str) -> AbstractContextManager[None]:
        return traced(database, lambda word: self.reach(f"{phase} {word}"))


def curator(place: Place, log: Path, step: str, nth: int) -> None:
    """Opens the session and asks question after question until it is killed."""
    asker.register(setattr)
    desk, fuse = place.desk(), Fuse(step, nth)
    file = desk._parts.sessions.file
    fuse.around(desk.ledger, "reserve", "reserve", "ledger", desk.ledger.database)
    fuse.around(desk.ledger, "store", "store", "ledger", desk.ledger.database)
    fuse.around(file, "add", "add", "file", file.database)
    fuse.around(asker.Asker, "open", "open")
    fuse.around(asker.Asker, "answer", "answer")
    session = opened(desk)
    fuse.reach("opened")
    turn = file.turn

    @contextmanager
    def watched(id: str) -> Iterator[Turn]:
        with fuse.tracing(file.database, "file turn"), turn(id) as current:
            yield current
        fuse.reach("answered")

    file.turn = watched  # type: ignore[method-assign]
    returned = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    for number in QUESTIONS:
        answer = session.answer(ages(number))
        os.write(returned, (json.dumps(asdict(answer)) + "\n").encode())
        fuse.reach("returned")


class Auditor:
    """Kills curators and checks what they leave against everything that was ever said aloud."""

    def __init__(self, place: Place) -> None:
        self.place, self.log = place, place.folder.parent / "log"
        self.units = self.secret = None
        self.answers: list[dict[str, Any]] = []

    def kill_at(self, step: str, nth: int = 1) -> None:
        child = processes.Process(target=curator, args=(self.place, self.log, step, nth))
        child.start()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL, f"{step} was never reached"

    def audit(self) -> list[dict[str, Any]]:
        """Check everything and return the stored answers."""
        desk = self.place.desk()
        entries = desk.ledger.entries()
        account = desk.ledger.account(desk.ledger.datasets()[0].fingerprint)
        assert len(entries) <= 1
        assert account.spent == sum(entry.units for entry in entries), "paid once"
        assert not desk.ledger.pending() or not desk.sessions(), "no session answers before the ledger holds its terms"
        stored: list[dict[str, Any]] = []
        for session in desk.sessions():
            stored = [asdict(answer) for answer in session.transcript()]
            secret, _, used, chain = state_of(session)
            assert self.secret in (None, secret), "another threshold"
            self.secret = secret
            hard = [answer["words"] for answer in stored if answer["kind"] == "hard"]
            assert used == len(hard) <= LIMIT
            assert chain == "".join(f"{words};" for words in hard)
            assert [answer["number"] for answer in stored] == list(range(1, len(stored) + 1))
            assert [answer["spent"] for answer in stored if answer["kind"] == "hard"] == list(range(1, used + 1))
        assert stored[: len(self.answers)] == self.answers, "a stored answer changed"
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            assert json.loads(line) in stored, "an answer that is not stored"
        self.answers = stored
        desk.close()
        return stored


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("step", OPENING)
@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_a_desk_killed_while_opening_pays_once(place: Place, step: str) -> None:
    auditor = Auditor(place)
    auditor.kill_at(step)
    assert auditor.audit() == []
    desk = place.desk()
    paid = desk.statement(desk.tables()[0]).spent_share
    assert (paid > 0) == (step != "ledger reserve COMMIT")
    session = opened(desk)
    assert [session.answer(ages(number)).kind for number in (1, 3)] == ["hard", "easy"]
    assert desk.statement(desk.tables()[0]).spent_share == session.summary().budget_share
    assert auditor.audit()[0]["number"] == 1
    desk.close()


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_a_state_that_was_kept_before_the_kill_is_the_one_that_is_used(place: Place) -> None:
    auditor = Auditor(place)
    auditor.kill_at("ledger store BEGIN")
    desk = place.desk()
    with desk._parts.sessions.file.database.read() as connection:
        before = bytes(connection.execute("SELECT data FROM state").fetchone()["data"])
    assert json.dumps(state_of(opened(desk))).encode() == before
    desk.close()


@pytest.mark.parametrize("books", BOTH, indirect=True)
@pytest.mark.exhaustive
def test_a_desk_killed_at_every_step_of_answering_goes_on(place: Place) -> None:
    auditor = Auditor(place)
    for step, nth, new in (
        ("answer", 1, 0),
        ("file turn UPDATE", 1, 0),
        ("file turn UPDATE", 2, 0),  # the second one of a hard answer writes its state
        ("file turn INSERT", 1, 0),
        ("file turn COMMIT", 1, 0),
        ("answered", 1, 1),
        ("returned", 2, 1),
        ("file turn COMMIT", 2, 1),
        ("answer", 3, 2),
        ("answered", 2, 2),
        ("returned", 1, 0),  # the first question was answered long ago: the reply comes without a turn
    ):
        before = len(auditor.answers)
        auditor.kill_at(step, nth)
        assert len(auditor.audit()) == before + new, "a reply is stored by its commit and by nothing else"
    assert auditor.secret is not None
    desk = place.desk()
    session = opened(desk)
    for number in QUESTIONS:
        session.answer(ages(number))
    stored = auditor.audit()
    assert Counter(answer["kind"] for answer in stored) == {"hard": LIMIT, "easy": 4, "unchecked": 2}
    assert session.summary().left == 0
    desk.close()


@pytest.mark.slow
def test_forty_kills_while_opening_and_forty_while_answering_change_nothing(place: Place) -> None:
    auditor = Auditor(place)
    for kill in range(40):
        auditor.kill_at(OPENING[min(kill, len(OPENING) - 2)])
        assert auditor.audit() == []
    auditor.kill_at("returned")
    [first] = auditor.audit()
    for kill in range(40):
        auditor.kill_at(("answer", "file turn UPDATE", "file turn INSERT", "file turn COMMIT")[kill % 4])
        assert auditor.audit() == [first], "a question whose reply was not committed was never asked"


# races


def contend(place: Place, number: int, barrier: Any, queue: Any, kind: type[SessionFile]) -> None:
    asker.register(setattr)
    desk = place.desk()
    desk._parts.sessions.file.__class__ = kind
    if kind is Careless:
        Journal.only = lambda journal, session: nullcontext()
    session = opened(desk)
    try:
        barrier.wait(60)
        queue.put([asdict(session.answer(ages(1 + (7 * turn + 3 * number) % 25))) for turn in range(20)])
    except DeskError as error:
        queue.put(error)


def race(place: Place, kind: type[SessionFile]) -> tuple[list[Any], Desk]:
    """What three processes were told that asked the same session overlapping questions, none of them first."""
    barrier, queue = processes.Barrier(3), processes.Queue()
    children = [processes.Process(target=contend, args=(place, number, barrier, queue, kind)) for number in range(3)]
    for child in children:
        child.start()
    told = [queue.get(timeout=120) for _ in children]
    for child in children:
        child.join()
    return told, place.desk()


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_processes_on_one_session_take_turns(place: Place) -> None:
    told, desk = race(place, SessionFile)
    assert len(desk.ledger.entries()) == 1, "three that open at once pay once"
    session = opened(desk)
    stored = {answer.number: asdict(answer) for answer in session.transcript()}
    assert list(stored) == list(range(1, len(stored) + 1))
    for answers in told:
        assert not isinstance(answers, Exception), answers
        assert all(stored[answer["number"]] == answer for answer in answers)
    hard = [answer["words"] for answer in stored.values() if answer["kind"] == "hard"]
    assert len(hard) == LIMIT == state_of(session)[2]
    assert state_of(session)[3] == "".join(f"{words};" for words in hard)
    desk.close()


class Careless(SessionFile):
    """The mutant: it reads without a lock, here or in the journal, and writes later, so two may answer from the same
    state."""

    @contextmanager
    def turn(self, id: str) -> Iterator[Turn]:
        with self.database.read() as connection:
            yield Turn(connection, self.row(id))


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_the_race_catches_turns_without_a_lock(place: Place) -> None:
    told, desk = race(place, Careless)
    assert any(isinstance(answers, DeskError) for answers in told), "the tables themselves refuse a second reply"
    desk.close()
