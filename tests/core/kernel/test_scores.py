"""Whatever public numbers a mechanism hands over, a score moves by no more than it says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.query import Query
from core.kernel.remembered import Remembered
from core.kernel.scores import (
    DatabaseErrors,
    Errors,
    PrefixErrors,
    SignedErrors,
    TableErrors,
    grid_of,
    private_totals,
    public_totals,
)
from core.kernel.tables import LARGEST, Distances
from core.privacy.unit import Unit
from core.queries.linear import Linear
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


FOURTHS = Linear(columns=("x",), weights=((0, 1, 4),), whole=4)
TABLE = Remembered(Cells(LINE, (3, 4, 7)))


def test_scores_by_hand() -> None:
    """Totals 3, 4, 7 of one class and 32/4 of another, on the finer grid of the two."""
    classes = (*SINGLES, FOURTHS)
    believed = np.array([8, 20, 28, 35])
    assert Errors(classes, LINE, believed).scores(TABLE).tolist() == [4, 4, 0, 3]
    assert SignedErrors(classes, LINE, believed).scores(TABLE).tolist() == [-4, 4, 0, 3, 4, -4, 0, -3]
    for unit in (Unit.row(), Unit.id("who", 3), Unit.id("who", 3, "replace")):
        assert Errors(classes, LINE, believed).sensitivity(unit) == 4 * unit.limit
        assert SignedErrors(classes, LINE, believed).sensitivity(unit) == 4 * unit.limit
        assert PrefixErrors("x", np.arange(4), np.zeros(4, dtype=int)).sensitivity(unit) == unit.limit
        assert DatabaseErrors(classes, LINE, 5, 1, lambda: iter(()), None).sensitivity(unit) == 5 * 4 * unit.limit
    assert grid_of(classes, LINE) == 4 and grid_of(SINGLES, LINE) == 1


def test_another_schema_has_another_grid() -> None:
    with pytest.raises(BadParameter, match="domain"):
        private_totals(TABLE, (*SINGLES, FOURTHS), 2)
    assert private_totals(TABLE, (*SINGLES, FOURTHS), 4).tolist() == [12, 16, 28, 32]


def test_scores_of_tables_by_hand() -> None:
    references = (np.array([1, 4, 9]), np.array([0, 0, 0]))
    errors = TableErrors((("x",), ("x",)), references, (3, -5), (1, 20))
    assert errors.scores(TABLE).tolist() == [3 * (4 - 1), -5 * (14 - 20)]
    assert errors.sensitivity(Unit.row("replace")) == 10
    assert errors.sensitivity(Unit.id("who", 3)) == 15
    far = TableErrors((("x",),), (np.array([LARGEST, 0, 0]),), (2**40,), (0,))
    assert far.scores(TABLE).tolist() == [LARGEST], "clipped to what the weight leaves room for"
    none = TableErrors((("x",),), (np.array([1, 4, 9]),), (0,), (1,))
    assert none.scores(TABLE).tolist() == [0]


def test_prefixes_by_hand() -> None:
    cuts, believed = np.array([0, 1, 2, 3]), np.array([1, 1, 9, 10])
    assert PrefixErrors("x", cuts, believed).ends(TABLE).tolist() == [-1, 2, -2, 4]
    assert PrefixErrors("x", cuts, believed, True).ends(TABLE).tolist() == [1, -2, 2, -4]
    crowd = Remembered(Cells(LINE, (0, LARGEST + 5, 0)))
    assert PrefixErrors("x", cuts, np.zeros(4, dtype=int)).ends(crowd).tolist() == [0, 0, LARGEST, LARGEST]


@pytest.mark.parametrize(("told", "rows"), [(None, 14), (10, 10), (-3, 0)])
def test_scores_of_databases_by_hand(told: int | None, rows: int) -> None:
    """m = 2 rows: -max |2 q(x) - N q(y)|; answers beyond 0 and m are taken for these."""
    blocks = [(0, np.array([[2, 0, 0], [1, 1, 0]])), (2, np.array([[-4, 9, 1]]))]
    found = DatabaseErrors(SINGLES, LINE, 2, 3, lambda: iter(blocks), told).scores(TABLE)
    truth = 2 * np.array([3, 4, 7])
    expected = [-np.abs(truth - rows * np.array(y)).max() for y in ([2, 0, 0], [1, 1, 0], [0, 2, 1])]
    assert found.tolist() == expected


def test_totals_are_clipped_where_products_would_leave_64_bits() -> None:
    crowd = Remembered(Cells(LINE, (2**61, 0, 2**60 - 8)))
    assert private_totals(crowd, (*SINGLES, FOURTHS), 4).tolist() == [LARGEST, 0, LARGEST, LARGEST]
    assert private_totals(crowd, SINGLES, 1).tolist() == [LARGEST, 0, 2**60 - 8]
    assert public_totals(np.array([2**62, -(2**62), 5])).tolist() == [LARGEST, -LARGEST, 5]
    assert LARGEST == 2**60


def test_databases_of_one_row_and_of_many_rows() -> None:
    alone = DatabaseErrors(SINGLES, LINE, 1, 1, lambda: iter([(0, np.array([[1, 0, 0]]))]), 10)
    assert alone.scores(TABLE).tolist() == [-7]
    crowd, nobody = Remembered(Cells(LINE, (2**61, 0, 0))), [(0, np.zeros((1, 3), dtype=np.int64))]
    many = DatabaseErrors(SINGLES, LINE, 4, 1, lambda: iter(nobody), 0)
    assert many.scores(crowd).tolist() == [-2 * LARGEST], "products stay in 62 bits"
    everybody = [(0, np.array([[0, 4, 0]]))]
    known = DatabaseErrors(SINGLES, LINE, 4, 1, lambda: iter(everybody), 2**62)
    assert known.scores(TABLE).tolist() == [16 - 2 * LARGEST]
    for rows, told in ((0, None), (-1, None), (1.0, None), (True, None), (2, 1.0)):
        with pytest.raises(BadParameter, match="rows"):
            DatabaseErrors(SINGLES, LINE, rows, 1, lambda: iter(()), told)  # type: ignore[arg-type]
