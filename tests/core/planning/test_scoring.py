import numpy as np
import pytest

from core.models.histogram import Histogram
from core.planning.scoring import WORST, score
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_cells, small_counts


def moved(rows=900):
    """A release that has 90 of the first cell's rows in the second one."""
    cells = small_cells(rows).astype(float)
    cells[0, 0, 0] -= 90
    cells[0, 0, 1] += 90
    return Histogram(SMALL, cells)


def test_a_perfect_release_has_no_errors():
    (found,) = score([Marginals(order=2)], small_counts(900), Histogram(SMALL, small_cells(900)))
    assert found.largest == found.mean == 0.0
    assert found.errors.size == 3 * 4 + 3 * 2 + 4 * 2


def test_errors_are_shares_and_the_worst_come_first_in_words():
    (found,) = score([Marginals(order=1)], small_counts(900), moved())
    assert found.largest == pytest.approx(0.1)
    assert found.mean == pytest.approx(0.2 / 9)
    assert [miss.error for miss in found.worst[:3]] == pytest.approx([0.1, 0.1, 0.0])
    assert "old" in found.worst[0].words
    assert found.listed
    assert len(found.worst) == 9


@pytest.mark.parametrize("texts", [(), ("mostly the last",)])
def test_weighted_questions_are_told_in_their_own_words(texts):
    column = SMALL.names[0]
    weights = ((0,) * (SMALL.sizes[0] - 1) + (512,),)
    (found,) = score([Linear(columns=(column,), weights=weights, words=texts)], small_counts(900), moved())
    assert found.worst[0].words == (texts[0] if texts else f"weighted share 1 over {column}")


def test_never_more_than_ten_in_words():
    (found,) = score([Marginals(order=2)], small_counts(900), moved())
    assert len(found.worst) == WORST


def test_large_classes_are_sampled_and_their_largest_error_is_exact():
    domain = Domain((Integers(name="x", low=0, high=4095),))
    truth = np.zeros(4096, dtype=np.int64)
    truth[2000] = 1_000
    shifted = np.roll(truth, 1).astype(float)
    (found,) = score([Intervals(column="x")], Cells(domain, truth), Histogram(domain, shifted))
    assert not found.listed
    assert found.largest == pytest.approx(1.0)
    assert found.errors.size == 2_000


def test_continuous_and_nonlinear_classes_are_scored_too():
    numbers = Domain((Integers(name="x", low=0, high=7), Integers(name="y", low=0, high=7)))
    truth = np.arange(64).reshape(8, 8)
    classes = [Halfspaces(columns=("x", "y")), Lipschitz(columns=("x",), statistics=(("largest",),))]
    for found in score(classes, Cells(numbers, truth), Histogram(numbers, truth.astype(float))):
        assert found.largest == 0.0
        assert found.worst[0].words
