import numpy as np

from core.models.signed import Signed
from core.queries.marginals import Marginals
from tests.core.samples import SMALL


def test_amounts_are_added_to_every_cell_of_their_combination():
    shifted = Signed.zero(SMALL, 10.0).shifted(("old", "colour"), np.arange(6.0).reshape(2, 3))
    for size in range(4):
        np.testing.assert_array_equal(shifted.cells[:, size, :], np.arange(6.0).reshape(2, 3).T)


def test_answers_are_signed_and_shares_are_of_the_rows_that_were_paid_for():
    model = Signed.zero(SMALL, 10.0).shifted(("old",), np.array([-1.0, 1.0]))
    assert model.marginal(("old",)).tolist() == [-12.0, 12.0]
    assert model.total == 10
    assert model.marginal(()) == 10
    assert Marginals(sets=(("old",),)).answers(model).tolist() == [-1.2, 1.2]


def test_records_come_from_the_nearest_table_without_negative_counts():
    model = Signed.zero(SMALL, 10.0).shifted(("old",), np.array([-1.0, 1.0]))
    records = model.sample(12, np.random.default_rng(0))
    assert records.shape == (12, 3)
    assert (records[:, 2] == 1).all()
    assert (model.histogram().cells >= 0).all()
    assert np.isclose(model.histogram().total, 10)
