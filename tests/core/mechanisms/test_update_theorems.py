"""Every update keeps its theorem for every linear class, at the theorem's own parameters: offline and online."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import registry
from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.mechanisms.online.online_median import OnlineMedian
from core.mechanisms.online.online_perceptron import OnlinePerceptron
from core.mechanisms.online.online_weights import OnlineWeights
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.question import totals_on
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.statistics import Statistics
from core.queries.unions import Unions
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.theory.iterative import Median
from core.theory.online import OnlineBound, online_perceptron, online_weights
from tests.kernels import played, run

SQUARE = Domain((Integers(name="x", low=0, high=1), Integers(name="y", low=0, high=1)))
"""Small enough for a net of all databases, and its columns serve every class."""
CLASSES = (
    Marginals(order=2),
    Marginals(order=1),
    Conjunctions(columns=("x", "y"), order=2),
    Conjunctions(columns=("x", "y"), order=2, connective="or"),
    Parities(columns=("x", "y")),
    Parities(columns=("x", "y"), parity="even"),
    Intervals(column="x"),
    Unions(column="x", parts=1),
    Rectangles(columns=("x", "y")),
    Halfspaces(columns=("x", "y"), directions=8),
    Counting(conditions=((("x", (0,)), ("y", (0, 1))), ())),
    Statistics(column="x", groups=("y",)),
    Linear(columns=("x", "y"), weights=((0, 512, 1024, 3), (1024, 1024, 1024, 1024), (1024, 0, 0, 1))),
)
TABLES = {"one record": (1.0, 0.0, 0.0, 0.0), "uneven": (0.55, 0.0, 0.1, 0.35), "even": (0.25, 0.25, 0.25, 0.25)}
PUBLIC = Unit.row("replace")
BUDGETS = (Budget(1), Budget(1, 1e-9))
RUNS = 10
crossed = (
    pytest.mark.parametrize("shares", TABLES.values(), ids=TABLES),
    pytest.mark.parametrize("budget", BUDGETS, ids=str),
    pytest.mark.parametrize("query", CLASSES, ids=lambda query: f"{query.name}-{CLASSES.index(query)}"),
)


def across(test: Any) -> Any:
    for mark in crossed:
        test = mark(test)
    return pytest.mark.crossing(keep=4, each="kind")(test)


def table(shares: tuple[float, ...], rows: int) -> Cells:
    return Cells(SQUARE, np.rint(np.array(shares) * rows).astype(np.int64), PUBLIC)


def unevenness(shares: tuple[float, ...]) -> float:
    """What the perceptron must be promised: |X| (|x|_2/|x|_1)^2, and a little for rounding."""
    return len(shares) * sum(share**2 for share in shares) + 1e-6


def test_every_linear_class_is_crossed():
    assert {query.name for query in CLASSES} == registry.query_classes.keys() - {"lipschitz"}


@across
@pytest.mark.parametrize("kind", [IterativeWeights, IterativePerceptron, IterativeMedian])
def test_offline_every_answer_is_as_exact_as_promised(kind, query, budget, shares):
    """G theorems 5.6 to 5.12."""
    own = {"unevenness": unevenness(shares)} if kind is IterativePerceptron else {}
    mechanism = kind(queries=(query,), budget=budget, variant="theorem", accuracy=0.5, **own)
    rows = 64
    while mechanism.promise(SQUARE, PUBLIC, rows) is None:
        rows *= 2
    counts, missed = table(shares, rows), 0
    for _ in range(RUNS):
        gaps = query.totals(counts) - totals_on(query, run(mechanism, counts))
        missed += np.abs(gaps).max() > 0.5 * rows * query.denominator(SQUARE)
    assert missed <= 2


@across
@pytest.mark.parametrize("kind", [OnlineWeights, OnlinePerceptron, OnlineMedian])
def test_online_every_answer_is_as_exact_as_promised(kind, query, budget, shares):
    """G theorems 5.13 to 5.15, each question asked twice; no session runs out of measured answers."""
    size = query.totals(table(shares, 100)).size
    asked = [query.member(SQUARE, place) for place in (*range(size), *range(size))]
    alpha, sizes = 0.9, {"log_universe": math.log(4), "log_queries": math.log(len(asked))}
    own: dict[str, Any] = {"unevenness": unevenness(shares)} if kind is OnlinePerceptron else {}
    mechanism = kind(budget=budget, variant="theorem", alpha=alpha, questions=len(asked), **own)
    delta = float(budget.delta)
    bound = {
        OnlineWeights: online_weights(**sizes, delta=delta),
        OnlinePerceptron: online_perceptron(**sizes, delta=delta, **own),
        OnlineMedian: OnlineBound(
            update=Median(log_net=math.log(2) * mechanism.hard_answers(SQUARE, PUBLIC)),
            log_queries=sizes["log_queries"],
            delta=delta,
        ),
    }[kind]
    rows = bound.rows(alpha, float(budget.epsilon))
    counts, missed = table(shares, rows), 0
    truth = np.array([float(question.total(counts)) / question.denominator for question in asked])
    for _ in range(RUNS):
        _, replies = played(mechanism, counts, asked)
        found = np.array([reply.count for reply in replies])
        missed += any(reply.kind == "unchecked" for reply in replies) or np.abs(found - truth).max() > alpha * rows
    assert missed <= 2
