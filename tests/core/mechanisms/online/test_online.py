"""Online sessions that learn: privacy step by step, honest replies, and what is kept between answers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.query import Query
from core.mechanisms.direct.histogram import NoisyHistogram
from core.mechanisms.online import online
from core.mechanisms.online import start as online_start
from core.mechanisms.online.online import Online, better_for, check_question
from core.mechanisms.online.online_median import OnlineMedian
from core.mechanisms.online.online_perceptron import OnlinePerceptron
from core.mechanisms.online.online_weights import OnlineWeights
from core.models.dense import Dense
from core.models.points import Points
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.events import Cost, Pure
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain
from core.table.counts import Cells
from tests.accounts import part_of
from tests.bench.kit.online_any import Visitor, survey
from tests.core.mechanisms.asked import CUBE, cells, errors, questions
from tests.kernels import answered, opened, played, run
from tests.privacy.kit.recorder import Recorder

KINDS = (OnlineWeights, OnlinePerceptron, OnlineMedian)
BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
WIDE = Domain(tuple(Categories(name=f"w{place}", values=tuple(range(10))) for place in range(9)))


def table(unit: Unit | None = None, rows: int = 20_000) -> Cells:
    return Cells(CUBE, cells(rows), unit or Unit.row())


def mechanism(kind: type[Online], budget: Budget = BUDGETS[1], **options) -> Online:
    return kind(budget=budget, **{"rows": 20_000, "questions": 300, "alpha": 0.05, **options})


def neighbour(first: Cells, generator: np.random.Generator) -> Cells:
    unit = first.unit
    rows = generator.integers(0, CUBE.cells(), unit.limit if generator.random() < 0.5 else 1)
    rows = np.resize(rows, unit.limit)
    moved = first.cells.ravel() + np.bincount(rows, minlength=CUBE.cells())
    if unit.neighbours == "replace":
        for _ in range(unit.limit):
            moved[generator.choice(np.flatnonzero(moved))] -= 1
    return Cells(CUBE, moved, unit)


def comparisons(calls, sparse) -> list:
    """The calls that are offsets or comparisons; everything else is a number that is released."""
    prices = {sparse.run.threshold_epsilon, sparse.run.comparing_epsilon / (2 * sparse.run.cutoff)}
    return [call for call in calls if call.kind == "laplace" and call.amount in prices]


@pytest.mark.crossing(keep=12)
@pytest.mark.parametrize("variant", ["calibrated", "theorem"])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_with_the_same_outcomes_get_the_same_answers(kind, budget, unit, variant):
    options = {"size": 2} if kind is OnlineMedian else {}
    session = mechanism(kind, budget, variant=variant, alpha=0.6 if variant == "theorem" else 0.05, **options)
    generator, reached = np.random.default_rng(5), 0.0
    asked = questions(CUBE, 40, denominators=(1, 8, 2**20))
    for seed in range(2):
        first = table(unit)
        second = neighbour(first, generator)
        recorded = Recorder(seed)
        one, replies = played(session, first, asked, recorded)
        replayed = Recorder(seed, recorded.calls)
        two, again = played(session, second, asked, replayed)
        assert replies == again
        saved = [session.save(each.state) for each in (one, two)]
        assert saved[0] == saved[1], "the hypothesis must follow from released values alone"
        assert len(recorded.calls) == len(replayed.calls)
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        drawn = comparisons(recorded.calls, one.state.sparse)
        released = Cost.of(call.event for call in recorded.calls if call not in drawn)
        pure = Cost((Pure(one.state.sparse.run.epsilon),) * one.state.sparse.runs)
        declared = session.cost(CUBE, unit)
        for order in (None,) if budget.pure else (Fraction(3, 2), Fraction(40)):
            assert accounting.units(released + pure, order) <= accounting.units(declared, order)
    assert part_of(budget, declared) <= 1
    assert reached > 0.6, "the declared sensitivity is nearly reached, so that a smaller one would fail"


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_session_goes_on_bit_by_bit(kind, budget):
    session, counts, asked = mechanism(kind, budget), table(), questions(CUBE, 60, denominators=(1, 16))
    state, _ = played(session, counts, asked[:30], Recorder(3))
    kept = replace(state, state=session.load(CUBE, session.save(state.state)))
    assert session.save(kept.state) == session.save(state.state)
    for seed in range(3):
        one, two = state, kept
        for question in asked[30:]:
            noise, again = Recorder(seed), Recorder(seed)
            one, reply = answered(session, one, question, counts, noise)
            two, repeated = answered(session, two, question, counts, again)
            assert reply == repeated
            assert [call.hidden.tolist() for call in noise.calls] == [call.hidden.tolist() for call in again.calls]
        assert session.save(one.state) == session.save(two.state)


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_never_changed_in_place(kind):
    session, counts = mechanism(kind), table()
    state = opened(session, counts, Recorder(1))
    before = session.save(state.state)
    kinds = set()
    for question in questions(CUBE, 30):
        after, reply = answered(session, state, question, counts, Recorder(2))
        kinds.add(reply.kind)
        assert (after.state is state.state) == (after.left == state.left) == (reply.kind != "hard")
    assert session.save(state.state) == before
    assert "hard" in kinds


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_margins_hold_for_95_percent(kind, budget):
    session, counts = mechanism(kind, budget, alpha=0.08), table()
    asked = questions(CUBE, 150)
    held = {"easy": [], "hard": []}
    for seed in range(8):
        _, replies = played(session, counts, asked, Recorder(seed))
        for reply, error in zip(replies, errors(replies, asked, counts), strict=True):
            if reply.margin is not None:
                held[reply.kind].append(error <= reply.margin)
    assert min(np.mean(found) for found in held.values()) > 0.92
    assert min(map(len, held.values())) > 50


def test_halts_honestly():
    session, counts = mechanism(OnlineMedian, Budget(1), alpha=0.03), table()
    asked = questions(CUBE, 200)
    state, replies = played(session, counts, asked, Recorder(1))
    kinds = [reply.kind for reply in replies]
    limit = session.hard_answers(CUBE, counts.unit)
    assert kinds.count("hard") == limit and "unchecked" in kinds
    last = max(place for place, kind in enumerate(kinds) if kind == "hard")
    assert set(kinds[last + 1 :]) == {"unchecked"}
    assert [reply.left for reply in replies if reply.kind == "hard"] == list(range(limit - 1, -1, -1))
    assert all((reply.margin is None) == (reply.kind == "unchecked") for reply in replies)
    silent = Recorder(9)
    answered(session, state, asked[0], counts, silent)
    assert not silent.calls, "after the last measurement nothing touches the table"


@pytest.mark.exhaustive
def test_easy_answers_are_those_of_the_public_hypothesis():
    session, counts = mechanism(OnlineWeights), table()
    state = opened(session, counts, Recorder(4))
    for question in questions(CUBE, 60, denominators=(1, 4)):
        expected = float(question.total(session.peek(state.state))) / question.denominator
        after, reply = answered(session, state, question, counts, Recorder(4))
        if reply.kind == "easy":
            assert reply.count == pytest.approx(expected, rel=1e-12)
        state = after


@pytest.mark.exhaustive
def test_replay_helps():
    counts = table()
    asked = questions(CUBE, 300)

    def error(replay: int) -> float:
        session = mechanism(OnlineWeights, Budget(1, 1e-9), alpha=0.03, opening=0.0, replay=replay)
        runs = [played(session, counts, asked, Recorder(seed)) for seed in range(6)]
        return float(np.mean([errors(replies, asked, counts).mean() for _, replies in runs]))

    assert error(3) < error(0) / 1.3


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_release_helps_at_no_cost(kind):
    counts = table()
    earlier = run(NoisyHistogram(queries=(), budget=Budget(1)), counts, Recorder(1))
    session = mechanism(kind, Budget(1), alpha=0.08)
    asked = questions(CUBE, 100)
    alone = [played(session, counts, asked, Recorder(seed))[1] for seed in range(3)]
    helped = [played(session, counts, asked, Recorder(seed), earlier)[1] for seed in range(3)]

    def hard(runs):
        return sum(reply.kind != "easy" for replies in runs for reply in replies)

    def error(runs):
        return np.mean([errors(replies, asked, counts).mean() for replies in runs])

    assert hard(helped) < 0.7 * hard(alone)
    assert error(helped) < error(alone)


@pytest.mark.exhaustive
def test_a_large_schema_is_held_as_weighted_records(monkeypatch):
    monkeypatch.setattr(online_start, "SUPPORT", 4096)
    generator = np.random.default_rng(2)

    class Rows:
        """Counts of a table whose universe is too large to list."""

        domain, unit, public_rows = WIDE, Unit.row(), None
        codes = np.minimum(9, generator.integers(0, 3, (30_000, 1)) * 3 + generator.integers(0, 2, (30_000, 9)))

        def marginal(self, columns):
            places = [WIDE.names.index(column) for column in columns]
            flat = np.zeros(len(self.codes), dtype=np.int64)
            for place in places:
                flat = flat * 10 + self.codes[:, place]
            return np.bincount(flat, minlength=WIDE.cells(columns)).reshape(WIDE.shape(columns))

    counts, session = Rows(), OnlineWeights(budget=Budget(1, 1e-9), rows=30_000, alpha=0.05)
    asked = questions(WIDE, 150)
    state, replies = played(session, counts, asked, Recorder(1))
    assert isinstance(session.peek(state.state), Points)
    assert session.save(session.load(WIDE, session.save(state.state))) == session.save(state.state)
    kinds = [reply.kind for reply in replies]
    assert kinds.count("easy") > 100
    uniform = [abs(question.weights.mean() * 30_000 - float(question.total(counts))) for question in asked]
    assert errors(replies, asked, counts).mean() < np.mean(uniform) / 2

    drawn = Points(WIDE, counts.codes[:5_000], np.full(5_000, 6.0))
    helped = opened(session, counts, Recorder(1), drawn)
    assert np.abs(helped.state.hypothesis.marginal(("w0", "w1")) - counts.marginal(("w0", "w1"))).sum() < 0.2 * 30_000


def test_signed_cells_of_earlier_versions_sum_to_the_rows_once_they_are_read():
    session = mechanism(OnlinePerceptron, Budget(10, 1e-6))
    state = opened(session, table()).state
    assert np.isclose(state.hypothesis.total, state.rows)
    kept = session.load(CUBE, session.save(state))
    np.testing.assert_array_equal(kept.hypothesis.cells, state.hypothesis.cells)
    old = replace(state, hypothesis=replace(state.hypothesis, cells=state.hypothesis.cells - 5))
    read = session.load(CUBE, session.save(old))
    np.testing.assert_allclose(read.hypothesis.cells, state.hypothesis.cells)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [OnlineWeights, OnlinePerceptron])
def test_the_question_about_every_row_stays_right_whatever_was_learnt(kind):
    counts, everything = table(), Query(columns=(), weights=np.array(1))
    session = mechanism(kind, Budget(10, 1e-6))
    learnt, _ = played(session, counts, questions(CUBE, 200))
    _, reply = answered(session, learnt, everything, counts)
    assert abs(reply.count - 20_000) < 200


def test_two_signed_comparisons_in_the_theorem_variant():
    session, counts = mechanism(OnlineWeights, variant="theorem", alpha=0.9), table()
    state = opened(session, counts, Recorder(0))
    noise = Recorder(0)
    answered(session, state, Query(columns=(), weights=np.array(1)), counts, noise)
    first, second = noise.calls
    assert int(first.hidden[0]) == -int(second.hidden[0])


def test_remembering_tables_changes_no_answer(monkeypatch):
    counts, asked = table(), questions(CUBE, 80)
    _, replies = played(mechanism(OnlineWeights), counts, asked, Recorder(6))
    monkeypatch.setattr(online.online_state, "MOST_REMEMBERED", 0)
    _, forgetful = played(mechanism(OnlineWeights), counts, asked, Recorder(6))
    assert replies == forgetful


def test_refusals_name_what_would_work():
    with pytest.raises(BadParameter, match="alpha"):
        mechanism(OnlineWeights, alpha=0)
    with pytest.raises(BadParameter, match=r"alpha.*use 0"):
        mechanism(OnlineWeights, Budget(0.01), alpha=0.001).check(CUBE, Unit.row())
    with pytest.raises(BadParameter, match="larger epsilon"):
        mechanism(OnlineWeights, Budget(0.001), rows=100).check(CUBE, Unit.row())
    with pytest.raises(BadParameter, match="calibrated variant"):
        mechanism(OnlineWeights, alpha=0.001, variant="theorem").check(CUBE, Unit.row())
    with pytest.raises(Refused, match="online-tree"):
        mechanism(OnlinePerceptron).check(WIDE, Unit.row())
    with pytest.raises(Refused, match="online-weights"):
        mechanism(OnlineMedian, variant="theorem").check(CUBE, Unit.row())
    works = mechanism(OnlineWeights, Budget(0.01), alpha=0.001)
    with pytest.raises(BadParameter) as refused:
        works.check(CUBE, Unit.row())
    least = float(str(refused.value).split("use ")[1].split(" or")[0])
    mechanism(OnlineWeights, Budget(0.01), alpha=least).check(CUBE, Unit.row())


@pytest.mark.parametrize(
    "question",
    [
        Query(columns=("nowhere",), weights=np.array([1, 0])),
        Query(columns=("a",), weights=np.array([1, 0])),
        Query(columns=("c", "c"), weights=np.ones((2, 2), dtype=int)),
    ],
    ids=["unknown column", "wrong shape", "named twice"],
)
def test_a_question_outside_the_schema_spends_nothing(question):
    session, counts = mechanism(OnlineWeights), table()
    state, noise = opened(session, counts, Recorder(0)), Recorder(1)
    with pytest.raises(BadParameter, match="question"):
        answered(session, state, question, counts, noise)
    assert not noise.calls
    with pytest.raises(BadParameter):
        check_question(question, CUBE)


def test_small_universes_are_told_what_is_better():
    assert better_for(CUBE) == "online-histogram"
    assert better_for(WIDE) is None
    assert "histogram" in OnlineWeights.prefer


@pytest.mark.parametrize("kind", KINDS)
def test_figures_before_anything_is_spent(kind):
    session = mechanism(kind)
    expected = session.expected(CUBE, Unit.row())
    assert 0 < expected.mean < expected.worst
    assert "rows" in expected.sentence()
    assert 0 < session.slot(CUBE) < 1
    wider = mechanism(kind, alpha=0.2)
    assert wider.hard_answers(CUBE, Unit.row()) > session.hard_answers(CUBE, Unit.row())


def test_the_dense_hypothesis_of_an_earlier_release_keeps_every_cell_alive():
    lonely = Dense(CUBE, np.eye(1, 48).reshape(CUBE.shape()))
    start = online_start.weighted(CUBE, 100.0, lonely, (), np.random.default_rng(0))
    assert start.marginal(()) == pytest.approx(100)
    assert start.cells.min() > 0


@pytest.mark.slow
def test_sessions_on_a_large_schema_stay_alive():
    wide = survey(rows=20_000)
    for seed in range(4):
        made = OnlineWeights(budget=Budget(4, 1e-9), alpha=0.02, rows=20_000)
        visitor, session, kinds = Visitor(wide.domain, seed), opened(made, wide), set()
        for _ in range(60):
            session, reply = answered(made, session, visitor.ask(), wide)
            visitor.hear(reply.share)
            kinds.add(reply.kind)
            assert made.load(wide.domain, made.save(session.state)).left == session.state.left
        assert "hard" in kinds
