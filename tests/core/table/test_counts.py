import numpy as np

from core.privacy.unit import Unit
from tests.core.samples import SMALL, small_cells, small_counts


def test_marginals_sum_to_the_rows():
    counts = small_counts(777)
    for columns in ((), ("old",), ("size", "colour"), SMALL.names):
        assert counts.marginal(columns).sum() == 777
        assert counts.marginal(columns).shape == SMALL.shape(columns)


def test_points_hold_only_what_occurs():
    counts = small_counts(50)
    codes, often = counts.combinations(("colour", "size"))
    rebuilt = np.zeros(SMALL.shape(("colour", "size")), dtype=np.int64)
    rebuilt[tuple(codes.T)] = often
    assert np.array_equal(rebuilt, counts.marginal(("colour", "size")))
    assert (often > 0).all()


def test_rows_are_public_only_when_rows_are_replaced():
    assert small_counts(unit=Unit.row()).public_rows is None
    assert small_counts(unit=Unit.row("replace")).public_rows == small_cells().sum()
    assert small_counts(unit=Unit.id("person", limit=2, neighbours="replace")).public_rows is None
