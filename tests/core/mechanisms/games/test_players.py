from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.kernel.tables import LARGEST
from core.mechanisms.games.players import (
    Draws,
    IntervalQuestions,
    ListedQuestions,
    best,
    cost_of,
    learned,
    play,
    questions_of,
)
from core.models.histogram import Histogram
from core.privacy.events import Cost, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.question import whole_totals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts

PAIR = Marginals(sets=(("size", "colour"),))
SLOPE = Linear(columns=("size",), weights=((0, 1, 2, 4),), whole=4)
STEEP = Selection(Fraction(10**6))


class Watcher:
    """A noise source that keeps what it is asked and answers with the best score."""

    def __init__(self):
        self.asked = []

    def select(self, scores, *, epsilon, sensitivity):
        self.asked.append((np.array(scores), epsilon, sensitivity))
        return int(np.argmax(scores))


def drawn(queries, seen, counts, noise=None, event=STEEP):
    """One draw between these classes."""
    kernel = Kernel(counts, noise or Noise(), Cost((event,)))
    return questions_of(queries, SMALL).draw(kernel, seen, event, 1)[0]


def test_totals_of_several_classes_share_the_largest_denominator():
    counts = small_counts(100)
    assert isinstance(questions_of((PAIR, SLOPE), SMALL), ListedQuestions)
    pairs, slopes = whole_totals((PAIR, SLOPE), counts)
    assert pairs.dtype == slopes.dtype == np.int64
    assert pairs.tolist() == (4 * counts.marginal(("size", "colour"))).ravel().tolist()
    assert slopes.tolist() == [counts.marginal(("size",)) @ [0, 1, 2, 4]]
    # An estimate with halves of a row is rounded on that grid, not to whole rows.
    half = Histogram(SMALL, counts.cells / 2)
    assert whole_totals((PAIR, SLOPE), half)[0].tolist() == (pairs // 2).tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_draw_tells_the_question_and_its_sign(sign):
    """Rows move between cells that only the weighted question tells far enough apart."""
    low, high = np.zeros((2, *SMALL.shape()), dtype=np.int64)
    low[:, 0] = 10
    high[:, 3] = 10
    seen, counts = (high, low) if sign == 1 else (low, high)
    query, found = drawn((SLOPE,), Histogram(SMALL, seen.astype(float)), Cells(SMALL, counts))
    assert (query.columns, query.weights.tolist(), found) == (("size",), [0, 1, 2, 4], sign)


def test_the_draw_declares_rows_times_denominator():
    noise, event = Watcher(), Selection(Fraction(1, 3))
    counts = small_counts(100, Unit.id("person", 5, "replace"))
    empty = Histogram(SMALL, np.zeros(SMALL.shape()))
    drawn((PAIR, SLOPE), empty, counts, noise, event)
    ((scores, epsilon, sensitivity),) = noise.asked
    totals = np.concatenate(whole_totals((PAIR, SLOPE), counts)).tolist()
    assert scores.tolist() == [*(-total for total in totals), *totals]
    assert (epsilon, sensitivity) == (Fraction(1, 3), 20)


@pytest.mark.parametrize("sign", [1, -1])
def test_intervals_are_drawn_by_their_ends(sign):
    """The excess of the sizes is -1, 30, 30, -1, or the opposite."""
    few, many = np.zeros((2, *SMALL.shape()), dtype=np.int64)
    few[0, :, 0], many[0, :, 0] = [1, 0, 0, 1], [0, 30, 30, 0]
    seen, counts = (many, few) if sign == 1 else (few, many)
    assert isinstance(questions_of((Intervals(column="size"),), SMALL), IntervalQuestions)
    query, found = drawn((Intervals(column="size"),), Histogram(SMALL, seen.astype(float)), Cells(SMALL, counts))
    assert (query.weights.tolist(), found) == ([0, 1, 1, 0], sign)


def test_all_signed_questions_are_counted():
    assert np.exp(questions_of((PAIR, SLOPE), SMALL).log_size()) == pytest.approx(26)
    assert np.exp(questions_of((Intervals(column="size"),), SMALL).log_size()) == pytest.approx(20)


def test_huge_totals_are_clipped_before_they_can_wrap():
    cells = np.zeros(SMALL.shape(), dtype=np.int64)
    cells[0, 3, 0] = 2**61 - 1
    assert whole_totals((SLOPE,), Cells(SMALL, cells))[0].tolist() == [LARGEST]
    huge = Histogram(SMALL, np.full(SMALL.shape(), 1e300))
    assert whole_totals((SLOPE,), huge)[0].tolist() == [LARGEST]
    noise = Watcher()
    drawn((SLOPE,), huge, Cells(SMALL, np.zeros(24)), noise)
    assert noise.asked[0][0].tolist() == [LARGEST, -LARGEST]


def test_cost_of_picks_is_their_mean_at_every_record():
    cells = [(0, 1, 1), (2, 3, 0)]
    members = [PAIR.member(SMALL, place) for place in range(12)]
    slope = SLOPE.member(SMALL, 0)
    cost = cost_of([(members[3], 1), (members[3], 1), (slope, -1), (members[11], 1)], SMALL)
    for colour, size, old in cells:
        expected = 2 * members[3].weights[size, colour] - slope.weights[size] / 4 + members[11].weights[size, colour]
        assert cost[colour, size, old] == pytest.approx(expected / 4)


def test_learning_multiplies_weights_and_responding_takes_the_cheapest():
    past = np.array([[1000.0, 1001.0], [1002.0, 1000.0]])
    weights = np.exp(-0.5 * np.array([[0, 1], [2, 0]]))
    assert learned(past, 0.5) == pytest.approx(weights / weights.sum())
    assert best(past).tolist() == [[0.5, 0], [0, 0.5]]


class Script:
    """A query player who keeps what it sees and asks for one cell after the other."""

    def __init__(self, domain):
        self.seen, self.shape = [], domain.shape()

    def reply(self, turn, seen):
        self.seen.append(seen.copy())
        cost = np.zeros(self.shape)
        cost.flat[turn] = -1.0
        return cost


@pytest.mark.parametrize(("rate", "query_learns"), [(0.7, False), (None, True), (0.7, True)])
def test_who_sees_what(rate, query_learns):
    player = Script(SMALL)
    *_, last = play(SMALL, 4, player, rate=rate, query_learns=query_learns)
    bonus = [np.bincount(range(turn), minlength=24).reshape(SMALL.shape()) for turn in range(5)]
    if rate is None:
        moves = [np.where(bonus[turn + 1] - bonus[turn] == 1, 1.0, 0.0) for turn in range(4)]
        seen = [np.zeros(SMALL.shape()), *(sum(moves[:turn]) / turn for turn in (1, 2, 3))]
    else:
        moves = [np.exp(rate * bonus[turn]) / np.exp(rate * bonus[turn]).sum() for turn in range(4)]
        seen = [sum(moves[: turn + 1]) / (turn + 1) for turn in range(4)] if query_learns else moves
    np.testing.assert_allclose(player.seen, seen)
    np.testing.assert_allclose(last.strategy, sum(moves) / 4)
    np.testing.assert_allclose(last.asked, -bonus[4])


def test_draws_are_multiplicative_weights_over_the_sum_of_errors():
    """The exponent of every signed question is one constant rate times the sum of its errors so far."""
    counts, noise = small_counts(1000), Watcher()
    questions = questions_of((PAIR,), SMALL)
    epsilons = tuple(Fraction(turn, 100) for turn in range(5))
    kernel = Kernel(counts, noise, Cost.of(Selection(epsilon) for epsilon in epsilons[1:]))
    player = Draws(questions, kernel, 1000.0, epsilons, 1)
    sums, truth = [], counts.marginal(("size", "colour")).ravel() / 1000
    for position in play(SMALL, 5, player, rate=None, query_learns=True):
        sums.append(position.played.sum(axis=2).T.ravel() - position.turns * truth)
    assert len(noise.asked) == 4, "the first turn is free"
    for past, (scores, epsilon, sensitivity) in zip(sums, noise.asked, strict=False):
        exponents = float(epsilon) * scores / (2 * sensitivity)
        # rate = rows epsilon_1/2 = 5; scores are rounded to whole rows
        np.testing.assert_allclose(exponents, 5 * np.concatenate([past, -past]), atol=0.5 * float(epsilon))
