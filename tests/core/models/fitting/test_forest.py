import itertools

import numpy as np

from core.models.fitting.forest import fit_forest
from core.models.points import Points
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL, small_counts

PAIRS = list(itertools.combinations(SMALL.names, 2))


def test_the_strongest_dependencies_are_kept():
    counts = small_counts()
    forest = fit_forest(SMALL, {pair: counts.marginal(pair).astype(float) for pair in PAIRS}, dict.fromkeys(PAIRS, 0.1))
    edges = {frozenset((child, parent)) for child, parent in forest.parents.items()}
    assert edges == {frozenset(("colour", "size")), frozenset(("size", "old"))}
    codes = forest.sample(5_000, np.random.default_rng(0))
    drawn = Points(SMALL, codes, np.ones(len(codes)))
    for edge in edges:
        pair = tuple(name for name in SMALL.names if name in edge)
        # A systematic draw within each of at most four parent groups moves a cell by less than one row per group.
        assert np.abs(drawn.marginal(pair) - counts.marginal(pair)).max() <= 4


def test_pure_noise_plants_no_edge():
    generator = np.random.default_rng(0)
    tables = {pair: 5_000 / SMALL.cells(pair) + generator.normal(0, 40, SMALL.shape(pair)) for pair in PAIRS}
    assert fit_forest(SMALL, tables, dict.fromkeys(PAIRS, 60.0)).parents == {}


def test_columns_without_a_table_are_uniform():
    domain = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=4)))
    forest = fit_forest(domain, {("a",): np.array([30.0, 70.0])}, {("a",): 1.0})
    codes = forest.sample(1_000, np.random.default_rng(0))
    assert np.bincount(codes[:, 0]).tolist() == [300, 700]
    assert np.bincount(codes[:, 1]).tolist() == [200] * 5
