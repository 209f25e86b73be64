"""Figures of released answers agree with errors that are computed plainly, and hand-made shares are checked."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.released import MOST_ROWS, STEPS, AnswerErrors, ShareDistances, _checked, _on_grid, _sum
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts

PAIRS = (("colour", "size"), ("size", "old"))


def in_steps(shares: np.ndarray) -> np.ndarray:
    return np.floor(shares * STEPS).astype(np.int64)


@pytest.mark.parametrize(
    "query",
    [
        Marginals(order=2),
        Conjunctions(order=2, columns=("old",), values=(("colour", 1),)),
        Linear(columns=("size",), weights=((1, 2**30, 5, 7), (2**29, 3, 0, 2**30)), whole=2**30),
    ],
)
def test_answers_are_compared_as_shares_in_rows(query):
    truth, released = small_counts(5_000), small_counts(800, seed=3)
    answers = query.answers(released)
    largest, mean = AnswerErrors(query, in_steps(answers)).counts(Remembered(truth)) / STEPS
    errors = 5_000 * np.abs(query.answers(truth) - answers)
    assert largest == pytest.approx(errors.max(), abs=1e-3)
    assert mean == pytest.approx(errors.mean(), abs=1e-3)


def test_tables_are_compared_by_their_cells_and_by_half_their_sums():
    truth, released = small_counts(5_000), small_counts(800, seed=3)
    shares = tuple(in_steps(released.marginal(columns) / 800) for columns in PAIRS)
    cell, largest, mean = ShareDistances(PAIRS, shares).counts(Remembered(truth)) / STEPS
    errors = [np.abs(truth.marginal(columns) - 5_000 * released.marginal(columns) / 800) for columns in PAIRS]
    halves = [table.sum() / 2 for table in errors]
    assert cell == pytest.approx(max(table.max() for table in errors), abs=1e-3)
    assert largest == pytest.approx(max(halves), abs=1e-3)
    assert mean == pytest.approx(np.mean(halves), abs=1e-3)


def test_no_number_of_rows_overflows():
    domain = Domain((Booleans(name="x"), Booleans(name="y")))
    crowd = Remembered(Cells(domain, np.full(4, 2**60)))
    for asked in (
        AnswerErrors(Marginals(order=1), np.array([0, STEPS, STEPS, 0])),
        ShareDistances((("x", "y"),), (np.zeros((2, 2), dtype=int),)),
    ):
        figures = asked.counts(crowd)
        assert (figures >= 0).all() and figures.max() <= 2 * MOST_ROWS * STEPS


@pytest.mark.parametrize(
    "shares", [np.array([0.5, 0.5]), np.array([-1, 2]), np.array([STEPS, STEPS + 1]), np.array([STEPS, 1])]
)
def test_shares_of_a_table_are_checked(shares):
    with pytest.raises(BadParameter, match="shares"):
        ShareDistances((("old",),), (shares,))


@pytest.mark.parametrize("shares", [[0, STEPS + 1], [-1, STEPS]])
def test_shares_of_answers_are_checked_one_by_one(shares):
    """They need not sum to anything; a share above the whole would let the number of rows move an error too far."""
    with pytest.raises(BadParameter, match="shares"):
        AnswerErrors(Marginals(order=1, columns=("old",)), np.array(shares))


def test_shapes_are_checked():
    with pytest.raises(BadParameter, match="shares"):
        ShareDistances((("old",),), (np.array([1]),)).counts(Remembered(small_counts()))
    with pytest.raises(BadParameter, match="shares"):
        AnswerErrors(Marginals(order=1, columns=("old",)), np.array([1])).counts(Remembered(small_counts()))
    with pytest.raises(BadParameter, match="shares"):
        ShareDistances((), ())


def test_only_registered_sums_over_rows():
    """Another statistic may fall by a row while the number of rows rises: that would move it by two."""
    with pytest.raises(BadParameter, match="queries"):
        AnswerErrors(Lipschitz(columns=("old",)), np.array([0]))
    with pytest.raises(TypeError):
        AnswerErrors(SMALL, np.array([0]))  # type: ignore[arg-type]


def test_released_certificates_rely_on_these_steps():
    assert (STEPS, MOST_ROWS) == (2**28, 2**33)


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 3), Unit.id("who", 3, "replace")], ids=str)
def test_changes_by_hand(unit):
    moved = unit.limit * STEPS
    answers = AnswerErrors(Marginals(order=1, columns=("old",)), np.array([0, STEPS])).change(unit)
    tables = ShareDistances((("old",),), (np.array([0, STEPS]),)).change(unit)
    assert (answers.l1, answers.l2_squared) == (2 * moved, 2 * moved**2)
    assert (tables.l1, tables.l2_squared) == (3 * moved, 3 * moved**2)


def test_figures_to_the_last_step():
    """Seven rows, three of them yes: errors |T - N R| in whole steps, halves and means rounded down."""
    domain = Domain((Booleans(name="x"), Booleans(name="y")))
    counts = Remembered(Cells(domain, np.array([[3, 1], [2, 1]])))
    x, y = np.array([STEPS // 2 + 1, STEPS // 2 - 1]), np.array([5, 11])
    errors = [[abs(t * STEPS - 7 * int(r)) for t, r in zip(*pair, strict=True)] for pair in (([4, 3], x), ([5, 2], y))]
    together = AnswerErrors(Marginals(order=1), np.concatenate([x, y])).counts(counts)
    assert together.tolist() == [max(map(max, errors)), sum(map(sum, errors)) // 4]
    sums = [sum(each) for each in errors]
    found = ShareDistances((("x",), ("y",)), (x, y)).counts(counts)
    assert found.tolist() == [max(map(max, errors)), max(sums) // 2, sum(sums) // 4]


@pytest.mark.parametrize("bits", [27, 28, 29, 30])
def test_totals_of_any_denominator_come_to_the_grid(bits):
    totals = np.array([0, 1, 2**bits - 1, 5 * 2**bits + 3, -4])
    assert _on_grid(totals, 2**bits).tolist() == [max(0, int(each)) * STEPS // 2**bits for each in totals]
    assert _on_grid(np.array([2**62 + 9]), 2**bits).tolist() == [min(MOST_ROWS * 2**bits, 2**62) * STEPS // 2**bits]


def test_more_rows_than_are_counted():
    domain = Domain((Booleans(name="x"),))
    crowd = Remembered(Cells(domain, np.array([0, 2**40])))
    assert AnswerErrors(Marginals(order=1), np.array([0, STEPS])).counts(crowd).tolist() == [0, 0]
    assert AnswerErrors(Marginals(order=1), np.array([STEPS, STEPS])).counts(crowd).tolist() == [2**61, 2**60]
    tables = ShareDistances((("x",),) * 2, (np.array([STEPS, 0]), np.array([STEPS, 0]))).counts(crowd)
    assert tables.tolist() == [2**61, 2**61, 2**61]


def test_shares_at_both_ends_are_taken_and_a_sum_of_exactly_the_whole():
    assert ShareDistances((("old",),), (np.array([0, STEPS]),)).shares[0].tolist() == [0, STEPS]
    with pytest.raises(BadParameter, match="shares"):
        ShareDistances((("old",), ("old",)), (np.array([0, STEPS]),))


def test_sums_that_leave_a_word_are_exact():
    many = np.full(2**10, 2**62 - 1)
    assert _sum(many) == 2**10 * (2**62 - 1)
    assert _sum([3, 2**21 + 5, 2**40 - 1]) == 3 + 2**21 + 5 + 2**40 - 1


def test_one_answer_and_no_answer():
    """Of one answer the mean is the largest; a class may have none."""
    asked = Linear(columns=("size",), weights=((1, 2**30, 5, 7),), whole=2**30)
    largest, mean = AnswerErrors(asked, np.array([17])).counts(Remembered(small_counts(50)))
    assert largest == mean > 0
    assert _checked(np.zeros(0, dtype=np.int64)).size == 0


def test_sums_over_many_cells_stop_at_62_bits():
    domain = Domain(tuple(Booleans(name=name) for name in "xyz"))
    crowd = Remembered(Cells(domain, np.full((2, 2, 2), 2**40)))
    figures = ShareDistances((("x", "y", "z"),), (np.zeros((2, 2, 2), dtype=int),)).counts(crowd)
    assert figures.tolist() == [2**61, 2**62, 2**62]


def test_a_table_without_rows_has_no_errors():
    nobody = Remembered(Cells(Domain((Booleans(name="x"),)), np.zeros(2, dtype=int)))
    assert AnswerErrors(Marginals(order=1), np.array([5, STEPS])).counts(nobody).tolist() == [0, 0]
    assert ShareDistances((("x",),), (np.array([5, 7]),)).counts(nobody).tolist() == [0, 0, 0]
