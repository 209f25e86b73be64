import numpy as np
import pytest

from core.base.axes import stretched
from core.models.dense import Dense
from core.models.histogram import Histogram
from core.schema.domain import Categories, Domain
from tests.core.samples import SMALL


def test_the_start_is_uniform_with_the_given_total():
    start = Dense.uniform(SMALL, 120.0)
    assert start.total == 120
    assert np.ptp(start.cells) == 0


def test_cells_are_scaled_by_their_combination_whatever_the_order_of_columns():
    cells = np.random.default_rng(0).random(SMALL.shape())
    factors = np.random.default_rng(1).random((2, 3))
    scaled = Dense(SMALL, cells).scaled(("old", "colour"), factors)
    for colour in range(3):
        for old in range(2):
            np.testing.assert_allclose(scaled.cells[colour, :, old], cells[colour, :, old] * factors[old, colour])


def test_marginals_are_those_of_a_histogram():
    cells = np.random.default_rng(0).random(SMALL.shape())
    for columns in ((), ("size",), ("old", "colour"), SMALL.names[::-1]):
        np.testing.assert_allclose(Dense(SMALL, cells).marginal(columns), Histogram(SMALL, cells).marginal(columns))


def test_scaling_leaves_the_old_hypothesis_alone():
    start = Dense.uniform(SMALL, 24.0)
    start.scaled(("old",), np.array([2.0, 0.0]))
    assert (start.cells == 1).all()


@pytest.mark.parametrize("sizes", [(2,) * 12, (10,) * 4, (3,), (300, 2), (2, 300), (5, 1, 7), (2, 3, 400), (1, 1)])
def test_any_shape_is_summed_and_scaled_as_if_it_were_done_at_once(sizes):
    domain = Domain(tuple(Categories(name=f"c{place}", values=tuple(range(size))) for place, size in enumerate(sizes)))
    generator = np.random.default_rng(len(sizes))
    model = Dense(domain, generator.random(sizes))
    for _ in range(20):
        columns = tuple(generator.permutation(domain.names)[: generator.integers(0, len(sizes) + 1)])
        kept = [domain.names.index(column) for column in columns]
        np.testing.assert_allclose(model.marginal(columns), np.einsum(model.cells, list(range(len(sizes))), kept))
        factors = generator.random(domain.shape(columns))
        assert np.array_equal(
            model.scaled(columns, factors).cells, model.cells * stretched(factors, columns, domain.names)
        )
