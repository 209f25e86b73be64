from __future__ import annotations

import numpy as np

from core.models.fitting.raking import rake
from core.models.fitting.slack import Slack
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import join, triangulate
from core.models.junction_tree import JunctionTree
from core.models.points import Points
from tests.core.models.test_junction_tree import EDGES, SIZES, dense, domain_of

DOMAIN = domain_of(SIZES)
TOTAL = 500.0


def start() -> JunctionTree:
    structure = join(DOMAIN.names, triangulate(SIZES, EDGES))
    ones = {name: np.full(size, 1 / size) for name, size in SIZES.items()}
    return JunctionTree.independent(DOMAIN, TOTAL, structure, ones)


def true_tables(seed: int = 0) -> dict[tuple[str, ...], np.ndarray]:
    """Tables of one hidden distribution, so that they are consistent."""
    joint = np.random.default_rng(seed).gamma(0.5, size=DOMAIN.shape())
    joint *= TOTAL / joint.sum()
    names = DOMAIN.names
    return {edge: joint.sum(axis=tuple(i for i, name in enumerate(names) if name not in edge)) for edge in EDGES}


def test_without_noise_the_tables_are_met_and_the_entropy_is_the_largest():
    tables = true_tables()
    tree = fit_tree(start(), tables, dict.fromkeys(tables, 0.0), sweeps=200)
    for columns, table in tables.items():
        assert np.allclose(tree.marginal(columns), table, atol=1e-4)
    whole = np.full(DOMAIN.shape(), TOTAL / DOMAIN.cells())
    for _ in range(200):
        for columns, table in tables.items():
            lost = tuple(i for i, name in enumerate(DOMAIN.names) if name not in columns)
            shape = [DOMAIN[name].size if name in columns else 1 for name in DOMAIN.names]
            whole = whole * (table / whole.sum(axis=lost)).reshape(shape)
    assert np.allclose(dense(tree), whole, atol=1e-4)


def test_nothing_moves_while_all_tables_are_within_their_noise():
    first = start()
    tables = {columns: first.marginal(columns) + 3.0 for columns in EDGES}
    tree = fit_tree(first, tables, dict.fromkeys(tables, 4.0))
    assert all(np.allclose(*pair) for pair in zip(tree.beliefs, first.beliefs, strict=True))


def test_cells_are_met_to_within_one_sigma():
    tables = true_tables(1)
    tree = fit_tree(start(), tables, dict.fromkeys(tables, 5.0), sweeps=300)
    missed = np.concatenate([(tree.marginal(columns) - table).ravel() for columns, table in tables.items()])
    assert np.abs(missed).max() < 5.01
    assert np.abs(missed).max() > 4.9


def test_a_push_that_is_no_longer_needed_is_taken_back():
    slack = Slack(np.array([10.0, 10.0]), 2.0)
    assert np.allclose(slack.factor(np.array([4.0, 16.0])), [2.0, 0.75])
    assert np.allclose(slack.factor(np.array([20.0, 8.5])), [0.5, 1 / 0.75])
    assert np.allclose(slack.push, 0.0)


def test_a_warm_start_changes_only_what_a_new_table_asks_for():
    tables = true_tables(2)
    warm = fit_tree(start(), {EDGES[0]: tables[EDGES[0]]}, {EDGES[0]: 0.0}, sweeps=50)
    tree = fit_tree(warm, {EDGES[4]: tables[EDGES[4]]}, {EDGES[4]: 0.0}, sweeps=50)
    assert np.allclose(tree.marginal(EDGES[4]), tables[EDGES[4]], atol=1e-4)
    assert np.allclose(tree.marginal(EDGES[0]), tables[EDGES[0]], atol=1e-4)


def test_raked_records_meet_tables_and_keep_their_total():
    generator = np.random.default_rng(3)
    codes = np.stack([generator.integers(0, size, 20_000) for size in SIZES.values()], axis=1)
    points = Points(DOMAIN, codes, np.full(20_000, TOTAL / 20_000))
    tables = true_tables(3)
    raked = rake(points, tables, dict.fromkeys(tables, 0.5), sweeps=200)
    assert np.isclose(raked.total, TOTAL)
    assert (raked.weights > 0).all()
    for columns, table in tables.items():
        assert np.abs(raked.marginal(columns) - table).max() < 0.6


def test_negative_counts_ask_for_no_negative_weights():
    points = Points(DOMAIN, np.repeat([[0], [1], [0], [1]], 6, axis=1), np.ones(4))
    raked = rake(points, {("a",): np.array([-50.0, 54.0, 0.0])}, {("a",): 1.0})
    assert (raked.weights >= 0).all() and np.isclose(raked.total, 4.0)
    assert raked.marginal(("a",))[0] < 1
