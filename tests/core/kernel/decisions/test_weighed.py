"""Weighed sums of cells at their limits: exact in either arithmetic, clipped where they would leave 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.decisions.weighed import Weighed
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells


def weighed(weights: list[list[int]], offsets: list[int] | None = None, present: bool = False) -> Weighed:
    return Weighed(("b",), np.array(weights), np.array(offsets or [0] * len(weights)), present)


def scores(asked: Weighed, *cells: int) -> list[int]:
    return asked.scores(Remembered(Cells(Domain((Booleans(name="b"),)), np.array(cells)))).tolist()


@pytest.mark.parametrize("total", [2**53 - 1, 2**53, 2**53 + 1, 2**54 + 1])
def test_sums_are_exact_below_and_above_what_floats_hold(total: int) -> None:
    assert scores(weighed([[1, 1], [0, 1]]), total - 1, 1) == [total, 1]
    assert scores(weighed([[3, 3], [3, 1]]), 0, total) == [3 * total, total]


@pytest.mark.parametrize(("weight", "most"), [(1, LARGEST // 2), (3, LARGEST // 6), (-7, LARGEST // 14)])
def test_counts_are_clipped_to_what_all_cells_could_weigh_together(weight: int, most: int) -> None:
    asked = weighed([[weight, 0], [weight, weight]])
    for held, clipped in ((most - 1, most - 1), (most, most), (most + 1, most), (2**62, most)):
        assert scores(asked, held, held) == [weight * clipped, 2 * weight * clipped]


def test_numbers_beside_the_weights_are_clipped_too() -> None:
    asked = weighed([[0, 1], [0, 1], [0, 1]], [2**62, -(2**62), LARGEST - 1])
    assert scores(asked, 5, 1) == [LARGEST + 1, 1 - LARGEST, LARGEST]


def test_counts_below_nothing_are_nothing() -> None:
    class Negative:
        def marginal(self, columns: tuple[str, ...]) -> np.ndarray:
            return np.array([-7, 2])

    assert weighed([[1, 1]]).scores(Negative()).tolist() == [2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "largest"), [([[0, 0]], 1), ([[1, 0]], 1), ([[2, 5]], 5), ([[-2, -5]], 5), ([[0, -6], [-2, 0]], 6)]
)
def test_weights_of_one_sign_are_taken_and_the_largest_counts(weights: list[list[int]], largest: int) -> None:
    assert weighed(weights).sensitivity(Unit.id("who", 3)) == 3 * largest


@pytest.mark.parametrize(
    ("weights", "offsets"),
    [
        ([1, 2], [0, 0]),
        ([[[1], [2]]], [0]),
        ([[1, 2]], [0, 0]),
        ([[1, 2]], [[0]]),
        ([[1, -1]], [0]),
        ([[1, 2], [-1, 0]], [0, 0]),
    ],
    ids=str,
)
def test_weights_of_another_shape_or_of_both_signs_are_refused(weights: object, offsets: object) -> None:
    with pytest.raises(BadParameter, match="weights"):
        Weighed(("b",), np.array(weights), np.array(offsets))


def test_cells_that_count_once_do_so_however_many_rows_they_hold() -> None:
    assert scores(weighed([[2, 3], [0, 3]], [1, -1], present=True), 1, 2**62) == [6, 2]
    assert scores(weighed([[2, 3]], present=True), 0, 0) == [0]


def test_the_largest_weight_of_all_is_not_taken_for_a_small_one() -> None:
    """In 64 bits -2^63 is its own opposite: a score would move by more than is claimed."""
    asked = weighed([[-(2**63), 0]])
    assert asked.sensitivity(Unit.row()) == 2**63
    assert scores(asked, 0, 0) == scores(asked, 1, 0) == [0]
