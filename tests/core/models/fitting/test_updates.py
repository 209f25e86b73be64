import math

import numpy as np
import pytest

from core.kernel.query import Query
from core.kernel.tables import Marginal
from core.models.dense import Dense
from core.models.fitting.updates import Perceptron, Weights
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL, small_counts

LARGE_RED = Query(columns=("size", "colour"), weights=np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0]]))
HALVES = Query(columns=("colour",), weights=np.array([0, 1, 4]), denominator=4)
HYPOTHESIS = Dense(SMALL, np.random.default_rng(3).random(SMALL.shape()) * 10)


@pytest.mark.parametrize("question", [LARGE_RED, HALVES])
@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
def test_the_tuned_step_meets_the_measured_value_and_keeps_the_total(question, share):
    value = share * HYPOTHESIS.total * question.denominator
    learned = Weights().apply(HYPOTHESIS, question, value)
    assert np.isclose(question.total(learned), value)
    assert np.isclose(learned.total, HYPOTHESIS.total)
    assert (learned.cells > 0).all()
    # Cells with the same weight keep their proportions: nothing else was learned.
    ratio = np.unique(np.round(learned.cells / HYPOTHESIS.cells, 9))
    assert len(ratio) == len(np.unique(question.weights))


@pytest.mark.parametrize("value", [-50.0, 1e9])
def test_impossible_values_leave_a_positive_hypothesis(value):
    learned = Weights().apply(HYPOTHESIS, LARGE_RED, value)
    assert (learned.cells > 0).all()
    assert np.isclose(learned.total, HYPOTHESIS.total)


def test_within_the_slack_nothing_moves_and_beyond_it_only_to_its_edge():
    total = float(LARGE_RED.total(HYPOTHESIS))
    assert Weights().apply(HYPOTHESIS, LARGE_RED, total + 1, slack=2.0) is HYPOTHESIS
    learned = Weights().apply(HYPOTHESIS, LARGE_RED, total + 5, slack=2.0)
    assert np.isclose(LARGE_RED.total(learned), total + 3)


@pytest.mark.parametrize(("offset", "sign"), [(1.0, 1), (-1.0, -1)])
def test_the_papers_step_multiplies_by_the_exponential_of_the_question(offset, sign):
    learned = Weights(alpha=0.2).apply(HYPOTHESIS, HALVES, HALVES.total(HYPOTHESIS) + offset)
    expected = HYPOTHESIS.cells * np.exp(sign * 0.1 * HALVES.weights / 4)[:, None, None]
    np.testing.assert_allclose(learned.cells, expected * HYPOTHESIS.total / expected.sum())


def test_a_whole_table_is_fitted_to_within_its_slack():
    truth = small_counts(1_000)
    start = Dense.uniform(SMALL, 1_000.0)
    question = Marginal(("size", "colour"))
    exact = Weights().apply(start, question, question.total(truth))
    np.testing.assert_allclose(exact.marginal(question.columns), question.total(truth), atol=1e-3)
    loose = Weights().apply(start, question, question.total(truth), slack=20.0)
    error = np.abs(loose.marginal(question.columns) - question.total(truth))
    assert 15 < error.max() < 40
    assert np.isclose(loose.total, 1_000)


def test_negative_noisy_counts_become_faint_cells():
    learned = Weights().apply(HYPOTHESIS, Marginal(("old",)), np.array([-40.0, HYPOTHESIS.total]))
    assert (learned.cells > 0).all()
    assert learned.marginal(("old",))[0] < 1e-6


def _mistakes(update, alpha: float, truth: np.ndarray) -> int:
    """How many mistakes of size alpha can be pointed out one after the other, the worst first."""
    queries = Marginals(order=2)
    source = Dense(SMALL, truth)
    hypothesis = update.start(SMALL, source.total)
    for step in range(100_000):
        gaps = queries.totals(source) - queries.totals(hypothesis)
        worst = int(np.abs(gaps).argmax())
        if abs(gaps[worst]) < alpha * source.total:
            return step
        question = queries.member(SMALL, worst)
        hypothesis = update.apply(hypothesis, question, question.total(source))
    raise AssertionError("never learned")


@pytest.mark.exhaustive
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_weights_make_no_more_mistakes_than_the_theorem_allows(alpha):
    update = Weights(alpha=alpha)
    for seed in range(5):
        truth = np.random.default_rng(seed).dirichlet(np.full(24, 0.1)).reshape(SMALL.shape()) * 1_000
        assert 0 < _mistakes(update, alpha, truth) <= update.steps(SMALL, alpha) == 4 * math.log(24) / alpha**2


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_perceptron_makes_no_more_mistakes_than_the_theorem_allows(alpha):
    for seed in range(5):
        truth = np.random.default_rng(seed).dirichlet(np.full(24, 2.0)).reshape(SMALL.shape()) * 1_000
        unevenness = 24 * float((truth**2).sum()) / 1_000**2
        update = Perceptron(alpha=alpha, unevenness=unevenness)
        assert _mistakes(update, alpha, truth) <= update.steps(SMALL, alpha) == unevenness / alpha**2


def test_each_step_of_the_perceptron_comes_nearer_by_what_the_proof_says():
    truth = Dense(SMALL, np.stack([np.zeros((4, 2)), np.zeros((4, 2)), np.full((4, 2), 125.0)]))
    alpha, update = 0.1, Perceptron(alpha=0.1)
    hypothesis = update.start(SMALL, 1_000.0)
    np.testing.assert_allclose(hypothesis.cells, 1_000 / 24)
    before = ((hypothesis.cells - truth.cells) ** 2).sum()
    learned = update.apply(hypothesis, HALVES, HALVES.total(truth))
    sign = 1 if HALVES.total(hypothesis) <= HALVES.total(truth) else -1
    step = sign * alpha * 1_000 / 24 * (HALVES.weights - HALVES.weights.mean()) / 4
    np.testing.assert_allclose(learned.cells - hypothesis.cells, np.broadcast_to(step[:, None, None], SMALL.shape()))
    assert abs(HALVES.total(hypothesis) - HALVES.total(truth)) >= 4 * alpha * 1_000
    assert before - ((learned.cells - truth.cells) ** 2).sum() >= (alpha * 1_000) ** 2 / 24
    back = update.apply(learned, HALVES, HALVES.total(learned) - sign)
    np.testing.assert_allclose(back.cells, hypothesis.cells, atol=1e-9)


@pytest.mark.parametrize("question", [LARGE_RED, HALVES])
def test_the_tuned_step_of_the_perceptron_is_the_shortest_that_meets_value_and_rows(question):
    start = Perceptron().start(SMALL, 240.0)
    learned = Perceptron().apply(start, question, 300.0)
    assert np.isclose(question.total(learned), 300)
    step = learned.cells - start.cells
    weights = np.broadcast_to(
        question.weights.T[:, :, None] if question is LARGE_RED else question.weights[:, None, None], SMALL.shape()
    )
    centred = weights - weights.mean()
    np.testing.assert_allclose(step, centred * (step * centred).sum() / (centred**2).sum(), atol=1e-12)
    assert np.isclose(learned.total, 240)


def test_the_perceptron_fits_a_whole_table_with_slack():
    question, truth = Marginal(("size",)), small_counts(1_000)
    learned = Perceptron().apply(Perceptron().start(SMALL, 1_000.0), question, question.total(truth))
    np.testing.assert_allclose(learned.marginal(("size",)), question.total(truth))
    near = Perceptron().apply(learned, question, question.total(truth) + 3, slack=5.0)
    np.testing.assert_array_equal(near.cells, learned.cells)


def test_a_question_of_weight_zero_teaches_nothing():
    nothing = Query(columns=("old",), weights=np.array([0, 0]))
    assert Weights().apply(HYPOTHESIS, nothing, 5.0) is HYPOTHESIS
    start = Perceptron().start(SMALL, 10.0)
    assert Perceptron().apply(start, nothing, 5.0) is start


@pytest.mark.parametrize("value", [0.0, 1.0, 90.0])
def test_cells_that_are_almost_empty_never_overflow(value):
    domain = Domain((Integers(name="a", low=0, high=2),))
    faint = Dense(domain, np.array([5e-324, 1e-310, 100.0]))
    one = Query(columns=("a",), weights=np.array([1, 0, 0]))
    for question, wanted in ((one, value), (Marginal(("a",)), np.array([value, 0.0, 100 - value]))):
        after = Weights().apply(faint, question, wanted, 0.5)
        assert np.isfinite(after.cells).all()
        assert after.cells.sum() == pytest.approx(100)
