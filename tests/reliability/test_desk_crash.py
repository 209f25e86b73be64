"""A whole release under SIGKILL: paid once, never free, and the same plan gives the same bytes for ever."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Marginals, Unit
from core.desk import releases
from core.mechanisms.direct.laplace import LaplaceTables
from tests.core.people import DOMAIN, people
from tests.databases import BOTH
from tests.forked import processes
from tests.reliability.place import Place

STEPS = ("before reserving", "before the run", "after the run", "before storing", "after storing", "returned")
"""Where a curator's process is killed; from 'before the run' on it has paid."""


@pytest.fixture
def place(tmp_path: Path, books: Path | str) -> Place:
    """A workspace that holds one table."""
    place = Place.of(tmp_path / "workspace", books)
    desk = place.desk()
    desk.add_table(people(300), DOMAIN, unit=Unit.row(), budget=Budget(2))
    desk.close()
    return place


def plan_of(desk: Desk, edition: int = 1) -> Any:
    return desk.plan(desk.tables()[0], [Marginals(order=1)], mechanism="laplace", budget=Budget("1/2"), edition=edition)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, method: str) -> None:
    """Be killed when the method is called."""
    setattr(owner, method, lambda *_, **__: die())


def after(owner: Any, method: str) -> None:
    """Be killed when the method has done its work, before anybody hears of it."""
    inner: Callable[..., Any] = getattr(owner, method)

    def watched(*arguments: Any, **named: Any) -> None:
        inner(*arguments, **named)
        die()

    setattr(owner, method, watched)


def curator(place: Place, log: Path, step: str, hasty: bool = False) -> None:
    """Makes a release and says what it got; a hasty one, the mutant, says it before it is stored."""
    desk = place.desk()
    # Planning rehearses the mechanism on public stand-ins: whoever is killed in the run has planned before.
    plan = plan_of(desk)

    def say(made: bytes) -> None:
        with log.open("a") as file:
            file.write(hashlib.sha256(made).hexdigest() + "\n")

    def say_and_die(_: str, made: bytes, __: object) -> None:
        say(made)
        die()

    match step:
        case "before reserving":
            before(desk.ledger, "reserve")
        case "before the run":
            before(LaplaceTables, "run")
        case "after the run":
            before(releases, "certify")
        case "before storing" if hasty:
            desk.ledger.store = say_and_die  # type: ignore[assignment]
        case "before storing":
            before(desk.ledger, "store")
        case "after storing":
            after(desk.ledger, "store")
    say(desk.release(plan).zip())
    die()


def killed(place: Place, step: str, hasty: bool = False) -> list[str]:
    """What a curator who was killed at this step had said aloud."""
    log = place.folder.parent / "log"
    child = processes.Process(target=curator, args=(place, log, step, hasty))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL, f"{step} was never reached"
    return log.read_text().splitlines() if log.exists() else []


def audit(place: Place, said: list[str]) -> str:
    """Finish the release, and check it against what was said and paid; gives the digest of its bytes."""
    desk = place.desk()
    paid = [(entry.plan_id, entry.units) for entry in desk.ledger.entries()]
    plan = plan_of(desk)
    assert paid in ([], [(plan.id, plan.units)])
    made = desk.release(plan).zip()
    assert [(entry.plan_id, entry.units) for entry in desk.ledger.entries()] == [(plan.id, plan.units)], "paid once"
    assert desk.release(plan_of(desk)).zip() == made
    digest = hashlib.sha256(made).hexdigest()
    assert set(said) <= {digest}, "two answers for one plan"
    desk.close()
    return digest


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("books", BOTH, indirect=True)
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_release_is_paid_once_and_said_once(place: Place, step: str) -> None:
    said = killed(place, step)
    desk = place.desk()
    assert len(desk.ledger.entries()) == (step != STEPS[0]), "an answer is paid for before it is computed"
    assert len(desk.ledger.pending()) == (step in STEPS[1:4])
    desk.close()
    assert bool(said) == (step == "returned")
    first = audit(place, said)
    assert set(killed(place, "returned")) == {first}


def test_the_audit_catches_a_curator_who_speaks_before_storing(place: Place) -> None:
    said = killed(place, "before storing", hasty=True)
    assert said
    with pytest.raises(AssertionError, match="two answers"):
        audit(place, said)


@pytest.mark.slow
def test_forty_kills_of_one_workspace(place: Place) -> None:
    said: list[str] = []
    # What is paid for is not reserved again, so whoever is killed before reserving comes first.
    for kill in range(40):
        said = killed(place, STEPS[0] if kill < 8 else STEPS[1 + kill % 3] if kill < 32 else "returned")
    assert len(said) == 8
    audit(place, said)
