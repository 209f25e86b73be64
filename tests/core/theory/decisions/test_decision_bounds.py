"""The bounds of chapter 7: their shapes, and that upper ones lie above lower ones."""

from __future__ import annotations

import math

import pytest

from core.theory.decisions import decision_bounds as theory


@pytest.mark.parametrize("epsilon", [0.02, 0.05, 0.08])
@pytest.mark.parametrize("size", [100, 2_000, 10**6])
def test_nothing_promises_more_than_is_possible(epsilon, size):
    assert theory.cut_limit(size, epsilon) <= 20 * math.log(size) / epsilon
    assert theory.vertex_cover_limit(epsilon) <= theory.vertex_cover_thesis(epsilon)
    assert theory.vertex_cover_thesis(epsilon) <= theory.weighted_vertex_cover_thesis(epsilon)
    assert theory.set_cover_limit(size, epsilon) <= theory.set_cover_ratio(size, size, epsilon)
    each = epsilon / (theory.k_median_steps(5, size) + 1)
    assert theory.k_median_limit(1.0, 5, size, epsilon) <= theory.k_median_surplus(5, size, each)
    assert theory.projects_limit(5, size, epsilon) <= theory.projects_loss([epsilon / 5] * 5, size, 0.05)


def test_figures_by_hand():
    assert theory.selection_loss(2, 0.5, 100, 0.1) == pytest.approx(4 * math.log(1000))
    assert theory.vertex_cover_ratio(8 / 1) == 18 == theory.vertex_cover_thesis(1)
    assert theory.hallucinated_ratio(1, 0.5) == pytest.approx(4 * (1 + 1 / math.log(2)))
    assert theory.greedy_delta(1, theory.set_cover_rate(1, 1e-6)) < 1e-12, "the thesis' rate is far below what holds"
    assert theory.set_cover_rate(1, 1e-6) == pytest.approx(1 / (2 * math.log(math.e * 1e6)))
    assert theory.truthful_gain(0.1, 1e-3) == pytest.approx(0.201)
    assert theory.facility_location_limit(400) == 1
    assert theory.learner_loss(1, 2, 3.0, 1) == 1.5


def test_padding_needs_enough_vertices():
    """28 of them at a rate of 1: 27 is at least 8 ln 28."""
    assert [theory.padding_helps(size, 1.0) for size in (20, 27, 28, 40)] == [False, False, True, True]
