"""The median mechanism over sampled histograms."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter, Refused
from core.kernel.compared import GRID
from core.kernel.query import Query
from core.mechanisms.median.median_walk import MedianWalk
from core.models.polytope import cloud as walk_cloud
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from core.theory.composition import basic
from tests.accounts import part_of
from tests.core.mechanisms.median_checks import MICRO, Scripted, both, log_chance, neighbours, scripted, session
from tests.core.samples import SMALL, small_counts
from tests.kernels import answered, opened
from tests.privacy.kit.recorder import Recorder

UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
QUICK = {"alpha": 0.2, "questions": 50, "rows": 5_000, "chains": 16}
PAIR = Domain((Booleans(name="x"),))


@pytest.fixture(autouse=True)
def short_walks(monkeypatch):
    """Privacy does not depend on the walk, so the walk may be short; tests of accuracy ask for long ones."""
    monkeypatch.setattr(walk_cloud, "MOST_SWEEPS", 8)


def questions(domain: Domain, count: int, seed: int = 0) -> tuple[Query, ...]:
    return Marginals(order=min(2, len(domain))).sample(domain, count, np.random.default_rng(seed))


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_record_and_replay_on_neighbours(budget, unit, constants):
    mechanism = MedianWalk(budget=budget, constants=constants, **QUICK)
    mechanism.check(SMALL, unit)
    generator, reached = np.random.default_rng(3), 0.0
    for seed in range(2):
        first = generator.integers(0, 400, SMALL.cells())
        second = first.copy()
        place = generator.integers(SMALL.cells())
        second[place] += unit.limit
        if unit.neighbours == "replace":
            first[place - 1] += unit.limit
        pair = (Cells(SMALL, first, unit), Cells(SMALL, second, unit))
        for before, after in both(mechanism, *pair, questions(SMALL, 6, seed), seed):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
    assert reached > 0.1


@pytest.mark.exhaustive
def test_exact_privacy_on_a_micro_domain_although_the_walk_has_not_mixed():
    unit = Unit.row("replace")
    mechanism = MedianWalk(budget=Budget(1), alpha=0.3, questions=3, rows=1_000, chains=16)
    hard = mechanism.hard_answers(MICRO, unit)
    sparse = mechanism.sparse(unit, hard)
    numbers, largest = float(sparse.number.epsilon), 0.0
    threshold = math.ceil(mechanism._width(4.0, unit, hard) / 4 * GRID)
    for pair, kinds in product(list(neighbours(unit))[::3], product(["easy", "hard"], repeat=2)):
        one, two = (log_chance(scripted(mechanism, each, kinds, (0, 7)), kinds, threshold) for each in pair)
        assert abs(one - two) <= (float(sparse.run.epsilon) + kinds.count("hard") * numbers) * (1 + 1e-6)
        largest = max(largest, abs(one - two))
    assert largest > 0.5 * numbers
    assert basic(mechanism.cost(MICRO, unit)) <= 1


@pytest.mark.parametrize("budget", [Budget(1), Budget(0.3, 1e-9)])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_the_cost_is_within_the_budget(budget, unit, constants):
    mechanism = MedianWalk(budget=budget, constants=constants, alpha=0.5, questions=20, rows=100_000)
    assert 0 < part_of(budget, mechanism.cost(SMALL, unit)) <= 1
    expected = mechanism.expected(SMALL, unit)
    assert 0 < expected.mean <= expected.worst < math.inf
    assert mechanism.hard_answers(SMALL, unit) >= 1


@pytest.mark.slow
def test_answers_are_accurate_at_its_own_parameters(monkeypatch):
    """Two sessions of 100 questions on 64 cells and 100,000 rows, alpha 0.15: answers keep within their margins."""
    monkeypatch.setattr(walk_cloud, "MOST_SWEEPS", 32)
    domain = Domain(tuple(Integers(name=name, low=0, high=3) for name in "abc"))
    generator = np.random.default_rng(0)
    cells = generator.multinomial(100_000, generator.dirichlet(np.full(64, 0.7)))
    counts, checked, held, errors = Cells(domain, cells), 0, 0, []
    mechanism = MedianWalk(budget=Budget(1), alpha=0.15, questions=100, rows=100_000, chains=64)
    kinds = []
    for seed in range(2):
        asked = questions(domain, 100, seed)
        replies = session(mechanism, counts, asked, Recorder(seed))
        kinds += [reply.kind for reply in replies]
        for reply, question in zip(replies, asked, strict=True):
            if reply.kind != "unchecked":
                error = abs(reply.count - question.total(counts))
                checked, held = checked + 1, held + (error <= reply.margin)
                errors.append(error / 100_000)
    assert kinds.count("easy") > 130 and kinds.count("hard") > 0
    assert held / checked >= 0.93
    assert np.mean(errors) < 0.03 and max(errors) < 0.15


def test_hard_answers_teach(monkeypatch):
    """A question that was measured is known afterwards, and mixing is reported."""
    monkeypatch.setattr(walk_cloud, "MOST_SWEEPS", 32)
    counts = small_counts()
    mechanism = MedianWalk(budget=Budget(5), alpha=0.1, questions=50, rows=5_000, chains=64)
    question = Query(columns=("old",), weights=np.array([0, 1]))
    truth = int(question.total(counts))
    noise = Scripted([5_000, 0, 2**60, truth, -(2**60)])
    state = opened(mechanism, counts, noise)
    assert mechanism.mixing(state.state).rhat == 1
    before = abs(float(np.median(state.state.hypothesis.values(question))) - truth)
    state, hard = answered(mechanism, state, question, counts, noise)
    half = mechanism._half(state.state, SMALL, counts.unit)
    values = state.state.hypothesis.values(question)
    assert hard.count == truth and np.abs(values - truth).max() <= half + 1e-6 < before
    state, easy = answered(mechanism, state, question, counts, noise)
    assert easy.kind == "easy" and abs(easy.count - truth) <= half
    assert 0.9 < mechanism.mixing(state.state).rhat < 1.2 and mechanism.mixing(state.state).effective > 64
    assert mechanism.peek(state.state).marginal(()).sum() == pytest.approx(5_000)


def test_a_session_halts_honestly():
    counts = small_counts()
    mechanism = MedianWalk(budget=Budget(1), **{**QUICK, "alpha": 0.05})
    hard = mechanism.hard_answers(SMALL, counts.unit)
    assert 1 <= hard <= 10
    noise = Scripted([5_000, 0] + [2**60, 700] * hard)
    replies = session(mechanism, counts, questions(SMALL, hard + 2), noise)
    assert [reply.kind for reply in replies] == ["hard"] * hard + ["unchecked"] * 2
    assert [reply.left for reply in replies] == [*range(hard - 1, -1, -1), 0, 0]
    assert replies[-1].margin is None
    assert len(noise.steps) == 2 + 2 * hard


def test_numbers_beyond_the_table_and_contradictions_are_survived():
    counts, mechanism = small_counts(), MedianWalk(budget=Budget(5), **QUICK)
    question = Query(columns=("old",), weights=np.array([0, 1]))
    noise = Scripted([5_000, 0] + [each for number in (-900, 9_000, 2_500) for each in (2**60, number)])
    for reply in session(mechanism, counts, [question] * 3, noise):
        assert reply.kind == "hard" and 0 <= reply.share <= 1 and reply.count >= 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("constants", ["calibrated", "thesis"])
def test_saved_and_loaded_bit_by_bit(constants):
    mechanism, counts = MedianWalk(budget=Budget(1, 1e-6), constants=constants, **QUICK), small_counts()
    asked, noise = questions(SMALL, 8), Recorder(5)
    state = opened(mechanism, counts, noise)
    for question in asked[:4]:
        state, _ = answered(mechanism, state, question, counts, noise)
    loaded = mechanism.load(SMALL, mechanism.save(state.state))
    facts = ("rows", "left", "watch", "asked")
    assert [getattr(loaded, name) for name in facts] == [getattr(state.state, name) for name in facts]
    again = replace(state, state=loaded)
    cloud = state.state.hypothesis
    assert np.array_equal(loaded.hypothesis.points, cloud.points)
    assert loaded.hypothesis.mixing == cloud.mixing and loaded.hypothesis.spare == (constants == "thesis")
    assert mechanism.save(loaded) == mechanism.save(state.state)
    one, two = Recorder(6), Recorder(6)
    for question in asked[4:]:
        state, first = answered(mechanism, state, question, counts, one)
        again, second = answered(mechanism, again, question, counts, two)
        assert first == second


def test_the_thesis_body_holds_histograms_of_less_mass():
    mechanism = MedianWalk(budget=Budget(1), constants="thesis", **QUICK)
    state = opened(mechanism, small_counts(), Recorder(0))
    whole = Query(columns=(), weights=np.array(1))
    values = state.state.hypothesis.values(whole) / state.state.rows
    assert (values < 1).all() and values.std() > 0
    plain = opened(MedianWalk(budget=Budget(1), **QUICK), small_counts(), Recorder(0))
    assert np.allclose(plain.state.hypothesis.values(whole), plain.state.rows)


def test_what_is_refused():
    wide = Domain((Integers(name="a", low=0, high=4_096, bins=4_097),))
    with pytest.raises(Refused, match="walks over at most 4,096; use 'online-weights'"):
        MedianWalk(budget=Budget(1)).check(wide, Unit.row())
    with pytest.raises(BadParameter, match=r"^chains:"):
        MedianWalk(budget=Budget(1), chains=2)
    with pytest.raises(BadParameter, match=r"^alpha: cannot be kept"):
        MedianWalk(budget=Budget(1), alpha=0.001).check(SMALL, Unit.row())


def test_it_is_registered():
    made = registry.interactive_from("median-walk", Budget(1), {"chains": 32})
    assert made == MedianWalk(budget=Budget(1), chains=32)
    assert registry.interactive["median-basic"].name == "median-basic"
    for kind in (registry.interactive["median-walk"], registry.interactive["median-basic"]):
        for part in ("**Privacy**", "**Accuracy**", "**Runtime**", "Theorem"):
            assert part in kind.__doc__


@pytest.mark.parametrize("error", [ArithmeticError, np.linalg.LinAlgError])
def test_a_measurement_that_teaches_nothing_counts_all_the_same(monkeypatch, error):
    def thin(*_):
        raise error("too thin")

    monkeypatch.setattr(walk_cloud.Cloud, "learnt", thin)
    counts = small_counts()
    mechanism = MedianWalk(budget=Budget(1), **QUICK)
    noise = Scripted([5_000, 0, 2**60, 700])
    state = opened(mechanism, counts, noise)
    after, reply = answered(mechanism, state, questions(SMALL, 1)[0], counts, noise)
    assert (reply.kind, reply.count) == ("hard", 700)
    assert after.state.left == after.state.watch.left == state.state.left - 1
    assert after.state.hypothesis is state.state.hypothesis
