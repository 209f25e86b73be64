"""Covers: orders, buckets and presence."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.decisions.covers.set_buckets import Arranged
from core.decisions.covers.set_cover import covered_by, greedy_sets
from core.decisions.covers.set_presence import likely
from core.decisions.covers.vertex_cover import cover_cost, greedy_order
from core.kernel.decisions.vertex_order import STEPS
from core.kernel.remembered import Remembered
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Categories, Domain
from core.table.counts import Cells
from tests.kernels import run
from tests.privacy.kit.decisions import (
    ELEMENTS,
    ENDS,
    GRAPH,
    SETS,
    built,
    neighbouring,
)

MUCH = Budget(900)
"""Enough that noise decides nothing."""
ROW = Unit.row()


def test_padding_of_an_order_is_no_larger_than_the_thesis():
    names = tuple(f"v{place}" for place in range(50))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    decision = decision_from("vertex-cover-order", Budget(1), ENDS)
    printed = 4 / 0.9 * np.sqrt(50 / np.arange(50, 0, -1))
    asked = decision._asked(domain, ROW)
    assert (asked.padding / STEPS <= printed * 1.001).all()
    assert float(asked.epsilon(ROW)) == pytest.approx(0.9, rel=0.01)


def test_sets_are_divided_by_ranges_of_their_costs():
    """Costs 1, 3 and 400 with four elements: ranges 0, 1 and 5; who is in the cheap set never takes the dear one."""
    decision = decision_from("set-cover-ranges", MUCH, {**SETS, "costs": [["A", 400], ["B", 3]]})
    assert decision.ranges().tolist() == [5, 1, 0]
    assert {part: own.tolist() for part, own in decision._elements(ELEMENTS).items()} == {
        0: [False, False, True, True],
        1: [False, True, False, False],
        5: [True, False, False, False],
    }
    decided = run(decision, Cells(ELEMENTS, np.ones(4, dtype=int)))
    held = {(line["range"], line["set"]) for line in decided.lines}
    assert held == {(0, "C"), (0, "B"), (1, "B"), (5, "A")}
    # e is in A and in B, and takes B; g can only take C, f takes B or C.
    assert decision.value(decided, Cells(ELEMENTS, np.array([0, 1, 0, 1]))) == 4


def test_noisy_presence_is_read_by_its_sign():
    """Of 0s and 1s with discrete Laplace noise the sign says all there is: the exact posterior, by Bayes' rule."""
    rate, share = 0.7, 0.3
    seen = np.arange(-40, 41)
    chances = np.exp(-rate * np.abs(seen)) * (1 - np.exp(-rate)) / (1 + np.exp(-rate))
    absent, present = np.interp(seen, seen, chances), np.interp(seen - 1, seen, chances)
    exact = share * present / (share * present + (1 - share) * absent)
    often = np.rint(1e6 * (share * present + (1 - share) * absent)).astype(int)
    found = likely(np.repeat(seen, often).astype(float), rate)
    expected = np.repeat(exact, often)
    assert found[0] == pytest.approx(expected[0], abs=2e-3) and found[-1] == pytest.approx(expected[-1], abs=2e-3)
    assert found.mean() == pytest.approx(share, abs=2e-3)


def test_orders_cover_every_edge_and_element():
    present = neighbouring(GRAPH, ROW, np.random.default_rng(1))[0].cells.reshape(4, 4) > 0
    present = (present | present.T) & ~np.eye(4, dtype=bool)
    assert cover_cost(present, greedy_order(present, np.ones(4, dtype=int)), np.ones(4, dtype=int)) <= 4
    decision = next(built("set-cover-presence", MUCH))[0]
    inside = decision.inside(ELEMENTS)
    order = greedy_sets(inside, np.array([1.0, 1, 1, 1]), decision.cost_of())
    assert sorted(order) == [0, 1, 2]
    assert (covered_by(inside, order) >= 0).all()


def bucketed(budget):
    """Sets of costs 8, 4, 3, 1 and 1, and all elements in some row: the smallest cover is B and C for 7."""
    held = {"A": "defghi", "B": "def", "C": "ghi", "D": "de", "E": "g"}
    domain = Domain((Categories(name="element", values=tuple("defghi")),))
    members = [[name, element] for name, elements in held.items() for element in elements]
    public = {"members": members, "column": "element", "costs": [["A", 8], ["B", 4], ["C", 3]]}
    return decision_from("set-cover-buckets", budget, public), Cells(domain, np.ones(6, dtype=int))


def test_buckets_are_put_first_and_the_rest_from_cheap_to_dear():
    decision, counts = bucketed(MUCH)
    assert decision.classes() == [(0,), (1, 2), (3, 4)] and decision.rounded().tolist() == [8, 4, 4, 1, 1]
    arranged = Arranged().extended((0,), 0).extended((2, 1), 1).extended((3, 4), 1)
    assert arranged.bucket == (2, 3) and arranged.rest == (4, 1, 0)
    asked = decision.rules(counts.domain, ROW, Arranged((2,), (1, 0)), 2, 1.0)
    # Whatever only dearer sets hold is the same for every candidate of the cheapest class, and is left out.
    assert (asked.rules[:, [2, 4, 5]] == -1).all() and asked.sensitivity(ROW) == 2**10
    assert len(np.unique(asked.groups)) == 2 * 3


def test_the_score_of_an_order_is_what_the_best_way_to_go_on_costs():
    """By all orders of all sets, for every table of which elements are there, up to what all candidates share."""
    decision, counts = bucketed(MUCH)
    inside, costs = decision.inside(counts.domain), decision.rounded()
    asked = decision.rules(counts.domain, ROW, Arranged(), 0, 1e9)
    for bits in range(0, 64, 7):
        there = np.array([bits >> place & 1 for place in range(6)])
        smallest = min(
            costs[list(chosen)].sum()
            for size in range(6)
            for chosen in combinations(range(5), size)
            if not (there * ~inside[list(chosen)].any(axis=0)).any()
        )
        found = asked.scores(Remembered(Cells(counts.domain, there))) / 2**10
        assert found.max() == pytest.approx(-smallest, abs=0.01), "observation 61"
