"""Sessions tried on public tables: the same at every call, near the truth, and the best of them wins."""

from __future__ import annotations

import pytest

from core.planning.session_trials import (
    DEPENDENT,
    FEW,
    MANY,
    QUESTIONS,
    TRIED,
    SessionTrial,
    best_session,
    candidates,
    play,
)
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Domain

BUDGET = Budget(1, 1e-9)


def yes_no(columns: int) -> Domain:
    return Domain(tuple(Booleans(name=f"c{place}") for place in range(columns)))


@pytest.mark.parametrize(("columns", "names"), [(8, TRIED[:1]), (9, TRIED), (17, TRIED), (18, TRIED[1:2])])
def test_only_where_it_is_not_known_several_are_tried(columns: int, names: tuple[str, ...]) -> None:
    assert FEW == 2**8 and MANY == 2**18
    assert tuple(candidates(yes_no(columns), Unit.row(), BUDGET, rows_known=True)) == names


def test_without_the_number_of_rows_it_is_the_usual_one() -> None:
    for columns, name in ((9, "online-histogram"), (14, "online-histogram"), (15, "online-tree")):
        assert [*candidates(yes_no(columns), Unit.row(), BUDGET, rows_known=False)] == [name]


@pytest.mark.exhaustive
def test_the_best_has_the_smallest_of_the_worse_scores_and_is_the_same_again() -> None:
    stand_ins = StandIns.of(yes_no(9), Unit.row(), 2_000)
    tried = {name: {} for name in TRIED[:2]}
    trials = {name: [play(name, BUDGET, {}, stand_ins, place).score for place in DEPENDENT] for name in tried}
    best = best_session(tried, BUDGET, stand_ins)
    assert best.score == max(trials[best.name]) == min(max(scores) for scores in trials.values())
    assert 0 < best.mean <= best.within <= best.largest < 0.5


@pytest.mark.slow
def test_more_rows_are_worth_a_histogram() -> None:
    tried = {name: {} for name in TRIED[:2]}
    few, many = (best_session(tried, BUDGET, StandIns.of(yes_no(12), Unit.row(), rows)) for rows in (5_000, 200_000))
    assert (few.name, many.name) == ("online-tree", "online-histogram")


def test_what_is_said_of_a_trial() -> None:
    def said(hard: int, limit: int | None) -> str:
        facts = {"mean": 0.0008, "within": 0.003, "largest": 0.01, "on": "invented tables of 10,000 rows"}
        return SessionTrial(name="online-tree", options={}, hard=hard, limit=limit, **facts).sentence()

    start = f"In {QUESTIONS} trial questions on invented tables of 10,000 rows an answer was off by 0.08 % of the rows "
    start += "on average and 95 in 100 by at most 0.30 %; "
    assert said(1, 8) == f"{start}its 8 hard answers last for about 1,600 such questions."
    assert said(0, 8) == f"{start}none of its 8 hard answers was needed."
    assert said(0, None) == f"{start}it answers any number of them so."
