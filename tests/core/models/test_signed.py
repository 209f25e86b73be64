import numpy as np

from core.models.signed import Signed
from core.queries.conjunctions import Conjunctions
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from tests.core.samples import SMALL


def test_amounts_are_added_to_every_cell_of_their_combination_and_the_rows_stay():
    shifted = Signed.uniform(SMALL, 24.0).shifted(("old", "colour"), np.arange(6.0).reshape(2, 3))
    for size in range(4):
        np.testing.assert_allclose(shifted.cells[:, size, :], np.arange(6.0).reshape(2, 3).T + 1 - 2.5)
    assert np.isclose(shifted.total, 24)


def test_answers_are_signed_shares_of_the_rows():
    model = Signed.uniform(SMALL, 10.0).shifted(("old",), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(model.marginal(("old",)), [-7.0, 17.0])
    assert np.isclose(model.total, 10)
    assert np.isclose(model.marginal(()), 10)
    np.testing.assert_allclose(Marginals(sets=(("old",),)).answers(model), [-0.7, 1.7])


def test_classes_and_their_members_are_answered_by_the_same_cells():
    """A class is scored by its tables and learns from its members; the one about every row has no columns."""
    model = Signed.uniform(SMALL, 10.0).shifted(("old", "colour"), np.arange(6.0).reshape(2, 3))
    facts = {"columns": ("old",), "values": (("colour", 0), ("size", 1))}
    for query in (
        Conjunctions(order=2, **facts),
        Conjunctions(order=2, connective="or", **facts),
        Parities(**facts),
        Parities(parity="even", **facts),
    ):
        totals = query.totals(model)
        members = [query.member(SMALL, place).total(model) for place in range(totals.size)]
        np.testing.assert_allclose(totals, members, atol=1e-9)


def test_the_nearest_table_with_the_rows_shifts_every_cell_alike_or_none():
    cells = np.arange(24.0).reshape(SMALL.shape())
    shifted = Signed.nearest(SMALL, cells, 300.0)
    np.testing.assert_allclose(shifted.cells, cells + 1)
    assert Signed.nearest(SMALL, cells, 276.0).cells is cells


def test_records_come_from_the_nearest_table_without_negative_counts():
    model = Signed.uniform(SMALL, 10.0).shifted(("old",), np.array([-1.0, 1.0]))
    records = model.sample(12, np.random.default_rng(0))
    assert records.shape == (12, 3)
    assert (records[:, 2] == 1).all()
    assert (model.histogram().cells >= 0).all()
    assert np.isclose(model.histogram().total, 10)
