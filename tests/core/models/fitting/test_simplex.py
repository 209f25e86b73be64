import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.models.fitting.simplex import simplex

TABLES = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6))


@given(TABLES, st.floats(0.01, 1e6))
def test_sum_and_sign(table, total):
    projected = simplex(table, total)
    assert (projected >= 0).all()
    assert np.isclose(projected.sum(), total, rtol=1e-6)


@given(TABLES, st.floats(0.01, 1e6))
def test_no_other_point_is_nearer(table, total):
    """The optimality condition of the projection: the removed amount is one constant, at least as large on zeros."""
    projected = simplex(table, total)
    removed = table - projected
    kept = projected > 0
    scale = 1e-6 * (1 + np.abs(table).max())
    assert np.ptp(removed[kept]) <= scale
    assert (removed[~kept] <= removed[kept].max() + scale).all()


def test_nothing_is_left_of_an_empty_total():
    assert simplex(np.array([5.0, -1.0]), 0.0).tolist() == [0.0, 0.0]


def test_keeps_a_table_that_needs_no_change():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.allclose(simplex(table, 10.0), table)
