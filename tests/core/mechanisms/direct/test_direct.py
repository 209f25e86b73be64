"""Laplace and Gaussian noise on every table."""

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.laplace import LaplaceTables
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL, small_counts
from tests.kernels import run

PAIRS = (Marginals(order=2),)


@pytest.mark.parametrize(
    "mechanism",
    [LaplaceTables(queries=PAIRS, budget=Budget(1)), GaussianTables(queries=PAIRS, budget=Budget(1, 1e-9))],
    ids=["laplace", "gaussian"],
)
def test_answers_are_within_the_expected_error(mechanism):
    counts, expected = small_counts(), mechanism.expected(SMALL, Unit.row())
    errors = np.concatenate(
        [
            (model.marginal(pair) - counts.marginal(pair)).ravel()
            for model in (run(mechanism, counts, Noise()) for _ in range(5))
            for pair in PAIRS[0].tables(SMALL)
        ]
    )
    assert np.abs(errors).mean() < 1.2 * expected.mean
    assert np.abs(errors).max() < 1.5 * expected.worst


def test_more_budget_means_less_error():
    sizes = [LaplaceTables(queries=PAIRS, budget=Budget(epsilon)) for epsilon in (0.1, 1, 10)]
    errors = [mechanism.expected(SMALL, Unit.row()).mean for mechanism in sizes]
    assert errors[0] == pytest.approx(10 * errors[1]) == pytest.approx(100 * errors[2])


def test_a_unit_of_many_rows_costs_accuracy():
    laplace = LaplaceTables(queries=PAIRS, budget=Budget(1))
    assert laplace.expected(SMALL, Unit.id("p", 5)).mean == pytest.approx(5 * laplace.expected(SMALL, Unit.row()).mean)


def test_progress_says_what_happens():
    stages = []
    laplace = LaplaceTables(queries=PAIRS, budget=Budget(1))
    run(laplace, small_counts(), Noise(), lambda stage, share: stages.append((stage, share)))
    assert [share for _, share in stages] == sorted(share for _, share in stages)
    assert {stage for stage, _ in stages} == {"Measuring tables", "Fitting records"}


def test_gaussian_noise_needs_a_delta():
    with pytest.raises(BadParameter, match="laplace"):
        GaussianTables(queries=PAIRS, budget=Budget(1)).check(SMALL, Unit.row())


def test_too_many_counts_are_refused_with_their_number():
    wide = Domain(tuple(Integers(name=name, low=0, high=9_999) for name in "abc"))
    with pytest.raises(Refused, match="300,000,000"):
        LaplaceTables(queries=PAIRS, budget=Budget(1)).check(wide, Unit.row())
