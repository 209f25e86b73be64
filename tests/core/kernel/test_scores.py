"""Whatever public numbers a mechanism hands over, a score moves by no more than it says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.query import Query
from core.kernel.remembered import Remembered
from core.kernel.scores import DatabaseErrors, Errors, PrefixErrors, SignedErrors, TableErrors
from core.kernel.tables import LARGEST, Distances
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

LINE = Domain((Integers(name="x", low=0, high=2),))
SINGLES = (Marginals(order=1),)
EXTREMES = (-(2**63), -(2**63) + 1, -LARGEST, 0, LARGEST, 2**63 - 2, 2**63 - 1)
ONE_ROW_APART = (Cells(LINE, (0, 4, 7)), Cells(LINE, (1, 4, 7)))


def moved(scored) -> int:
    """The largest change of a score between two tables that differ by one row, in whole numbers without an end."""
    first, second = (scored(Remembered(counts)) for counts in ONE_ROW_APART)
    assert first.dtype == second.dtype == np.int64
    return max(abs(int(one) - int(other)) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("extreme", EXTREMES)
def test_no_public_total_makes_a_score_wrap(extreme: int) -> None:
    believed = np.array([extreme, 0, extreme], dtype=np.int64)
    assert moved(Errors(SINGLES, LINE, believed).scores) <= 1
    assert moved(SignedErrors(SINGLES, LINE, believed).scores) <= 1
    cuts = np.arange(4)
    for opposite in (False, True):
        ends = PrefixErrors("x", cuts, np.array([0, extreme, 0, extreme]), opposite).ends
        assert moved(lambda counts, ends=ends: np.subtract.outer(ends(counts), ends(counts)).ravel()) <= 1


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("weight", [1, 64, 2**40])
def test_no_reference_and_no_weight_makes_a_distance_wrap(extreme: int, weight: int) -> None:
    reference = np.array([extreme, 0, extreme], dtype=np.int64)
    errors = TableErrors((("x",), ("x",)), (reference, np.zeros(3, dtype=np.int64)), (weight, 1), (extreme, 0))
    assert moved(errors.scores) <= errors.sensitivity(Unit.row()) == weight
    assert moved(Distances((("x",),), (reference,)).counts) <= 1


@pytest.mark.parametrize("shape", [(1000, 3), (1, 3), (3, 1), (1,), ()])
def test_what_has_not_the_shape_of_its_table_is_refused(shape: tuple[int, ...]) -> None:
    """Numpy would repeat the table, so that one row would count a thousand times."""
    counts = Remembered(ONE_ROW_APART[0])
    with pytest.raises(BadParameter, match="weights"):
        Query(columns=("x",), weights=np.ones(shape, dtype=np.int64)).counts(counts)
    with pytest.raises(BadParameter, match="references"):
        Distances((("x",),), (np.zeros(shape, dtype=np.int64),)).counts(counts)


def test_a_database_whose_answers_never_come_has_a_score_of_its_own_that_is_the_same_for_all_tables() -> None:
    def answers() -> Iterator[tuple[int, np.ndarray]]:
        yield 1, np.array([[1, 1, 0]])

    errors = DatabaseErrors(SINGLES, LINE, 2, 3, answers, None)
    for counts in ONE_ROW_APART:
        scores = errors.scores(Remembered(counts))
        assert scores[[0, 2]].tolist() == [-2 * LARGEST] * 2
        assert scores[1] > -100
