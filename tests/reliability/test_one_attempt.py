"""Two servers on one workspace never run one paid plan at the same time; a killed attempt is taken over."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Marginals, Unit
from core.ledger.attempts import LockedAttempts
from core.ledger.leases import LeasedAttempts
from core.mechanisms.direct.laplace import LaplaceTables
from core.mechanisms.discovery.discovery import Discovery
from core.mechanisms.online.online_laplace import OnlineLaplace
from tests.core.people import DOMAIN, people
from tests.databases import BOTH
from tests.forked import processes
from tests.reliability.place import Place

RUNS = {"release": (LaplaceTables, "run"), "session": (OnlineLaplace, "open"), "discovery": (Discovery, "run")}
PATIENCE = 60.0
GATE = "gate"
"""Once this file exists, runs go on. Not an event of multiprocessing: a process killed while it waits blocks that."""


@pytest.fixture
def place(tmp_path: Path, books: Path | str) -> Place:
    """A workspace that holds one table, and the file of that table beside it."""
    people(300).to_csv(tmp_path / "people.csv", index=False)
    place = Place.of(tmp_path / "workspace", books)
    desk = place.desk()
    desk.add_table(tmp_path / "people.csv", DOMAIN, unit=Unit.row(), budget=Budget(2))
    desk.close()
    return place


def prepare(desk: Desk, place: Place, kind: str) -> Callable[[], object]:
    """Asks for the release, the session or the discovery when called; whoever asks says the same. A release is planned
    at once, because its mechanism is tried on public tables first."""
    table = desk.tables()[0]
    if kind == "release":
        plan = desk.plan(table, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"))
        return lambda: desk.release(plan)
    if kind == "session":
        return lambda: desk.ask(table, mechanism="online-laplace", budget=Budget("1/2"), questions=3)
    age, csv = {"age": "number"}, place.folder.parent / "people.csv"
    return lambda: desk.discover(csv, age, unit=Unit.row(), total=Budget(2), part=Budget("1/2"))  # type: ignore[arg-type]


def server(place: Place, kind: str, number: int, careless: bool) -> None:
    """Asks, and leaves a mark when its run begins; the run waits at the gate. A careless one, the mutant, locks
    nothing."""
    if careless:
        LeasedAttempts.only = LockedAttempts.only = lambda *_: contextlib.nullcontext()  # type: ignore[assignment,method-assign,return-value]
    owner, method = RUNS[kind]
    run = getattr(owner, method)

    def slow(*arguments: Any, **named: Any) -> Any:
        (place.folder.parent / f"run {number}").touch()
        appears(place, GATE)
        return run(*arguments, **named)

    desk = place.desk()
    ask = prepare(desk, place, kind)
    setattr(owner, method, slow)
    (place.folder.parent / f"up {number}").touch()
    ask()
    desk.close()


def started(place: Place, kind: str, number: int, careless: bool = False) -> Any:
    child = processes.Process(target=server, args=(place, kind, number, careless))
    child.start()
    appears(place, f"up {number}")
    return child


def appears(place: Place, mark: str, patience: float = PATIENCE) -> bool:
    ends = time.monotonic() + patience
    while not (place.folder.parent / mark).exists():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.exhaustive
@pytest.mark.parametrize("books", BOTH, indirect=True)
@pytest.mark.parametrize("kind", RUNS)
def test_the_second_server_waits_and_runs_nothing(place: Place, kind: str) -> None:
    first = started(place, kind, 1)
    assert appears(place, "run 1")
    second = started(place, kind, 2)
    assert not appears(place, "run 2", patience=1.0)
    (place.folder.parent / GATE).touch()
    for child in (first, second):
        child.join(PATIENCE)
        assert child.exitcode == 0
    assert not (place.folder.parent / "run 2").exists()
    assert not place.attempts(), "nobody is at anything any more"


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_without_the_lock_both_run(place: Place) -> None:
    children = [started(place, "release", number, careless=True) for number in (1, 2)]
    assert appears(place, "run 1")
    assert appears(place, "run 2")
    (place.folder.parent / GATE).touch()
    for child in children:
        child.join(PATIENCE)


@pytest.mark.exhaustive
@pytest.mark.parametrize("books", BOTH, indirect=True)
@pytest.mark.parametrize("kind", RUNS)
def test_a_killed_attempt_is_taken_over_by_whoever_waits(place: Place, kind: str) -> None:
    first = started(place, kind, 1)
    assert appears(place, "run 1")
    second = started(place, kind, 2)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    assert appears(place, "run 2")
    (place.folder.parent / GATE).touch()
    second.join(PATIENCE)
    assert second.exitcode == 0
    desk = place.desk()
    assert len(desk.ledger.entries()) == 1, "paid once"
    assert desk.ledger.pending() == []
    desk.close()


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_what_another_server_is_at_shows_as_running_and_is_left_to_it(place: Place) -> None:
    first = started(place, "release", 1)
    assert appears(place, "run 1")
    desk = place.desk()
    [entry] = desk.ledger.pending()
    assert desk.resume() == []
    assert desk.progress(entry.plan_id).state == "running"
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    first.join(PATIENCE)
    ends = time.monotonic() + PATIENCE
    while desk.progress(entry.plan_id).state == "running" and time.monotonic() < ends:
        time.sleep(0.1)
    assert desk.progress(entry.plan_id).state == "stopped", "at once by a lock, when it ends by a lease"
    assert desk.resume() == [entry.plan_id]
    desk.close()
    assert desk.progress(entry.plan_id).state == "done"
