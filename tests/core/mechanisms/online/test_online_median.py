"""Statistics that are not linear, answered online by the median of a net (G 5.10): private, right, and kept."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadParameter, Refused
from core.desk.desk import Desk
from core.kernel.kernel import Kernel
from core.kernel.query import Statistic
from core.mechanisms.online.online_median import OnlineMedian
from core.models.nets import net_answers
from core.models.nets.public_net import random_net
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.sessions.compared import compare_answers
from core.sessions.question import SessionQuestion, question_from
from core.table.counts import Cells
from core.theory import online_median
from tests.core.mechanisms.replay import PLANE, UNITS, neighbours
from tests.kernels import kernel_for
from tests.privacy.kit.recorder import Recorder

LINE = Domain((Integers(name="x", low=0, high=3),))
ASKED = Lipschitz(columns=("x",), statistics=(("largest",), ("top", 2), ("difference", (0,), (1, 2))))
SMALL = {"alpha": 0.2, "rows": 1_000, "questions": 10, "members": 60, "size": 16}


def statistics(domain: Domain, query: Lipschitz = ASKED) -> list[Statistic]:
    return [query.statistic(domain, place) for place in range(len(query.statistics))]


def replies(mechanism: OnlineMedian, kernel: Kernel, asked: list[Statistic]) -> tuple[object, list]:
    state, found = mechanism.open(kernel), []
    for each in asked:
        state, reply = mechanism.answer_statistic(state, each, kernel)
        found.append(reply)
    return state, found


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("variant", ["calibrated", "theorem"])
def test_the_same_noise_gives_the_same_answers_on_neighbours(unit: Unit, variant: str) -> None:
    options = {"variant": variant} | ({"alpha": 0.9, "questions": 3} if variant == "theorem" else SMALL)
    domain = LINE if variant == "theorem" else PLANE
    mechanism = OnlineMedian(budget=Budget(4), **options)
    query = Lipschitz(columns=domain.names[:1], statistics=(("largest",), ("top", 2)))
    generator = np.random.default_rng(3)
    for pair in range(4):
        first, second = neighbours(domain, unit, generator)
        recorded = Recorder(pair)
        _, one = replies(mechanism, kernel_for(mechanism, first, recorded), statistics(domain, query))
        replayed = Recorder(pair, recorded.calls)
        _, two = replies(mechanism, kernel_for(mechanism, second, replayed), statistics(domain, query))
        assert one == two
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity


def test_the_theorem_holds_at_its_own_rows() -> None:
    """Ten statistics of a lopsided table, by all databases of the theorem's size; each run may miss in 1 of 5."""
    pair = Domain((Booleans(name="x"), Booleans(name="y")))
    bound = online_median(log_universe=math.log(4), log_queries=math.log(10), beta=0.2)
    rows = bound.rows(0.9, 1)
    cells = (np.array([0.85, 0.1, 0.04, 0.01]) * rows).astype(np.int64)
    cells[0] += rows - cells.sum()
    query = Lipschitz(
        columns=("x", "y"),
        statistics=(("largest",), ("top", 2), ("top", 3), *((("difference", (0,), (k,))) for k in (1, 2, 3))),
    )
    counts = Cells(pair, cells, Unit.row("replace"))
    mechanism = OnlineMedian(budget=Budget(1), variant="theorem", alpha=0.9, questions=10)
    truth, missed = query.totals(counts) / query.denominator(pair), 0
    for _ in range(6):
        _, found = replies(mechanism, kernel_for(mechanism, counts, Noise()), statistics(pair, query))
        missed += any(abs(reply.count - right) > 0.9 * rows for reply, right in zip(found, truth, strict=True))
    assert missed <= 4, "5 of 6 have a chance below one in 600"


def test_answers_are_within_what_they_say_and_hard_ones_teach() -> None:
    counts = Cells(LINE, np.array([6_000, 2_500, 1_000, 500]))
    mechanism = OnlineMedian(budget=Budget(20), alpha=0.1, rows=10_000, questions=50)
    kernel = kernel_for(mechanism, counts, Noise())
    state, found = replies(mechanism, kernel, statistics(LINE) * 2)
    truth = [6_000, 8_500, 1_250] * 2
    assert any(reply.kind == "hard" for reply in found)
    assert sum(abs(reply.count - right) <= reply.margin for reply, right in zip(found, truth, strict=True)) >= 5
    assert len(state.hypothesis) < 1_000 and not state.past, "what was learnt is kept in the set alone"
    again = mechanism.load(LINE, mechanism.save(state))
    assert again.total(statistics(LINE)[0]) == state.total(statistics(LINE)[0])


def test_members_are_answered_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_net(PLANE.cells(), 20, 9, np.random.default_rng(0))
    query = Lipschitz(columns=PLANE.names[:2][::-1], statistics=(("largest",), ("top", 3)))
    together = net_answers.class_answers(query, PLANE, net)
    monkeypatch.setattr(net_answers, "MOST_HELD", 0)
    assert np.array_equal(together, net_answers.class_answers(query, PLANE, net))


def test_only_statistics_of_the_class_are_asked() -> None:
    mechanism = OnlineMedian(budget=Budget(4), **SMALL)
    kernel = kernel_for(mechanism, Cells(LINE, np.array([600, 200, 100, 100])), Noise())
    state = mechanism.open(kernel)
    with pytest.raises(Refused, match="lipschitz"):
        mechanism.answer_statistic(state, Statistic(Marginals(columns=("x",), order=1), 0, 1), kernel)
    elsewhere = Statistic(Lipschitz(columns=("z",)), 0, 1)
    with pytest.raises(BadParameter):
        mechanism.answer_statistic(state, elsewhere, kernel)


def test_a_session_at_the_desk_answers_keeps_and_repeats_them(tmp_path: Path, small_trials: None) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "journal")
    frame = pd.DataFrame({"x": np.repeat([0, 1, 2, 3], [1_200, 500, 200, 100])})
    people = desk.add_table(frame, LINE, unit=Unit.row(), budget=Budget(20), name="people")
    options = {"alpha": 0.2, "rows": 2_000, "questions": 20}
    session = desk.ask(people, mechanism="online-median", budget=Budget(8), **options)
    answers = [session.answer(each) for each in statistics(LINE)]
    assert answers[0].words == "share of rows in the fullest cell of the table of x"
    assert abs(answers[0].count - 1_200) < 600
    assert session.answer_table(statistics(LINE)) == answers, "asked again they are the same, at no cost"
    compared = compare_answers(session, Cells(LINE, np.array([1_200, 500, 200, 100])))
    assert [each.truth for each in compared] == [0.6, 0.85, 0.125]
    kept = SessionQuestion.of(statistics(LINE)[1], LINE)
    found = question_from(kept.facts, kept.weights, kept.words, LINE)
    assert isinstance(found, Statistic) and (found.query, found.index) == (ASKED, 1)
    other = desk.ask(people, mechanism="online-weights", budget=Budget(4), **options)
    with pytest.raises(Refused, match="sums over the rows only"):
        other.answer(statistics(LINE)[0])
    assert not other.transcript()
