"""The audit proves no more than what is claimed of any mechanism, and nearly all of it where a claim is tight."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from core import registry
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.kernel.sparse_vector import AboveThreshold, NumericSparse
from core.privacy import samplers
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.counts import Cells
from core.theory.composition import epsilon_for
from tests.privacy.kit.audit import Blocks, exceeds, lower_limit
from tests.privacy.kit.cases import APPROXIMATE, MICRO, PURE, few_points, on_micro
from tests.privacy.kit.sessions import VARIANTS, built, quick_walks
from tests.privacy.mutants.broken_sparse import no_query_noise
from tests.privacy.mutants.checks import unpaid

NOISE = Noise()
MANY = 10**6
RUNS = {"histogram": 3_000, "online-histogram": 3_000, "online-laplace": 3_000}
"""Of the mechanisms that run in a fraction of a millisecond; others run `FEW` times on each table."""
FEW = 160
"""Runs that can show an epsilon of 1.5."""
TABLES = ((3, 1, 0, 2), (4, 1, 0, 2))
ASKED = [
    Query(columns=columns, weights=np.array(weights))
    for columns, weights in ((("a", "b"), [[1, 0], [0, 0]]), (("a",), [1, 0]), (("b",), [1, 0]))
]


def two(draw, *hidden):
    return lower_limit(*(draw(value) for value in hidden))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_laplace_noise_is_as_private_as_it_says_and_hardly_more(epsilon):
    def draw(value):
        return NOISE.laplace(np.full(MANY, value, dtype=np.int64), epsilon=epsilon, sensitivity=1)

    assert 0.9 * epsilon <= two(draw, 0, 1) <= epsilon


def responses(answer: bool, epsilon: Fraction, runs: int) -> np.ndarray:
    """Randomised responses by fair and biased coins: the truth has weight 1, the opposite exp(-epsilon)."""
    said = np.full(runs, -1)
    while (open_ := np.flatnonzero(said < 0)).size:
        honest = samplers.words(open_.size) & np.uint64(1) == 0
        price = np.full(open_.size, epsilon.numerator, dtype=np.int64)
        lies = ~honest & samplers.bernoulli_exp(price, epsilon.denominator)
        said[open_[honest]], said[open_[lies]] = answer, not answer
    return said


@pytest.mark.exhaustive
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_randomised_response_is_as_private_as_it_says_and_hardly_more(epsilon):
    found = two(lambda answer: responses(answer, epsilon, MANY), False, True)
    assert 0.9 * epsilon <= found <= epsilon


@pytest.mark.exhaustive
def test_single_coins_are_those_of_the_blocks():
    heads = np.array([[NOISE.coin(Fraction(1, 2))] for _ in range(4_000)])
    blocks = samplers.bernoulli_exp(np.ones(4_000, dtype=np.int64), 2).reshape(-1, 1)
    assert lower_limit(heads, blocks) < 0.05


@pytest.mark.exhaustive
def test_gaussian_noise():
    def draw(value):
        return NOISE.gaussian(np.full(MANY, value, dtype=np.int64), rho=Fraction(1, 2), sensitivity_squared=1)

    claimed = epsilon_for(Cost((Gaussian(Fraction(1, 2)),)), 0.01)
    assert 0.5 * claimed < lower_limit(draw(0), draw(1), delta=0.01) <= claimed


@pytest.mark.exhaustive
def test_noise_of_two_numbers_together():
    """Both move by one. One draw is one cube, so these are a tenth of the runs, which show most of the epsilon."""

    def draw(value):
        hidden = np.full(2, value)
        drawn = (NOISE.cube(hidden, epsilon=Fraction(1), sensitivity=1) for _ in range(MANY // 10))
        return np.array([both.min() for both in drawn])

    assert 0.7 <= two(draw, 0, 1) <= 1


@pytest.mark.exhaustive
def test_selection():
    """One candidate gains a point and thirty lose one: nearly the whole epsilon."""

    def draw(gain):
        scores = np.array([gain] + [1 - gain] * 30)
        return np.array([NOISE.select(scores, epsilon=Fraction(2), sensitivity=1) == 0 for _ in range(8_000)])

    assert 0.2 <= two(draw, 0, 1) <= 2


def first_above(machine: NumericSparse, values: tuple[int, ...], runs: int) -> np.ndarray:
    """Which value came out above first (the number of values if none did), and whether it was the last one."""
    noise = Blocks()

    def once() -> int:
        run = machine.start(noise, unpaid)
        for place, value in enumerate(values):
            if run.test(value, 0, noise, unpaid):
                return place
        return len(values)

    places = np.array([once() for _ in range(runs)])
    return np.column_stack([places, places == len(values) - 1])


def test_sparse_vector(monkeypatch):
    run = AboveThreshold.of(Fraction(2), sensitivity=1)
    machine = NumericSparse(run=run, runs=1, number=Laplace(Fraction(1)))
    neighbours = (0,) * 6 + (1,), (1,) * 6 + (0,)
    assert lower_limit(*(first_above(machine, values, 10_000) for values in neighbours)) <= 2
    monkeypatch.setattr(AboveThreshold, "above", no_query_noise)
    assert lower_limit(*(first_above(machine, values, 4_000) for values in neighbours)) > 2


def released(mechanism, table, runs: int, noise: Blocks) -> np.ndarray:
    """What each run releases: the number of rows and every cell, or all answers of a session."""
    counts, found = Cells(MICRO, np.array(table)), []
    cost = mechanism.cost(MICRO, counts.unit)
    for _ in range(runs):
        kernel = Kernel(counts, noise, cost)
        if mechanism.name in registry.offline:
            model = mechanism.run(kernel)
            found.append([model.total, *np.ravel(model.marginal(MICRO.names))])
        else:
            state, line = mechanism.open(kernel, None), []
            for question in ASKED:
                state, reply = mechanism.answer(state, question, kernel)
                rows = reply.count / reply.share if reply.share else 0.0
                line += [reply.count, reply.share, rows, float(reply.kind == "hard")]
            found.append(line)
    return np.array(found)


def is_caught(mechanism, runs: int, factor=Fraction(1)) -> bool:
    """Whether so many runs on each table prove more than an epsilon of 1."""
    with few_points(), quick_walks():
        sources = [partial(released, mechanism, table, noise=Blocks(factor)) for table in TABLES]
        return exceeds(1.0, *sources, runs=runs, delta=float(mechanism.budget.delta))


def mechanism_of(name: str, budget: Budget, place: int = 0):
    if name in registry.offline:
        return on_micro(name, budget)
    return built(name, budget, {**VARIANTS[name][place], **SHORT.get(name, {})}, MICRO, Unit.row())


SHORT = {name: {"questions": len(ASKED)} for name in registry.interactive if name != "online-histogram"}


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("name", registry.mechanisms)
def test_every_mechanism_is_caught_without_its_noise(name):
    mechanism = mechanism_of(name, PURE) or mechanism_of(name, APPROXIMATE)
    assert is_caught(mechanism, FEW, Fraction(1, 2_000))


@pytest.mark.slow
@pytest.mark.parametrize("budget", [PURE, APPROXIMATE], ids=["pure", "approximate"])
@pytest.mark.parametrize("name", registry.mechanisms)
def test_no_mechanism_is_caught(name, budget):
    if mechanism := mechanism_of(name, budget):
        assert not is_caught(mechanism, 2 * RUNS.get(name, FEW))
