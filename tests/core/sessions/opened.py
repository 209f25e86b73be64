"""A desk with one table and a mechanism whose answers are known beforehand, for tests of sessions."""

import json

import numpy as np
import pytest

from core import Budget
from core.kernel.query import Query
from tests.core.asker import register

HALF = Budget("1/2")


@pytest.fixture(autouse=True)
def asker(monkeypatch):
    register(monkeypatch.setattr)


def opened(desk, held, **changes):
    return desk.ask(held, **({"mechanism": "asker", "budget": HALF} | changes))


def ages(number, words=""):
    """The age groups whose bits are set: hard for an odd number of groups, easy for an even one."""
    weights = np.array([int(bit) for bit in f"{number:010b}"])
    return Query(columns=("age",), weights=weights, words=words or f"ages {number}")


def chain(session):
    """The hard questions that the stored state has learnt from, in order."""
    with session.file.snapshot(session.id) as turn:
        return json.loads(turn.state().data)[3]


OPTIONS = {name: {"alpha": 0.1, "rows": 3_000} for name in ("online-weights", "online-perceptron", "online-median")}
HARD, EASY = (1, 2, 4, 8, 16), (3, 5, 6, 9)
