"""Scores of decisions against the same sums by hand; that no unit moves them too far is in `test_asked.py`."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.decisions.covers import CoverCost, Matching
from core.kernel.decisions.cuts import (
    AllCuts,
    CutWeight,
    Edges,
    PaddedCuts,
    PaddedSides,
    SomeCuts,
    extra_edges,
    some_cut_weights,
)
from core.kernel.decisions.rules import Mistakes
from core.kernel.decisions.values import VALUE, Gains, Valued
from core.kernel.decisions.weighed import Weighed
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells
from tests.core.kernel.kinds import KINDS, counts_of
from tests.core.kernel.test_asked import UNITS, neighbours, read

NAMES = tuple("pqrst")
GRAPH = Domain((Categories(name="from", values=NAMES), Categories(name="to", values=NAMES)))
EDGES = Edges(("from", "to"), 5)


def graph(seed: int = 0) -> Remembered:
    return Remembered(Cells(GRAPH, np.random.default_rng(seed).integers(0, 4, (5, 5))))


def test_all_cuts_are_those_by_hand():
    weights = EDGES.weights(graph())
    found = -AllCuts(EDGES).scores(graph())
    assert len(found) == 15
    for place, cost in enumerate(found):
        side = np.array([False, *(bool((place + 1) >> bit & 1) for bit in range(4))])
        assert cost == weights[side][:, ~side].sum() == some_cut_weights(weights, side[None])[0]
    assert found.min() == nx.stoer_wagner(nx.from_numpy_array(weights))[0]


def test_some_cuts_are_scored_as_all_are():
    sides = np.array([[False, *(bool((place + 1) >> bit & 1) for bit in range(4))] for place in range(15)])
    assert SomeCuts(EDGES, sides).scores(graph()).tolist() == AllCuts(EDGES).scores(graph()).tolist()
    assert CutWeight(EDGES, sides[4]).counts(graph()).tolist() == [-AllCuts(EDGES).scores(graph())[4]]


def test_a_column_of_weights_is_of_0_and_1_unless_it_is_said():
    domain = Domain((*GRAPH, Integers(name="w", low=0, high=1)))
    cells = np.zeros(domain.shape(), dtype=np.int64)
    cells[2, 3] = [5, 7]
    assert Edges(("from", "to"), 5, "w").weights(Cells(domain, cells))[3, 2] == 7
    assert Edges(("from", "to"), 5, "w").most(Unit.id("who", 2)) == 2


def test_padding_raises_the_smallest_cut_step_by_step():
    assert len(extra_edges(5)) == len(set(extra_edges(5))) == 10
    found = PaddedCuts(EDGES, 10**6).scores(graph()) + 10**6
    assert (np.diff(found) >= 0).all()
    for added in (0, 3, 10):
        assert -PaddedSides(EDGES, added).scores(graph()).max() == found[added]


def test_weights_of_rows():
    domain = Domain((*GRAPH, Integers(name="w", low=1, high=3, missing=True)))
    cells = np.zeros(domain.shape(), dtype=np.int64)
    cells[0, 1] = [1, 0, 2, 9]
    heavy = Edges(("from", "to"), 5, "w", 1, 3)
    assert heavy.weights(Cells(domain, cells))[0, 1] == 1 * 1 + 2 * 3
    assert heavy.most(Unit.id("who", 2)) == 6


@pytest.mark.exhaustive
def test_one_sided_scores_move_in_one_direction():
    """What halves the noise of a choice: of one-sided kinds no added unit moves two scores apart by more than one."""
    checked = 0
    for kind in KINDS:
        if not getattr(kind, "one_sided", False):
            continue
        checked += 1
        for unit in UNITS:
            far = 0
            for one, two in neighbours(unit, 1):
                moved = read(kind, counts_of(kind, two, unit)) - read(kind, counts_of(kind, one, unit))
                far = max(far, int(np.ptp(moved)) if len(moved) > 1 else int(np.abs(moved).max()))
            assert far <= kind.span(unit)
            assert kind.span(unit) == kind.sensitivity(unit) * (1 if unit.neighbours == "add-remove" else 2)
    assert checked >= 8


def test_weights_of_both_signs_are_refused():
    with pytest.raises(BadParameter, match="one sign"):
        Weighed(("a",), np.array([[1, -1]]), np.array([0]))


def test_gains_are_those_of_the_best_project():
    domain = Domain((Integers(name="x", low=0, high=4), Booleans(name="y")))
    cells = np.zeros((5, 2), dtype=np.int64)
    cells[2, 1], cells[4, 0] = 3, 2
    valued, counts = Valued(("x", "y"), (5, 2)), Remembered(Cells(domain, cells))
    assert Gains(valued, ()).scores(counts).tolist() == [3 * VALUE // 2 + 2 * VALUE, 3 * VALUE]
    assert Gains(valued, (0,)).scores(counts).tolist() == [3 * VALUE // 2]


def test_mistakes_of_rules_and_their_opposites():
    domain = Domain((Booleans(name="ill"), Booleans(name="a"), Booleans(name="b")))
    cells = np.random.default_rng(1).integers(0, 9, (2, 2, 2))
    counts = Remembered(Cells(domain, cells))
    query = Conjunctions(order=2, columns=("a", "b"))
    found = -Mistakes(query, "ill", (0, 1), 1).scores(counts)
    half = len(found) // 2
    assert (found[:half] + found[half:] == cells.sum()).all()
    features = domain.project(("a", "b"))
    for place in range(half):
        member = query.member(features, place)
        says = np.broadcast_to(np.asarray(member.weights), domain.shape(member.columns)) if member.columns else None
        if says is not None and member.columns == ("a", "b"):
            assert found[place] == (cells[0] * says).sum() + (cells[1] * (1 - says)).sum()


def test_covers_by_hand():
    counts = Remembered(Cells(GRAPH, np.array([[0, 2, 0, 0, 0], [0] * 5, [0, 0, 0, 1, 0], [0] * 5, [0] * 5])))
    first = np.where(np.eye(5, dtype=bool), -1, np.minimum(*np.indices((5, 5))))
    costs = np.array([5, 1, 7, 1, 1])
    assert CoverCost(("from", "to"), first, costs).counts(counts).tolist() == [12]
    assert Matching(EDGES).counts(counts).tolist() == [2]
