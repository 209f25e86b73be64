"""Average errors of a mixture of databases: exact numbers, on any counts, and nothing that a mechanism can bend."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.databases.mixture_errors import MOST_WEIGHT, MixtureErrors
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.table.counts import Cells
from tests.core.kernel.kinds import BOTH, DOMAIN, STATISTICS

MOST = 2**36
"""Totals beyond this are clipped."""


def remembered(*cells: int) -> Remembered:
    return Remembered(Cells(DOMAIN, np.array(cells)))


def test_scores_are_weighted_sums_of_distances_on_the_common_grid():
    # The largest count is 7, the two largest 12, half of |7 - (5 + 1)| is 1/2; in halves: 14, 24, 1.
    believed = np.array([[10, 20, 3], [14, 30, 0], [999, 999, 999]])
    errors = MixtureErrors((STATISTICS,), DOMAIN, believed, np.array([3, 1, 0]))
    np.testing.assert_array_equal(errors.scores(remembered(7, 5, 1, 2)), [3 * 4 + 0, 3 * 4 + 6, 3 * 2 + 1])
    assert errors.sensitivity(Unit.row()) == 4 * 2
    assert errors.sensitivity(Unit.id("person", 3)) == 3 * 4 * 2


def test_the_sensitivity_is_reached():
    errors = MixtureErrors((STATISTICS,), DOMAIN, np.zeros((2, 3), dtype=int), np.array([3, 1]))
    moved = errors.scores(remembered(8, 5, 1, 2)) - errors.scores(remembered(7, 5, 1, 2))
    assert moved.max() == errors.sensitivity(Unit.row())


def test_nothing_that_is_handed_over_wraps_around():
    """Weights that sum to the most there is, and totals as large as 64 bits hold, on both sides."""
    believed = np.array([[-(2**63), -(2**63), -(2**63)], [2**63 - 1, 2**63 - 1, 2**63 - 1]])
    errors = MixtureErrors((STATISTICS,), DOMAIN, believed, np.array([MOST_WEIGHT - 1, 1]))
    found = errors.scores(remembered(2**60, 0, 0, 0))
    np.testing.assert_array_equal(found, [(MOST_WEIGHT - 1) * 2 * MOST] * 3)
    assert (found > 0).all()


@pytest.mark.parametrize(
    ("believed", "weights", "name"),
    [
        (np.zeros((2, 3), dtype=int), [1, -1], "weights"),
        (np.zeros((2, 3), dtype=int), [0, 0], "weights"),
        (np.zeros((2, 3), dtype=int), [MOST_WEIGHT, 1], "weights"),
        (np.zeros((4, 3), dtype=int), [2**62] * 4, "weights"),
        (np.zeros((2, 3), dtype=int), [1], "weights"),
        (np.zeros((2, 3), dtype=int), [[1], [1]], "weights"),
        (np.zeros(2, dtype=int), [1, 1], "weights"),
        (np.zeros((2, 3), dtype=int), [0.5, 0.5], "weights"),
        (np.zeros((2, 3)), [1, 1], "believed"),
    ],
)
def test_bad_mixtures_are_refused(believed, weights, name):
    with pytest.raises(BadParameter) as refused:
        MixtureErrors((STATISTICS,), DOMAIN, believed, np.array(weights))
    assert refused.value.parameter == name


def test_a_single_database_may_have_the_smallest_weight():
    errors = MixtureErrors((STATISTICS,), DOMAIN, np.zeros((1, 3), dtype=int), np.array([1]))
    assert (errors.weight, errors.sensitivity(Unit.row())) == (1, 2)


def test_one_number_for_every_question():
    """Numpy would repeat a single number for all questions."""
    errors = MixtureErrors((STATISTICS,), DOMAIN, np.zeros((2, 1), dtype=int), np.array([1, 1]))
    with pytest.raises(BadParameter, match="every question"):
        errors.scores(remembered(1, 0, 0, 0))


def test_only_registered_classes_see_the_counts():
    class Own(Conjunctions):
        pass

    with pytest.raises(TypeError, match="registered"):
        MixtureErrors((Own(order=2, columns=BOTH),), DOMAIN, np.zeros((1, 4), dtype=int), np.array([1]))


def test_what_was_checked_is_what_is_compared():
    weights, believed = np.array([1, 2]), np.zeros((2, 3), dtype=int)
    errors = MixtureErrors((STATISTICS,), DOMAIN, believed, weights)
    weights[:], believed[:] = -100, 7
    np.testing.assert_array_equal(errors.scores(remembered(1, 0, 0, 0)), [6, 6, 3])
