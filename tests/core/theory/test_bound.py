"""The three directions of every theorem, and what is refused."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import theory
from core.base.errors import BadParameter
from core.theory import ExponentialBound, HalfspacesBound, NetBound, SmallDbBound, bounds
from core.theory.bound import fewest, smallest
from core.theory.iterative import IterativeBound
from tests.core.theory.cases import CASES, QUERIES, UNIVERSE

pytestmark = pytest.mark.crossing(keep=11)

ALPHAS = st.floats(0.02, 0.9)
EPSILONS = st.floats(0.01, 10)
every_case = pytest.mark.parametrize("bound", CASES.values(), ids=CASES)
# Each example solves a theorem by bisection, and Gaussian noise asks the accountant at every step.
few = settings(max_examples=8, deadline=None)


@every_case
@few
@given(alpha=ALPHAS, epsilon=EPSILONS)
def test_rows_are_enough_and_one_fewer_is_not(bound, alpha, epsilon):
    rows = bound.rows(alpha, epsilon)
    assert bound.holds(alpha=alpha, rows=rows, epsilon=epsilon)
    fewer = rows - max(1, rows >> 50)
    assert fewer < 1 or not bound.holds(alpha=alpha, rows=fewer, epsilon=epsilon)


@every_case
@few
@given(alpha=ALPHAS, epsilon=EPSILONS)
def test_error_is_the_least_that_holds(bound, alpha, epsilon):
    rows = 2 * bound.rows(alpha, epsilon)
    least = bound.error(rows, epsilon)
    assert bound.holds(alpha=least, rows=rows, epsilon=epsilon)
    assert not bound.holds(alpha=least * (1 - 1e-9), rows=rows, epsilon=epsilon)


@pytest.mark.crossing(keep=11)
@every_case
@few
@given(alpha=ALPHAS, epsilon=EPSILONS, more=st.floats(1.01, 3))
def test_error_and_epsilon_invert_rows_and_more_of_anything_helps(bound, alpha, epsilon, more):
    """Both of the same solutions, each of which takes a bisection."""
    rows = bound.rows(alpha, epsilon)
    least, spent = bound.error(rows, epsilon), bound.epsilon(alpha, rows)
    assert least <= alpha * (1 + 1e-9)
    assert bound.rows(least, epsilon) <= rows
    assert spent <= epsilon * (1 + 1e-9)
    assert bound.rows(alpha, spent) <= rows
    if rows > 1000:  # one row is then too little to matter
        assert least == pytest.approx(alpha, rel=5e-3)
        assert spent == pytest.approx(epsilon, rel=5e-3)
    assert bound.rows(alpha, epsilon * more) <= rows
    assert bound.rows(min(alpha * more, 0.95), epsilon) <= rows
    assert bound.error(rows * 2, epsilon) <= least <= bound.error(rows, epsilon / more)
    assert bound.epsilon(alpha, rows * 2) <= spent


@every_case
@pytest.mark.parametrize("beta", [0.5, 1e-3, 1e-12])
def test_a_smaller_failure_probability_asks_for_more_rows(bound, beta):
    assert replace(bound, beta=beta).rows(0.1, 1) > replace(bound, beta=min(0.99, 3 * beta)).rows(0.1, 1)


@every_case
def test_one_row_promises_nothing(bound):
    if bound is not CASES["exponential"]:
        assert bound.error(1, 0.001) == 1.0


@every_case
@pytest.mark.parametrize("alpha", [0, 1, 1.5, -0.1, math.nan, math.inf, True, "0.1", None])
def test_an_accuracy_outside_0_to_1_is_refused(bound, alpha):
    for call in (
        lambda: bound.rows(alpha, 1),
        lambda: bound.epsilon(alpha, 10),
        lambda: bound.holds(alpha=alpha, rows=10, epsilon=1),
    ):
        with pytest.raises(BadParameter, match=r"^alpha: must be"):
            call()


@pytest.mark.parametrize("rows", [0, -5, 2.5, math.nan, True, "100", None])
def test_rows_below_one_are_refused(rows):
    for call in (lambda: CASES["smalldb"].error(rows, 1), lambda: CASES["smalldb"].epsilon(0.1, rows)):
        with pytest.raises(BadParameter, match=r"^rows: must be a whole number of at least 1"):
            call()


@pytest.mark.parametrize("epsilon", [0, -1, 1001, math.inf, math.nan, True, "1"])
def test_a_bad_epsilon_is_refused(epsilon):
    for call in (lambda: CASES["smalldb"].error(10, epsilon), lambda: CASES["smalldb"].rows(0.1, epsilon)):
        with pytest.raises(BadParameter, match=r"^epsilon: must be"):
            call()


@pytest.mark.parametrize("beta", [0, 1, -0.1, 2, math.nan, "0.1"])
@pytest.mark.parametrize("name", sorted(bounds))
def test_a_bad_failure_probability_is_refused(name, beta):
    for build in bounds[name]:
        with pytest.raises(BadParameter, match=r"^beta: must be"):
            build(**{**some_arguments(build), "beta": beta})


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("delta", 1.0),
        ("delta", -1e-9),
        ("log_universe", 0.0),
        ("log_universe", math.inf),
        ("log_queries", -1.0),
        ("log_queries", math.inf),
        ("log_net", math.inf),
        ("net_alpha", 1.0),
        ("vc", -1),
        ("vc", 2.5),
        ("fat", -1.0),
        ("bits", 0),
        ("bits", (0,)),
        ("bits", ()),
        ("pieces", 0),
        ("dimensions", 0),
        ("margin", 0.0),
        ("margin", 1.0),
        ("constant", 0.0),
        ("unevenness", 0.5),
        ("unevenness", math.inf),
        ("cell_limit", 0),
    ],
)
def test_a_bad_size_is_refused_by_name(parameter, value):
    builds = {build for group in bounds.values() for build in group if parameter in inspect.signature(build).parameters}
    assert builds
    for build in builds:
        with pytest.raises(BadParameter) as caught:
            build(**{**some_arguments(build), parameter: value})
        assert caught.value.parameter == parameter


def test_gaussian_noise_and_the_net_of_all_tables_need_a_delta():
    for build in (theory.GaussianBound, theory.iterative_median_any):
        with pytest.raises(BadParameter, match="delta"):
            build(**{**some_arguments(build), "delta": 0.0})


def test_too_few_rows_for_any_epsilon_names_how_many_would_do():
    bound = ExponentialBound(log_candidates=math.log(1000), beta=0.05)
    with pytest.raises(BadParameter, match=r"^rows: are too few .* epsilon 1 needs 1,981 rows"):
        bound.epsilon(0.01, 1)
    assert bound.rows(0.01, 1) == 1981


def test_the_nets_own_error_cannot_be_bought_away():
    bound = NetBound(log_net=5.0, net_alpha=0.1)
    for call in (lambda: bound.rows(0.1, 1), lambda: bound.epsilon(0.05, 10**9)):
        with pytest.raises(BadParameter, match=r"alpha: must be above 0\.1,"):
            call()
    assert 0.1 < bound.error(10**12, 1) < 0.1001


def test_numbers_from_numpy_are_numbers():
    bound = CASES["smalldb"]
    assert bound.error(np.int64(10**9), np.float64(1)) == bound.error(10**9, 1)


def test_rows_may_have_thousands_of_digits():
    bound = HalfspacesBound(dimensions=3, bits=8, margin=0.5)
    rows = bound.rows(0.1, 1)
    assert 10_000 < math.log10(rows) < 30_000
    assert bound.error(rows, 1) == pytest.approx(0.1, rel=1e-6)


def test_a_universe_larger_than_any_float_is_an_ordinary_number():
    bound = theory.iterative_perceptron(log_universe=2000 * math.log(2), log_queries=QUERIES, delta=1e-9)
    assert bound.updates(0.1, 10) == math.inf
    rows = bound.rows(0.1, 1)
    assert math.log(rows) > 1000 * math.log(2)
    assert bound.error(rows, 1) == pytest.approx(0.1, rel=1e-6)
    assert SmallDbBound(log_universe=1000 * math.log(2), log_queries=QUERIES).rows(0.1, 1) < 10**9


def test_smallest_and_fewest_find_the_first_place():
    for threshold in (1e-7, 0.3, 0.999):
        found = smallest(lambda value, limit=threshold: value >= limit, 1e-9, 1.0)
        assert found >= threshold and found == pytest.approx(threshold, rel=1e-12)
    assert smallest(lambda value: True, 0.25, 1.0) == 0.25
    assert smallest(lambda value: False, 0.25, 1.0) is None
    for threshold in (1, 2, 3, 4, 5, 1000, 2**40 + 1):
        assert fewest(lambda count, limit=threshold: count >= limit) == threshold


def test_every_bound_says_where_it_is_proved_and_shares_one_shape():
    for name, builds in bounds.items():
        for build in builds:
            assert inspect.getdoc(build), name
            bound = build(**some_arguments(build))
            assert bound.theorem
            assert not bound.up_to_constants
            assert bound.rows(0.1, 1) > 1
    assert CASES["smalldb fat, paper"].up_to_constants
    assert CASES["weights printed"].up_to_constants


def test_the_iterative_bounds_are_one_theorem():
    assert {type(CASES[name]) for name in ("weights", "perceptron", "median", "median any")} == {IterativeBound}


def some_arguments(build) -> dict:
    """A value for each argument of a bound that has no default."""
    values = {
        "log_universe": UNIVERSE, "log_queries": QUERIES, "log_net": 10.0, "net_alpha": 0.01, "vc": 3, "fat": 3.0,
        "bits": (4, 4) if build is theory.RectanglesBound else 8, "dimensions": 2, "margin": 0.5,
    }  # fmt: skip
    parameters = inspect.signature(build).parameters
    return {name: values[name] for name, it in parameters.items() if it.default is inspect.Parameter.empty}
