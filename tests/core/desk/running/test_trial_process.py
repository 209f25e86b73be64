"""Trials in a process of their own: the same figures, and whatever goes wrong there is done here."""

from __future__ import annotations

import io
import os
import pickle
from math import factorial
from pathlib import Path

import pytest

from core import Desk
from core.base.errors import DeskError
from core.desk.running.trial_process import LESS_URGENT, TrialProcess, answer
from core.mechanisms.direct.laplace import LaplaceTables
from core.planning.session_trials import play
from core.planning.simulation.stand_ins import StandIns
from core.planning.simulation.trial import make_trial
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers

DOMAIN = Domain((Booleans(name="ill"), Integers(name="age", low=0, high=9)))
PUBLIC = StandIns.of(DOMAIN, Unit.row(), 2_000)


def own_number() -> int:
    return os.getpid()


def refused() -> None:
    raise DeskError("This cannot be tried.")


@pytest.fixture(scope="module")
def process():
    made = TrialProcess()
    yield made
    made.close()


def test_what_is_asked_is_answered_one_after_the_other() -> None:
    asked = io.BytesIO(pickle.dumps((factorial, (5,))) + pickle.dumps((refused, ())) + pickle.dumps((factorial, (3,))))
    told = io.BytesIO()
    answer(asked, told)
    told.seek(0)
    assert [pickle.load(told) for _ in range(3)] == [(120,), None, (6,)]


def test_a_trial_elsewhere_is_the_same_trial(process: TrialProcess) -> None:
    mechanism = LaplaceTables(queries=(Marginals(order=1),), budget=Budget(epsilon=1))
    here, there = make_trial(mechanism, PUBLIC, 1), process(make_trial, mechanism, PUBLIC, 1)
    assert (there.mean, there.worst) == (here.mean, here.worst)


@pytest.mark.slow
def test_a_session_elsewhere_is_the_same_session(process: TrialProcess) -> None:
    session = ("online-laplace", Budget(epsilon=1), {"questions": 5_000}, PUBLIC)
    assert process(play, *session) == play(*session)


def test_it_is_another_process_and_less_urgent(process: TrialProcess) -> None:
    first = process(os.getpid)
    assert first != os.getpid() and process(os.getpid) == first
    assert process(os.nice, 0) == min(os.nice(0) + LESS_URGENT, 19)


def test_a_refusal_is_met_as_it_is_here(process: TrialProcess) -> None:
    with pytest.raises(DeskError, match=r"This cannot be tried\."):
        process(refused)


def test_what_only_this_process_knows_is_done_here(process: TrialProcess) -> None:
    assert process(lambda: os.getpid()) == os.getpid()


@pytest.mark.slow
def test_a_killed_process_loses_nothing(process: TrialProcess) -> None:
    first = process(os.getpid)
    os.kill(first, 9)
    assert process(factorial, 4) == 24
    assert process(os.getpid) not in (first, os.getpid())


@pytest.mark.slow
def test_a_desk_with_a_worker_tries_elsewhere_and_ends_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes", worker=True)
    trials = desk._parts.trials
    assert trials is not None and trials(own_number) != os.getpid()
    number = trials(own_number)
    desk.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    alone = Desk(tmp_path / "other", journal=tmp_path / "notes")
    assert alone._parts.trials is None
    alone.close()
