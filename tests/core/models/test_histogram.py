import numpy as np

from core.models.histogram import Histogram
from tests.core.samples import SMALL, small_cells, small_counts


def test_marginals_agree_with_the_counts():
    model, counts = Histogram(SMALL, small_cells()), small_counts()
    for columns in (("old", "colour"), ("size",), ()):
        assert np.array_equal(model.marginal(columns), counts.marginal(columns))


def test_whole_counts_are_drawn_exactly():
    cells = small_cells(900)
    codes = Histogram(SMALL, cells).sample(900, np.random.default_rng(0))
    assert np.array_equal(np.bincount((codes[:, 0] * 4 + codes[:, 1]) * 2 + codes[:, 2], minlength=24), cells.ravel())


def test_a_tenth_of_the_rows_is_off_by_less_than_one_each():
    cells = small_cells(5_000)
    codes = Histogram(SMALL, cells).sample(500, np.random.default_rng(0))
    drawn = np.bincount((codes[:, 0] * 4 + codes[:, 1]) * 2 + codes[:, 2], minlength=24)
    assert np.abs(drawn - cells.ravel() / 10).max() < 1
