from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from core.base.errors import BadFile
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import join, triangulate
from core.models.junction_tree import JunctionTree
from core.schema.domain import Domain, Integers

SIZES = {"a": 3, "b": 2, "c": 4, "d": 2, "e": 3, "f": 2}
EDGES = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e")]


def domain_of(sizes: dict[str, int]) -> Domain:
    return Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in sizes.items()))


def random_tree(seed: int = 0, sizes=SIZES, edges=EDGES, total: float = 1000.0) -> JunctionTree:
    """A calibrated tree with random clique tables, by fitting random pair tables exactly."""
    generator = np.random.default_rng(seed)
    domain = domain_of(sizes)
    structure = join(domain.names, triangulate(sizes, edges))
    ones = {name: generator.dirichlet(np.ones(size)) for name, size in sizes.items()}
    start = JunctionTree.independent(domain, total, structure, ones)
    shares = {edge: generator.dirichlet(np.ones(domain.cells(edge))) for edge in edges}
    tables = {edge: total * share.reshape(domain.shape(edge)) for edge, share in shares.items()}
    return fit_tree(start, tables, dict.fromkeys(edges, 0.05 * total), sweeps=3)


def dense(tree: JunctionTree) -> np.ndarray:
    """The whole distribution by definition: product of cliques over product of overlaps."""
    names = tree.domain.names
    joint = np.ones(tree.domain.shape())
    for place, (clique, belief) in enumerate(zip(tree.structure.cliques, tree.beliefs, strict=True)):
        shape = [tree.domain[name].size if name in clique else 1 for name in names]
        joint = joint * belief.reshape(shape)
        shared = tree.structure.separator(place)
        if shared:
            lost = tuple(axis for axis, name in enumerate(clique) if name not in shared)
            shape = [tree.domain[name].size if name in shared else 1 for name in names]
            joint = joint / belief.sum(axis=lost).reshape(shape)
    return tree.total * joint


def test_any_marginal_equals_brute_force():
    for seed in range(5):
        tree = random_tree(seed)
        whole = dense(tree)
        names = tree.domain.names
        assert whole.sum() == pytest.approx(tree.total)
        for order in range(len(names) + 1):
            for columns in combinations(names, order):
                lost = tuple(axis for axis, name in enumerate(names) if name not in columns)
                assert np.allclose(tree.marginal(columns), whole.sum(axis=lost)), columns
        assert np.allclose(tree.marginal(("e", "a")), tree.marginal(("a", "e")).T)


def test_neighbouring_cliques_agree_after_a_fit():
    tree = random_tree(3)
    for place in range(1, len(tree.structure.cliques)):
        shared = tree.structure.separator(place)
        views = []
        for at in (place, tree.structure.parents[place]):
            clique = tree.structure.cliques[at]
            views.append(tree.beliefs[at].sum(axis=tuple(i for i, name in enumerate(clique) if name not in shared)))
        assert np.allclose(*views)


def test_sampled_records_keep_clique_tables_to_within_rounding_and_others_closely():
    tree = random_tree(1, total=1.0)
    rows = 20_000
    codes = tree.sample(rows, np.random.default_rng(0))
    names = tree.domain.names
    for columns in (*combinations(names, 2), ("a", "c", "e")):
        axes = [names.index(name) for name in columns]
        flat = np.ravel_multi_index(codes[:, axes].T, tree.domain.shape(columns))
        counted = np.bincount(flat, minlength=tree.domain.cells(columns)).reshape(tree.domain.shape(columns))
        off = np.abs(counted / rows - tree.marginal(columns)).sum() / 2
        independent_draws = np.sqrt(tree.marginal(columns) / rows).sum() * 0.4
        inside = tree.structure.holder(columns) is not None
        assert off < (0.003 if inside else independent_draws), columns


def test_siblings_are_not_drawn_in_lock_step():
    sizes = {"root": 2, "x": 5, "y": 5, "z": 5}
    tree = random_tree(2, sizes, [("root", name) for name in "xyz"], total=1.0)
    codes = tree.sample(40_000, np.random.default_rng(1))
    for left, right in combinations(("x", "y", "z"), 2):
        axes = [tree.domain.names.index(left), tree.domain.names.index(right)]
        counted = np.bincount(np.ravel_multi_index(codes[:, axes].T, (5, 5)), minlength=25).reshape(5, 5) / 40_000
        assert np.abs(counted - tree.marginal((left, right))).sum() / 2 < 0.005


def test_a_hundred_columns():
    sizes = {f"c{index:03}": 2 + index % 5 for index in range(100)}
    names = list(sizes)
    edges = [*pairwise(names)] + [(names[index], names[index + 2]) for index in range(0, 90, 3)]
    tree = random_tree(0, sizes, edges)
    assert tree.marginal(("c000", "c099")).sum() == pytest.approx(tree.total)
    codes = tree.sample(500, np.random.default_rng(0))
    assert codes.shape == (500, 100)
    assert (codes < np.array(list(sizes.values()))).all() and (codes >= 0).all()


def test_zero_rows_and_empty_lines():
    domain = domain_of({"a": 2, "b": 2})
    structure = join(domain.names, [frozenset("ab")])
    tree = JunctionTree(domain, 5.0, structure, (np.array([[0.0, 1.0], [0.0, 0.0]]),))
    assert tree.sample(0, np.random.default_rng(0)).shape == (0, 2)
    assert (tree.sample(9, np.random.default_rng(0)) == [0, 1]).all()


def test_saved_and_loaded(tmp_path):
    tree = random_tree(4)
    tree.save(tmp_path / "tree.npz")
    again = JunctionTree.load(tmp_path / "tree.npz")
    assert again.domain == tree.domain and again.structure == tree.structure and again.total == tree.total
    assert all(np.array_equal(*pair) for pair in zip(tree.beliefs, again.beliefs, strict=True))
    assert np.array_equal(again.sample(50, np.random.default_rng(1)), tree.sample(50, np.random.default_rng(1)))


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "tree.npz"
    random_tree(4).save(path)
    content = path.read_bytes()
    for damaged in (b"", b"PK nothing", content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(BadFile, match="stored model"):
            JunctionTree.load(path)
    np.savez(path, facts=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BadFile, match="stored model"):
        JunctionTree.load(path)
