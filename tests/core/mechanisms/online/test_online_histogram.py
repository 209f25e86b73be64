"""A session over a noisy histogram."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.query import Query
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.online.histogram_fit import small_tables
from core.mechanisms.online.online_histogram import OnlineHistogram
from core.privacy.budget import Budget
from core.privacy.events import Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.mechanisms.asked import CUBE, cells, errors, questions
from tests.core.mechanisms.online.test_online import WIDE
from tests.kernels import answered, opened, played
from tests.privacy.kit.recorder import Recorder

UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9), Budget(8, 0.1)], ids=str)
def test_everything_is_paid_at_the_start(budget, unit):
    session, noise = OnlineHistogram(budget=budget), Recorder(1)
    counts = Cells(CUBE, cells(), unit)
    state, replies = played(session, counts, questions(CUBE, 100), noise)
    declared = part_of(budget, session.cost(CUBE, unit))
    assert part_of(budget, noise.cost()) == declared <= 1
    assert {(reply.kind, reply.left) for reply in replies} == {("easy", None)}
    silent = Recorder(2)
    assert answered(session, state, questions(CUBE, 1)[0], counts, silent)[0] == state
    assert not silent.calls
    kept = replace(state, state=session.load(CUBE, session.save(state.state)))
    assert session.save(kept.state) == session.save(state.state)
    asked = questions(CUBE, 20, denominators=(4,))
    assert [answered(session, kept, q, counts, silent)[1] for q in asked] == [
        answered(session, state, q, counts, silent)[1] for q in asked
    ]


def test_the_smaller_noise_is_taken():
    budget = Budget(1, 1e-9)
    session, usual = OnlineHistogram(budget=budget), NoisyHistogram(queries=(), budget=budget)
    assert isinstance(session.cost(CUBE, Unit.row()).events[0], Laplace)
    assert session.expected(CUBE, Unit.row()).mean < usual.expected(CUBE, Unit.row()).mean
    assert len(session.cost(CUBE, Unit.row()).events) == 2 + len(small_tables(CUBE, 2))


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_margins_hold(unit):
    counts, asked = Cells(CUBE, cells(2_000), unit), questions(CUBE, 100, denominators=(1, 4))
    everyone = Query(columns=("a",), weights=np.array([1, 1, 1, 0]))
    asked = [*asked, everyone]
    inside = []
    for _ in range(10):
        _, replies = played(OnlineHistogram(budget=Budget(0.1)), counts, asked, Noise())
        inside.append(errors(replies, asked, counts) <= [reply.margin + 1e-6 for reply in replies])
    assert np.mean(inside) > 0.94
    assert np.mean(inside, axis=0).min() >= 0.6


def test_refusals():
    with pytest.raises(Refused, match="combinations"):
        OnlineHistogram(budget=Budget(1)).check(WIDE, Unit.row())
    session, counts = OnlineHistogram(budget=Budget(1)), Cells(CUBE, cells())
    state = opened(session, counts, Recorder(1))
    with pytest.raises(BadParameter, match="question"):
        answered(session, state, Query(columns=("e",), weights=np.array([1])), counts, Recorder(1))
