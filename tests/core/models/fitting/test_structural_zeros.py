"""A tree without impossible cells is the conditional distribution, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.fitting.consistency import settle
from core.models.fitting.structural_zeros import quasi_independent, without_cells
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import Structure
from core.models.junction_tree import JunctionTree
from core.schema.domain import Domain, Integers

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 2), ("b", 1), ("c", 2), ("d", 1))))
CHAIN = Structure((("a", "b"), ("b", "c"), ("c", "d")), (-1, 0, 1))


def tree() -> JunctionTree:
    """A chain with dependencies: a start fitted to random tables."""
    generator = np.random.default_rng(3)
    joint = generator.random(DOMAIN.shape()) ** 2
    joint /= joint.sum()
    start = JunctionTree.independent(DOMAIN, 1.0, CHAIN, {name: np.full(s, 1 / s) for name, s in _sizes().items()})
    tables = {
        ("a", "b"): joint.sum(axis=(2, 3)),
        ("b", "c"): joint.sum(axis=(0, 3)),
        ("c", "d"): joint.sum(axis=(0, 1)),
    }
    return fit_tree(start, tables, dict.fromkeys(tables, 1e-12))


def _sizes() -> dict[str, int]:
    return dict(zip(DOMAIN.names, DOMAIN.sizes, strict=True))


def test_the_tree_is_the_distribution_under_the_condition():
    before = tree()
    masks = {
        ("a", "b"): np.array([[1, 0], [1, 1], [0, 1]], dtype=bool),
        ("c", "d"): np.array([[1, 1], [0, 1], [1, 0]], dtype=bool),
    }
    joint = before.marginal(DOMAIN.names) * masks["a", "b"][:, :, None, None] * masks["c", "d"][None, None]
    after = without_cells(before, masks).marginal(DOMAIN.names)
    assert after == pytest.approx(joint / joint.sum())


def test_zeros_stay_where_tables_are_fitted():
    allowed = np.array([[1, 0], [1, 1], [0, 1]], dtype=bool)
    start = without_cells(tree(), {("a", "b"): allowed})
    noisy = {("a", "b"): np.array([[0.3, 0.2], [0.1, 0.2], [0.1, 0.1]]), ("a",): np.array([0.4, 0.4, 0.2])}
    settled = settle(noisy, dict.fromkeys(noisy, 0.01), 1.0, allowed={("a", "b"): allowed})
    assert not settled["a", "b"][~allowed].any() and settled["a", "b"].sum() == pytest.approx(1)
    fitted = fit_tree(start, settled, dict.fromkeys(noisy, 1e-9)).marginal(("a", "b"))
    assert not fitted[~allowed].any() and fitted == pytest.approx(settled["a", "b"], abs=1e-3)


def test_a_target_in_a_cell_that_cannot_be_changes_nothing():
    allowed = np.array([[1, 0], [1, 1], [0, 1]], dtype=bool)
    start = without_cells(tree(), {("a", "b"): allowed})
    fitted = fit_tree(start, {("a", "b"): np.full((3, 2), 1 / 6)}, {("a", "b"): 1e-9}).marginal(("a", "b"))
    assert np.isfinite(fitted).all() and not fitted[~allowed].any()


def test_nothing_left_leaves_the_tree():
    before = tree()
    assert without_cells(before, {("a", "b"): np.zeros((3, 2), dtype=bool)}) is before


def test_two_columns_keep_their_shares_beside_zeros():
    allowed = np.array([[1, 0], [1, 1], [1, 1]], dtype=bool)
    table = quasi_independent(np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.4]), allowed)
    assert not table[0, 1] and table.sum(axis=1) == pytest.approx([0.2, 0.3, 0.5], abs=1e-6)
    assert table.sum(axis=0) == pytest.approx([0.6, 0.4], abs=1e-6)
    assert table[1, 0] / table[1, 1] == pytest.approx(table[2, 0] / table[2, 1])
