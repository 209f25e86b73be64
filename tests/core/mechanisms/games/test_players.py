from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.games.players import LARGEST, Draws, Listed, Spans, best, cost_of, learned, play, questions_of
from core.models.histogram import Histogram
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts

PAIR = Marginals(sets=(("size", "colour"),))
SLOPE = Linear(columns=("size",), weights=((0, 1, 2, 4),), whole=4)
STEEP = Fraction(10**6)


class Watcher:
    """A noise source that keeps what it is asked and answers with the best score."""

    def __init__(self):
        self.asked = []

    def select(self, scores, *, epsilon, sensitivity):
        self.asked.append((np.array(scores), epsilon, sensitivity))
        return int(np.argmax(scores))


def test_totals_of_several_classes_share_the_largest_denominator():
    questions = questions_of((PAIR, SLOPE), SMALL)
    counts = small_counts(100)
    totals = questions.totals(counts)
    assert isinstance(questions, Listed)
    assert totals.dtype == np.int64
    assert totals[:12].tolist() == (4 * counts.marginal(("size", "colour"))).ravel().tolist()
    assert totals[12] == counts.marginal(("size",)) @ [0, 1, 2, 4]
    # An estimate with halves of a row is rounded on that grid, not to whole rows.
    half = Histogram(SMALL, counts.cells / 2)
    assert questions.totals(half)[:12].tolist() == (2 * counts.marginal(("size", "colour"))).ravel().tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_draw_tells_the_question_and_its_sign(sign):
    excess = np.zeros(13, dtype=np.int64)
    excess[12] = 40 * sign
    query, drawn = questions_of((PAIR, SLOPE), SMALL).draw(excess, Noise(), STEEP, Unit.row())
    assert (query.columns, query.weights.tolist(), drawn) == (("size",), [0, 1, 2, 4], sign)


def test_the_draw_declares_rows_times_denominator():
    noise = Watcher()
    questions_of((PAIR, SLOPE), SMALL).draw(np.arange(13), noise, Fraction(1, 3), Unit.id("person", 5, "replace"))
    ((scores, epsilon, sensitivity),) = noise.asked
    assert scores.tolist() == [*range(13), *range(0, -13, -1)]
    assert (epsilon, sensitivity) == (Fraction(1, 3), 20)


@pytest.mark.parametrize(("sign", "excess"), [(1, [0, -1, 29, 59, 58]), (-1, [0, 1, -29, -59, -58])])
def test_intervals_are_drawn_by_their_ends(sign, excess):
    """The excess of the cells is -1, 30, 30, -1, or the opposite."""
    questions = questions_of((Intervals(column="size"),), SMALL)
    assert isinstance(questions, Spans)
    query, drawn = questions.draw(np.array(excess), Noise(), STEEP, Unit.row())
    assert (query.weights.tolist(), drawn) == ([0, 1, 1, 0], sign)


def test_all_signed_questions_are_counted():
    assert np.exp(questions_of((PAIR, SLOPE), SMALL).log_size()) == pytest.approx(26)
    assert np.exp(questions_of((Intervals(column="size"),), SMALL).log_size()) == pytest.approx(20)


def test_huge_totals_are_clipped_before_they_can_wrap():
    questions = questions_of((SLOPE,), SMALL)
    cells = np.zeros(SMALL.shape(), dtype=np.int64)
    cells[0, 3, 0] = 2**61 - 1
    assert questions.totals(Cells(SMALL, cells)).tolist() == [2**60]
    assert questions.totals(Histogram(SMALL, np.full(SMALL.shape(), 1e300))).tolist() == [int(LARGEST)]


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
    player = Draws(questions, SMALL, Unit.row(), questions.totals(counts), 1000.0, epsilons, 1, noise)
    sums, truth = [], counts.marginal(("size", "colour")).ravel() / 1000
    for position in play(SMALL, 5, player, rate=None, query_learns=True):
        sums.append(position.played.sum(axis=2).T.ravel() - position.turns * truth)
    assert len(noise.asked) == 4, "the first turn is free"
    for past, (scores, epsilon, sensitivity) in zip(sums, noise.asked, strict=False):
        exponents = float(epsilon) * scores / (2 * sensitivity)
        # rate = rows epsilon_1/2 = 5; scores are rounded to whole rows
        np.testing.assert_allclose(exponents, 5 * np.concatenate([past, -past]), atol=0.5 * float(epsilon))
