"""How long an answer takes says nothing about the table: easy or hard, flat or peaked, the medians agree within 5 %."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Unit
from core.kernel.query import Query
from core.mechanisms.online.online_weights import OnlineWeights
from core.schema.domain import Domain, Integers
from core.sessions.pace import Pace

GRID = Domain((Integers(name="x", low=0, high=9), Integers(name="y", low=0, high=9)))
ROWS, NEAR = 5_000, 0.05


def table(shape: str) -> pd.DataFrame:
    """Rows spread evenly, or all on a diagonal, about which one-column tables say nothing."""
    generator = np.random.default_rng(2)
    x = generator.integers(0, 10, ROWS)
    return pd.DataFrame({"x": x, "y": generator.integers(0, 10, ROWS) if shape == "flat" else (x + 3) % 10})


def durations(folder, pace: Pace, clock: Callable[[], float], questions: int) -> dict[tuple[str, str], list[float]]:
    """Seconds of every answer, by the shape of the data and the kind of the answer."""
    found = defaultdict(list)
    generator = np.random.default_rng(3)
    for shape in ("flat", "peaked"):
        desk = Desk(folder / shape, pace=pace)
        held = desk.add_table(table(shape), GRID, unit=Unit.row(), budget=Budget(40), name=shape)
        plan = {"alpha": 0.03, "rows": ROWS, "questions": questions}
        session = desk.ask(held, mechanism="online-weights", budget=Budget(30), **plan)
        for place in range(questions):
            x = np.arange(10)
            diagonal = (x[:, None] + 3) % 10 == x
            weights = generator.integers(0, 2, (10, 10)) * (diagonal if place % 2 else 1)
            question = Query(columns=("x", "y"), weights=weights)
            started = clock()
            answer = session.answer(question)
            found[shape, answer.kind].append(clock() - started)
        desk.close()
    return dict(found)


def check(found: dict[tuple[str, str], list[float]]) -> None:
    groups = {group: median(times) for group, times in found.items() if len(times) >= 5}
    assert {("flat", "easy"), ("peaked", "easy"), ("peaked", "hard")} <= groups.keys(), {
        group: len(times) for group, times in found.items()
    }
    middle = median(groups.values())
    assert all(abs(each - middle) <= NEAR * middle for each in groups.values()), groups


@dataclass
class Clock:
    now: float = 0.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    """A clock that only work moves: a hard answer takes twenty times as long as an easy one."""
    clock, answer = Clock(), OnlineWeights.answer

    def slow(self, state, question, kernel):
        after, reply = answer(self, state, question, kernel)
        clock.now += 0.02 if reply.kind == "hard" else 0.001
        return after, reply

    monkeypatch.setattr(OnlineWeights, "answer", slow)
    return clock


@pytest.mark.exhaustive
def test_medians_agree_on_a_clock_of_our_own(tmp_path, clock):
    check(durations(tmp_path, Pace(clock=clock.read, sleep=clock.sleep), clock.read, 40))


@pytest.mark.exhaustive
def test_without_padding_they_do_not(tmp_path, clock):
    with pytest.raises(AssertionError, match="hard"):
        check(durations(tmp_path, Pace(clock=clock.read, sleep=lambda seconds: None), clock.read, 40))


@pytest.mark.slow
@pytest.mark.alone
def test_medians_agree_on_a_real_clock(tmp_path):
    check(durations(tmp_path, Pace(), time.monotonic, 120))
