"""The median mechanism over an explicit net, and what it shares with the walk."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter, Refused
from core.kernel.allowance import Allowance
from core.kernel.compared import GRID, WIDEST, Loss
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.median.loss import margin_of
from core.mechanisms.median.median_basic import MedianBasic
from core.mechanisms.median.state import MedianState
from core.models.databases import Databases, listed
from core.models.histogram import Histogram
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.events import Laplace, Pure
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from core.theory.composition import basic
from core.theory.median import MedianBound
from tests.accounts import part_of
from tests.core.mechanisms.median_checks import MICRO, Scripted, both, log_chance, neighbours, scripted, session
from tests.core.samples import SMALL, small_counts
from tests.kernels import OpenSession, answered, opened
from tests.privacy.kit.recorder import Recorder

UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
QUICK = {"alpha": 0.2, "questions": 50, "rows": 5_000, "members": 300}
PAIR = Domain((Booleans(name="x"),))


def loss(hidden: int, values: np.ndarray, width: int) -> int:
    """The kernel's loss of members against a table that holds so many steps of the grid."""
    steps = Query(columns=("x",), weights=np.array([0, 1]), denominator=GRID)
    return Loss(steps, values, width).value(Cells(PAIR, np.array([0, hidden])))


def questions(domain: Domain, count: int, seed: int = 0) -> tuple[Query, ...]:
    return Marginals(order=min(2, len(domain))).sample(domain, count, np.random.default_rng(seed))


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32), width=st.integers(1, WIDEST), move=st.integers(1, 50 * GRID), members=st.integers(1, 40)
)
def test_the_loss_moves_by_at_most_one_step_more_than_the_table(seed, width, move, members):
    generator = np.random.default_rng(seed)
    values = generator.uniform(0, 10 ** generator.uniform(0, 9), members)
    hidden = int(generator.uniform(0, 10**9) * GRID)
    assert abs(loss(hidden, values, width) - loss(hidden + move, values, width)) <= move + 1


def test_the_loss_is_what_the_thesis_measures():
    values, width = np.array([10.0, 20.0, 50.0]), 30.0
    share = np.exp(-np.abs(values - 18.0) / width).mean()
    assert loss(18 * GRID, values, round(width * GRID)) / GRID == pytest.approx(width * (1 - share), abs=1e-4)
    # Where the set agrees and the width is large, a step of the table is a step of the loss: the bound is tight.
    steps = [loss(hidden, np.zeros(5), WIDEST) for hidden in (0, GRID)]
    assert steps[1] - steps[0] >= GRID - 1


def test_the_margin_holds_every_truth_with_a_small_loss():
    generator = np.random.default_rng(1)
    values, width = generator.normal(500, 30, 400), 100.0
    guess = float(np.median(values))
    margin = margin_of(values, guess, width, 40.0, 1_000.0)
    for truth in np.linspace(0, 1_000, 301):
        small = loss(round(truth * GRID), values, round(width * GRID)) <= 40 * GRID
        assert not small or abs(truth - guess) <= margin
    assert 20 < margin < 100
    assert margin_of(values, guess, width, 100.0, 1_000.0) == max(guess, 1_000 - guess)


@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_record_and_replay_on_neighbours(budget, unit, constants):
    """Whatever the answers, a neighbour is asked the same, hides values within the sensitivity, releases the same."""
    domain = PAIR if constants == "thesis" else SMALL
    options = {**QUICK, "alpha": 0.9, "questions": 8} if constants == "thesis" else QUICK
    mechanism = MedianBasic(budget=budget, constants=constants, **options)
    mechanism.check(domain, unit)
    generator, reached = np.random.default_rng(3), 0.0
    for seed in range(3):
        first = generator.integers(0, 400, domain.cells())
        second = first.copy()
        place = generator.integers(domain.cells())
        second[place] += unit.limit
        if unit.neighbours == "replace":
            first[place - 1] += unit.limit
        pair = (Cells(domain, first, unit), Cells(domain, second, unit))
        for before, after in both(mechanism, *pair, questions(domain, 8, seed), seed):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
    assert reached == 1


@pytest.mark.exhaustive
def test_exact_privacy_of_the_calibrated_form_on_a_micro_domain():
    """All outcomes of three questions on all neighbours of some tables: the odds change by at most exp(epsilon)."""
    unit = Unit.row("replace")
    mechanism = MedianBasic(budget=Budget(1), alpha=0.3, questions=3, rows=1_000, size=4)
    hard, spent = mechanism.hard_answers(MICRO, unit), mechanism.cost(MICRO, unit)
    sparse = mechanism.sparse(unit, hard)
    assert sparse.most == hard >= 3 and spent == sparse.cost
    assert basic(spent) <= 1
    numbers, largest = float(sparse.number.epsilon), 0.0
    threshold = math.ceil(mechanism._width(4.0, unit, hard) / 4 * GRID)
    outcomes = product(product(["easy", "hard"], repeat=3), ((0, 7, 0), (7, 0, 7), (0, 0, 7)))
    for pair, (kinds, drawn) in product(neighbours(unit), outcomes):
        one, two = (log_chance(scripted(mechanism, each, kinds, drawn), kinds, threshold) for each in pair)
        spent = float(sparse.run.epsilon) + kinds.count("hard") * numbers
        assert abs(one - two) <= spent * (1 + 1e-6)
        largest = max(largest, abs(one - two))
    # Two of the three numbers move by a row; with half of their noise this would be twice as much.
    assert 1.5 * numbers < largest < 3 * numbers + float(sparse.run.epsilon)


def test_the_thesis_constants_cost_what_basic_composition_says():
    unit = Unit.row()
    mechanism = MedianBasic(budget=Budget(1), constants="thesis", alpha=0.9, questions=8)
    bound = MedianBound(log_universe=math.log(2), log_queries=math.log(8))
    share = Fraction(49, 50) / math.ceil(720 * bound.log_net(0.9))
    assert mechanism.cost(PAIR, unit).events == (Laplace(Fraction(1, 50)), Pure(16 * share))
    recorder = Recorder(0)
    session(mechanism, Cells(PAIR, np.array([500, 300])), questions(PAIR, 30), recorder)
    # Eight questions are compared, those that are hard are measured too, and later ones touch nothing.
    assert 1 + 8 <= len(recorder.calls) <= 1 + 16
    # A loss costs half of what T says, as its sensitivity is half of T's.
    assert {call.amount for call in recorder.calls[1:]} <= {share, share / 2}
    assert sum(call.amount == share / 2 for call in recorder.calls) == 8
    assert accounting.units(mechanism.cost(PAIR, unit), None) >= accounting.units(recorder.cost(), None)


@pytest.mark.parametrize("budget", [Budget(1), Budget(0.3, 1e-9)])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_the_cost_is_within_the_budget(budget, unit, constants):
    mechanism = MedianBasic(budget=budget, constants=constants, alpha=0.9, questions=20, rows=100_000)
    assert 0 < part_of(budget, mechanism.cost(PAIR, unit)) <= 1
    expected = mechanism.expected(PAIR, unit)
    assert 0 < expected.mean <= expected.worst < math.inf


def test_the_thesis_constants_keep_their_promise_where_rows_are_enough():
    """Two possible records, alpha 0.9: 14 thousand databases of as many rows, and as many rows as the theorem asks."""
    bound = MedianBound(log_universe=math.log(2), log_queries=math.log(2))
    rows = bound.rows(0.9, 98)
    counts = Cells(PAIR, np.array([rows - rows // 5, rows // 5]), Unit.row("replace"))
    mechanism = MedianBasic(budget=Budget(100), constants="thesis", alpha=0.9, questions=2)
    state = opened(mechanism, counts, Recorder(0))
    assert len(state.state.hypothesis) == math.ceil(bound.size(0.9)) + 1
    asked = [Query(columns=("x",), weights=np.array(weights)) for weights in ([0, 1], [1, 0])]
    replies = session(mechanism, counts, asked, Recorder(1))
    for reply, question in zip(replies, asked, strict=True):
        truth = question.total(counts)
        assert abs(reply.count - truth) <= 0.9 * rows
        assert reply.kind == "easy" or abs(reply.count - truth) <= 0.009 * rows
        assert abs(reply.count - truth) <= reply.margin
    assert mechanism.hard_answers(PAIR, counts.unit) == 2


def test_random_thresholds_follow_the_powers_of_one_half():
    rows = 10**13
    mechanism = MedianBasic(budget=Budget(1), constants="thesis", alpha=0.9, questions=8)
    thesis = mechanism._thesis(PAIR, Unit.row())
    gap = thesis.bound.gap(0.9, rows, float(thesis.epsilon))
    assert gap < 0.03

    class Random:
        generator = np.random.default_rng(0)

        def keys(self, count):
            return self.generator.integers(0, 2**64, count, dtype=np.uint64)

    drawn = np.array([thesis.threshold(rows, Random()) for _ in range(4_000)])
    steps = np.rint((0.25 - drawn) / gap).astype(int)
    assert steps.max() <= 0.15 / gap and drawn.min() >= 0.1 - 1e-12
    assert np.bincount(steps)[:3] / 4_000 == pytest.approx([0.5, 0.25, 0.125], abs=0.03)
    assert thesis.threshold(10, Random()) == 0.25


@pytest.mark.slow
def test_answers_are_accurate_at_its_own_parameters():
    """Five sessions of 100 questions on 50,000 rows, alpha 0.1: nearly all answers are within their margins."""
    domain = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=2)))
    counts = Cells(domain, np.array([20_000, 2_000, 8_000, 1_000, 15_000, 4_000]))
    mechanism = MedianBasic(budget=Budget(1), alpha=0.1, questions=100, rows=50_000)
    checked, held, errors = 0, 0, []
    for seed in range(5):
        asked = questions(domain, 100, seed)
        for reply, question in zip(session(mechanism, counts, asked, Recorder(seed)), asked, strict=True):
            if reply.kind != "unchecked":
                error = abs(reply.count - question.total(counts))
                checked, held = checked + 1, held + (error <= reply.margin)
                errors.append(error / 50_000)
    assert checked >= 450
    assert held / checked >= 0.93
    assert np.mean(errors) < 0.03 and max(errors) < 0.1


def test_a_session_halts_honestly():
    counts = small_counts()
    mechanism = MedianBasic(budget=Budget(1), **{**QUICK, "alpha": 0.1})
    hard = mechanism.hard_answers(SMALL, counts.unit)
    noise = Scripted([5_000, 0] + [2**60, 100] * hard)
    state = opened(mechanism, counts, noise)
    for place, question in enumerate(questions(SMALL, hard + 3)):
        before = state
        state, reply = answered(mechanism, state, question, counts, noise)
        if place < hard:
            assert (reply.kind, reply.left) == ("hard", hard - place - 1)
        else:
            assert (reply.kind, reply.left, reply.margin) == ("unchecked", 0, None)
            assert state == before
    assert len(noise.steps) == 2 + 2 * hard


def test_an_easy_answer_changes_nothing():
    mechanism, counts = MedianBasic(budget=Budget(1), **QUICK), small_counts()
    noise = Scripted([5_000, 0, -(2**60)])
    state = opened(mechanism, counts, noise)
    after, reply = answered(mechanism, state, questions(SMALL, 1)[0], counts, noise)
    assert after == state and reply.kind == "easy" and reply.margin > 0
    assert reply.left == mechanism.hard_answers(SMALL, counts.unit)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)])
def test_saved_and_loaded_bit_by_bit(budget):
    mechanism, counts, asked = MedianBasic(budget=budget, **QUICK), small_counts(), questions(SMALL, 12)
    noise = Recorder(5)
    state = opened(mechanism, counts, noise)
    for question in asked[:6]:
        state, _ = answered(mechanism, state, question, counts, noise)
    loaded = mechanism.load(SMALL, mechanism.save(state.state))
    facts = ("rows", "left", "watch", "asked")
    assert [getattr(loaded, name) for name in facts] == [getattr(state.state, name) for name in facts]
    again = replace(state, state=loaded)
    assert mechanism.save(loaded) == mechanism.save(state.state)
    one, two = Recorder(6), Recorder(6)
    for question in asked[6:]:
        state, first = answered(mechanism, state, question, counts, one)
        again, second = answered(mechanism, again, question, counts, two)
        assert first == second
    one, two = (mechanism.peek(each.state).marginal(SMALL.names) for each in (state, again))
    assert np.array_equal(one, two)


def test_an_earlier_release_makes_a_better_net():
    counts, mechanism = small_counts(), MedianBasic(budget=Budget(1), **QUICK)
    asked = questions(SMALL, 20)
    errors = []
    for earlier in (None, Histogram(SMALL, counts.cells)):
        held = mechanism.peek(opened(mechanism, counts, Recorder(2), earlier).state)
        errors.append(np.mean([abs(q.answer(held) - q.answer(counts)) for q in asked]))
    assert errors[1] < errors[0] / 3


def test_the_accuracy_of_a_random_net_is_stated():
    few, many = (MedianBasic(budget=Budget(1), net="random", members=members) for members in (10, 3_000))
    small = Domain((Integers(name="a", low=0, high=3),))
    errors = [each.net_error(small, np.random.default_rng(0)) for each in (few, many)]
    assert 0 < errors[1] < errors[0] / 2 < 0.5


@pytest.mark.parametrize(
    ("options", "domain", "words"),
    [
        ({"net": "all", "size": 64}, SMALL, "There are about 10^"),
        ({"constants": "thesis", "alpha": 0.1}, PAIR, "use the calibrated constants or 'online-weights'"),
        ({"members": 200_000, "size": 1_000, "net": "random"}, SMALL, "too large to be asked"),
        ({}, Domain((Integers(name="a", low=0, high=99_999, bins=100_000),)), "use 'online-weights'"),
        ({}, Domain((Integers(name="a", low=0, high=0),)), "one possible record"),
    ],
)
def test_what_cannot_be_held_is_refused(options, domain, words):
    with pytest.raises(Refused, match=words.replace("^", r"\^")):
        MedianBasic(budget=Budget(1), **options).check(domain, Unit.row())


def test_parameters_that_are_refused():
    bad = ({"alpha": 0}, {"alpha": 1.0}, {"questions": 0}, {"constants": "other"}, {"net": "x"}, {"members": 1})
    for options in bad:
        with pytest.raises(BadParameter, match=rf"^{next(iter(options))}:"):
            MedianBasic(budget=Budget(1), **options)
    with pytest.raises(BadParameter, match=r"^net: the thesis"):
        MedianBasic(budget=Budget(1), constants="thesis", net="random")
    with pytest.raises(BadParameter, match=r"^alpha: cannot be kept.* use 0\.\d+ or more"):
        MedianBasic(budget=Budget(0.1), alpha=0.01, rows=5_000).check(SMALL, Unit.row())
    with pytest.raises(BadParameter, match=r"^questions: the thesis's constants pay for at most"):
        MedianBasic(budget=Budget(1), constants="thesis", alpha=0.999, questions=10**9).check(PAIR, Unit.row())


def test_a_question_outside_the_schema_is_refused_before_any_noise():
    mechanism, counts, noise = MedianBasic(budget=Budget(1), **QUICK), small_counts(), Recorder(0)
    state = opened(mechanism, counts, noise)
    spent = len(noise.calls)
    with pytest.raises(BadParameter, match=r"^question:"):
        answered(mechanism, state, Query(columns=("weight",), weights=np.ones(2, dtype=np.int64)), counts, noise)
    assert len(noise.calls) == spent


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_a_comparison_can_move_by_what_is_declared(unit, constants):
    """Where all possible databases agree, a unit moves the loss by its full limit, in whichever form."""
    options = {"alpha": 0.9, "questions": 8} if constants == "thesis" else {**QUICK, "rows": 10**6}
    mechanism = MedianBasic(budget=Budget(1), constants=constants, **options)
    agreed = Databases.of(PAIR, 10.0**6, 4, listed(np.zeros((5, 4), dtype=np.int64), 2))
    question, steps = Query(columns=("x",), weights=np.array([0, 1])), []
    for more in (0, unit.limit):
        counts, noise = Cells(PAIR, np.array([10**6 - more, more]), unit), Scripted([-(2**60)])
        allowance, watch = Allowance(mechanism.cost(PAIR, unit)), None
        if constants == "calibrated":
            watch = Kernel(counts, Recorder(0), allowance).watch(mechanism.sparse(unit, 3))
        state = MedianState(rows=1e6, hypothesis=agreed, left=3, watch=watch)
        answered(mechanism, OpenSession(state, allowance.to_json()), question, counts, noise)
        steps += noise.steps
    moved, declared = abs(steps[1].hidden - steps[0].hidden), steps[0].sensitivity
    assert 0.99 * unit.limit * GRID <= moved <= declared
    assert declared == unit.limit * GRID + 1


@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_only_the_noisy_comparison_decides(constants):
    options = {"alpha": 0.9, "questions": 8} if constants == "thesis" else QUICK
    mechanism, counts = MedianBasic(budget=Budget(1), constants=constants, **options), Cells(PAIR, np.array([900, 100]))
    opening = [1_000] if constants == "thesis" else [1_000, 0]
    noise = Scripted([*opening, -(2**60), 2**60, 77, -(2**60)])
    replies = session(mechanism, counts, questions(PAIR, 3), noise)
    assert [reply.kind for reply in replies] == ["easy", "hard", "easy"]
    assert replies[1].count == 77 and len(noise.steps) == len(opening) + 4
