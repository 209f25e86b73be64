"""Fresh noise for every question, and how far it gets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, OutOfBudget
from core.mechanisms.online.online_laplace import OnlineLaplace, answerable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.mechanisms.asked import CUBE, cells, errors, questions
from tests.kernels import answered, played
from tests.privacy.kit.recorder import Recorder

BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_private_step_by_step(budget, unit):
    session, asked = OnlineLaplace(budget=budget, questions=20), questions(CUBE, 20, denominators=(1, 8))
    first = Cells(CUBE, cells(), unit)
    moved = cells()
    moved[5] += unit.limit
    if unit.neighbours == "replace":
        moved[np.argmax(moved)] -= unit.limit
    recorded = Recorder(1)
    one, replies = played(session, first, asked, recorded)
    replayed = Recorder(1, recorded.calls)
    two, again = played(session, Cells(CUBE, moved, unit), asked, replayed)
    assert (one, replies) == (two, again)
    for before, after in zip(recorded.calls, replayed.calls, strict=True):
        assert before.distance(after) <= before.sensitivity
    declared = part_of(budget, session.cost(CUBE, unit))
    assert part_of(budget, recorded.cost()) == declared <= 1


def test_every_answer_is_measured_until_the_last():
    session, counts = OnlineLaplace(budget=Budget(1), questions=3), Cells(CUBE, cells())
    asked = questions(CUBE, 4)
    state, replies = played(session, counts, asked[:3], Recorder(1))
    assert [(reply.kind, reply.left) for reply in replies] == [("hard", 2), ("hard", 1), ("hard", 0)]
    assert session.load(CUBE, session.save(state.state)) == state.state
    noise = Recorder(2)
    with pytest.raises(OutOfBudget, match="all its 3 questions"):
        answered(session, state, asked[3], counts, noise)
    assert not noise.calls
    assert session.peek(state.state) is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_margins_are_those_of_the_noise(budget):
    session, counts, asked = OnlineLaplace(budget=budget, questions=1_500), Cells(CUBE, cells()), questions(CUBE, 1_500)
    _, replies = played(session, counts, asked, Recorder(5))
    inside = errors(replies, asked, counts) <= [reply.margin for reply in replies]
    assert 0.93 < inside.mean() < 0.985  # counts below 0 are raised to 0, which helps small ones


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_how_many_questions_plain_noise_answers(budget, unit):
    for margin in (50.0, 500.0):
        count = answerable(budget, unit, margin)
        if count < 1:
            continue
        counts = Cells(CUBE, cells(), Unit(unit.column, unit.limit, unit.neighbours))
        reply = played(OnlineLaplace(budget=budget, questions=count), counts, questions(CUBE, 1), Recorder(1))[1][0]
        more = played(OnlineLaplace(budget=budget, questions=2 * count), counts, questions(CUBE, 1), Recorder(1))[1][0]
        assert reply.margin <= margin * 1.03 < more.margin  # a slice may pay for the number of rows
    assert answerable(budget, unit, 0.001) == 0


def test_refuses_nonsense():
    with pytest.raises(BadParameter, match="questions"):
        OnlineLaplace(budget=Budget(1), questions=0)


def test_price_of_each_answer():
    cost = OnlineLaplace(budget=Budget(1), questions=49).cost(CUBE, Unit.row())
    assert [event.epsilon for event in cost.events] == [Fraction(1, 50)] * 50
