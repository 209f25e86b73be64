"""The privacy of the iterative constructions, step by step given the same answers, and their declared cost."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.iterative.iterative_median import IterativeMedian
from core.mechanisms.iterative.iterative_perceptron import IterativePerceptron
from core.mechanisms.iterative.iterative_weights import IterativeWeights
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.samples import SMALL
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

PAIRS = (Marginals(order=2),)
MIXED = (Marginals(order=1), Intervals(column="size"))
SIZES = (Intervals(column="size"),)
FULLEST = (Lipschitz(columns=("colour", "size"), statistics=(("largest",), ("top", 3))),)
BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
KINDS = (IterativeWeights, IterativePerceptron, IterativeMedian)


def build(kind, queries, budget, **options):
    """A small net keeps these many runs fast and changes nothing that is checked."""
    small = {"members": 100} if kind is IterativeMedian else {}
    return kind(queries=queries, budget=budget, **small, **options)


def adaptive_cases():
    for kind in KINDS:
        for budget in BUDGETS:
            for unit in UNITS:
                yield build(kind, PAIRS, budget), unit
            for queries in (MIXED, SIZES):
                yield build(kind, queries, budget, questions="members"), UNITS[3]
    for budget in BUDGETS:
        yield build(IterativeMedian, FULLEST, budget), UNITS[3]
        yield IterativeMedian(queries=PAIRS, budget=budget, net="all", size=2), UNITS[0]
    for kind in (IterativeWeights, IterativePerceptron):
        yield kind(queries=PAIRS, budget=Budget(1), variant="theorem", accuracy=0.9), UNITS[0]


def label(mechanism, unit) -> str:
    classes = "+".join(query.name for query in mechanism.queries)
    kind = "pure" if mechanism.budget.pure else "zcdp"
    return f"{mechanism.name}-{mechanism.variant}-{classes}-{kind}-{unit.limit}{unit.neighbours}"


CASES = [pytest.param(*case, id=label(*case)) for case in adaptive_cases()]


def neighbours(unit, generator):
    cells = generator.integers(0, 4, 24) * (generator.random(24) < 0.5)
    first, second = (np.bincount(np.repeat(generator.integers(0, 24), unit.limit), minlength=24) for _ in range(2))
    other = second if unit.neighbours == "replace" else 0
    return Cells(SMALL, cells + first, unit), Cells(SMALL, cells + other, unit)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_given_the_same_answers_a_neighbour_is_asked_the_same_and_differs_by_the_sensitivity(mechanism, unit):
    generator, reached = np.random.default_rng(8), 0.0
    mechanism.check(SMALL, unit)
    for pair in range(8):
        first, second = neighbours(unit, generator)
        recorded = Recorder(pair)
        one = run(mechanism, first, recorded)
        replayed = Recorder(pair, recorded.calls)
        two = run(mechanism, second, replayed)
        assert len(recorded.calls) == len(replayed.calls) > 0
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.hidden.shape == after.hidden.shape
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        # Everything released is a function of the answers alone.
        np.testing.assert_array_equal(one.marginal(("colour", "old")), two.marginal(("colour", "old")))
    assert reached == 1


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_the_declared_cost_covers_what_is_asked_and_stays_within_the_budget(mechanism, unit):
    recorder = Recorder(0)
    run(mechanism, neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared = mechanism.cost(SMALL, unit)
    for order in (Fraction(3, 2), Fraction(8), Fraction(64)):
        assert accounting.units(declared, order) >= accounting.units(recorder.cost(), order)
    assert part_of(mechanism.budget, declared) <= 1
    if mechanism.variant == "tuned":
        assert sorted(map(repr, declared.events)) == sorted(map(repr, recorder.cost().events))


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_the_expected_error_is_a_finite_number_of_rows(mechanism, unit):
    expected = mechanism.expected(SMALL, unit)
    assert 0 < expected.mean <= expected.worst < math.inf
