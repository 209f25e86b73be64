"""A noisy histogram whose small tables are kept right."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.mechanisms.kit.portions import Noisy
from core.mechanisms.online.histogram_fit import fit_histogram, joined_tables, small_tables
from core.models.fitting.simplex import simplex
from core.schema.domain import Booleans, Categories, Domain

WIDE = Domain(tuple(Booleans(name=f"c{place}") for place in range(10)))


def sparse_table(generator: np.random.Generator, rows: int = 3_000) -> np.ndarray:
    facts = generator.random((rows, 10)) < 0.15
    facts[:, 1] |= facts[:, 0]
    return np.bincount(np.ravel_multi_index(tuple(facts.T.astype(int)), WIDE.shape()), minlength=1024)


def pair_error(estimate, truth: np.ndarray) -> float:
    off = (np.asarray(estimate, dtype=float) - truth).reshape(WIDE.shape())
    sums = [off.sum(axis=tuple(axis for axis in range(10) if axis not in pair)) for pair in combinations(range(10), 2)]
    return float(np.abs(sums).mean())


def test_small_tables_are_better_than_after_a_projection_and_than_raw_sums():
    generator = np.random.default_rng(1)
    truth = sparse_table(generator)
    noisy = truth + np.rint(generator.laplace(0, 4, 1024)).astype(int)
    raw = noisy.reshape(WIDE.shape()).astype(float)
    model = fit_histogram(WIDE, Noisy({WIDE.names: raw}, {WIDE.names: 5.7}), 3_000)
    assert model.cells.min() >= 0
    assert model.total == pytest.approx(3_000)
    before = pair_error(simplex(raw, 3_000.0).ravel(), truth)
    assert pair_error(model.cells.ravel(), truth) < before / 1.4
    assert pair_error(model.cells.ravel(), truth) < pair_error(raw.ravel(), truth)


@pytest.mark.exhaustive
def test_a_table_measured_beside_is_believed_by_its_variance():
    generator = np.random.default_rng(2)
    truth = sparse_table(generator).reshape(WIDE.shape())
    raw = truth + np.rint(generator.laplace(0, 40, truth.shape))
    alone = fit_histogram(WIDE, Noisy({WIDE.names: raw}, {WIDE.names: 57.0}), 3_000)
    column = truth.sum(axis=tuple(range(1, 10))).astype(float)
    both = Noisy({WIDE.names: raw, ("c0",): column}, {WIDE.names: 57.0, ("c0",): 0.5})
    helped = fit_histogram(WIDE, both, 3_000)
    assert np.abs(helped.marginal(("c0",)) - column).max() < 60
    assert np.abs(helped.marginal(("c0",)) - column).max() < np.abs(alone.marginal(("c0",)) - column).max() / 5


def test_effects_are_joined_by_inverse_variance():
    """Of two yes/no columns: the raw histogram tells everything with a deviation of 10, and beside it the interaction
    is told with 1, so the single columns stay as they are and only the interaction moves."""
    domain = Domain((Booleans(name="a"), Booleans(name="b")))
    raw, told = np.array([[40.0, 10], [20, 30]]), np.array([[-5.0, 5], [5, -5]])
    both = Noisy({("a", "b"): raw, ("b", "a"): told.T}, {("a", "b"): 10.0, ("b", "a"): 1.0}, frozenset([("b", "a")]))
    wanted = [("a",), ("b",), ("b", "a")]
    found = joined_tables(domain, both, wanted, 100.0)
    assert np.allclose(found["a",][0], raw.sum(axis=1)) and np.allclose(found["b",][0], raw.sum(axis=0))
    assert found["a",][1] == pytest.approx(10)
    raw_variance = 10.0**2 / 4
    moved = (10 / raw_variance + -5 / 1) / (1 / raw_variance + 1)
    assert found["b", "a"][0][0, 0] == pytest.approx(100 / 4 + 0 + 10 / 2 + moved)
    assert found["b", "a"][1] ** 2 == pytest.approx(2 * 10**2 / 4 + 1 / (1 / raw_variance + 1))


def test_which_tables_are_small():
    assert len(small_tables(WIDE, 3)) == 10 + 45 + 120
    assert small_tables(WIDE, 3, 4) == [("c0",), ("c1",), ("c2",), ("c3",)]
    uneven = Domain((Booleans(name="a"), Categories(name="b", values=tuple(range(50))), Booleans(name="c")))
    assert small_tables(uneven, 2) == [("a",), ("b",), ("c",), ("a", "c")]
    assert small_tables(Domain((Booleans(name="a"),)), 3) == []


def test_a_single_column_is_only_projected():
    domain = Domain((Categories(name="a", values=tuple(range(6))),))
    values = np.array([50.0, -3, 2, 0, 40, -9])
    model = fit_histogram(domain, Noisy({("a",): values}, {("a",): 3.0}), 80)
    assert model.total == pytest.approx(80)
    assert np.abs(model.cells - simplex(values, 80.0)).max() < 1
