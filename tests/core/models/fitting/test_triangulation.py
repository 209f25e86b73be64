from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

from core.models.fitting.triangulation import cells_of, join, triangulate

NAMES = tuple("abcdefgh")


def random_graph(seed: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    generator = np.random.default_rng(seed)
    sizes = {name: int(generator.integers(2, 9)) for name in NAMES}
    return sizes, [pair for pair in combinations(NAMES, 2) if generator.random() < 0.3]


def test_cliques_hold_every_edge_and_are_those_of_a_chordal_graph():
    for seed in range(40):
        sizes, edges = random_graph(seed)
        cliques = triangulate(sizes, edges)
        assert all(any(set(edge) <= clique for clique in cliques) for edge in edges)
        filled = nx.Graph([pair for clique in cliques for pair in combinations(clique, 2)])
        filled.add_nodes_from(NAMES)
        assert nx.is_chordal(filled)
        assert {frozenset(clique) for clique in nx.find_cliques(filled)} == set(cliques)


def test_a_cycle_is_cut_where_it_is_cheapest():
    sizes = {"a": 100, "b": 2, "c": 100, "d": 2}
    cliques = triangulate(sizes, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert max(cells_of(sizes, clique) for clique in cliques) == 400


def test_the_tree_has_running_intersections():
    for seed in range(40):
        sizes, edges = random_graph(seed)
        structure = join(NAMES, triangulate(sizes, edges))
        for name in NAMES:
            holders = [place for place, clique in enumerate(structure.cliques) if name in clique]
            # A column's cliques form one subtree: exactly one of them does not share it with its parent.
            assert sum(name not in structure.separator(place) for place in holders) == 1
        assert all(parent < place for place, parent in enumerate(structure.parents))
        assert all(clique == tuple(sorted(clique)) for clique in structure.cliques)


def test_the_clique_that_holds_columns_is_found():
    structure = join(NAMES, triangulate(dict.fromkeys(NAMES, 2), [("a", "b"), ("b", "c")]))
    assert set(structure.cliques[structure.holder(("b", "c"))]) == {"b", "c"}
    assert structure.holder(("a", "c")) is None
