"""The theorems about sessions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core.kernel.query import Query
from core.mechanisms.median.median_basic import MedianBasic
from core.mechanisms.median.median_walk import MedianWalk
from core.mechanisms.online.online_median import OnlineMedian
from core.mechanisms.online.online_perceptron import OnlinePerceptron
from core.mechanisms.online.online_weights import OnlineWeights
from core.privacy.budget import Budget
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells
from core.theory import online_median, online_perceptron, online_weights
from core.theory.median import MedianBound as MedianBasicBound
from core.theory.median import MedianWalkBound as MedianWalkBound
from tests.kernels import answered, opened
from tests.privacy.bounds.failing import NOISE, PAIR, PUBLIC, RUNS, TABLES, spread, surely_above
from tests.privacy.kit.audit import Blocks


def asked_of(domain: Domain, count: int, generator: np.random.Generator) -> list[Query]:
    """Questions about random sets of cells."""
    weights = generator.integers(0, 2, (count, *domain.shape()))
    return [Query(columns=domain.names, weights=each) for each in weights]


def session_failures(mechanism, counts: Cells, alpha: float, runs: int = RUNS) -> tuple[int, set[str]]:
    """Sessions with an answer that misses by more than alpha, and the kinds of answers that were given."""
    failed, kinds, noise = 0, set(), Blocks()
    for _ in range(runs):
        asked = asked_of(counts.domain, mechanism.questions, NOISE.generator())
        state, worst = opened(mechanism, counts, noise), 0.0
        for question in asked:
            state, reply = answered(mechanism, state, question, counts, noise)
            worst = max(worst, abs(reply.count - int(question.total(counts))))
            kinds.add(reply.kind)
        failed += worst > alpha * counts.cells.sum()
    return failed, kinds


ONLINE = {
    "weights": (OnlineWeights, online_weights, 0.4, 30, {}),
    "perceptron": (OnlinePerceptron, online_perceptron, 0.6, 30, {"unevenness": 4.0}),
    "median": (OnlineMedian, online_median, 0.9, 10, {}),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("name", ONLINE)
def test_online(name, delta):
    """All rows in one cell, which a uniform hypothesis is most wrong about."""
    kind, bound_of, alpha, questions, options = ONLINE[name]
    sizes = {"log_universe": math.log(4), "log_queries": math.log(questions), "beta": 0.2}
    bound = bound_of(**sizes, delta=delta, **options)
    rows = bound.rows(alpha, 1.0)
    plan = {"alpha": alpha, "questions": questions, "rows": rows, "variant": "theorem"}
    mechanism = kind(budget=Budget(1, delta), **plan, **options)
    if name != "median":  # the net of all small tables is a little smaller than the theorem counts it
        assert mechanism.hard_answers(PAIR, PUBLIC) == math.ceil(bound.hard_answers(alpha, rows))
    failed, kinds = session_failures(mechanism, Cells(PAIR, spread(rows, TABLES[0]), PUBLIC), alpha)
    assert not surely_above(failed, RUNS, 0.2)
    assert "hard" in kinds and "unchecked" not in kinds
    crowd = Cells(PAIR, spread(20, TABLES[0]), PUBLIC)
    assert surely_above(session_failures(mechanism, crowd, alpha, 40)[0], 40, 0.2), "20 rows are too few"


TWO = Domain((Booleans(name="x"),))


def median_failures(mechanism, rows: int, runs: int, alpha: float = 0.9) -> int:
    """Sessions of two questions; a session that has not asked anything is public, so all start from the same one."""
    counts, noise = Cells(TWO, spread(rows, [0.8, 0.2]), PUBLIC), Blocks()
    start, failed = opened(mechanism, counts, noise), 0
    for _ in range(runs):
        state, worst = start, 0.0
        for weights in ([0, 1], [1, 0]):
            question = Query(columns=("x",), weights=np.array(weights))
            state, reply = answered(mechanism, state, question, counts, noise)
            worst = max(worst, abs(reply.count - int(question.total(counts))))
        failed += worst > alpha * rows
    return failed


def thesis_of(kind, bound) -> tuple[Any, int]:
    theorem = bound(log_universe=math.log(2), log_queries=math.log(2), beta=0.2)
    mechanism = kind(budget=Budget(100), constants="thesis", alpha=0.9, questions=2)
    return mechanism, theorem.rows(0.9, 100)


@pytest.mark.exhaustive
def test_median_over_a_net():
    mechanism, rows = thesis_of(MedianBasic, MedianBasicBound)
    assert not surely_above(median_failures(mechanism, rows, RUNS), RUNS, 0.2)
    assert not surely_above(median_failures(mechanism, rows, 40, 0.2), 40, 0.2), "the theorem leaves much to spare"
    assert surely_above(median_failures(mechanism, rows // 100, 40, 0.2), 40, 0.2), "a hundredth of the rows is too few"


@pytest.mark.slow
def test_median_of_a_walk():
    mechanism, rows = thesis_of(MedianWalk, MedianWalkBound)
    assert not surely_above(median_failures(mechanism, rows, RUNS), RUNS, 0.2)
