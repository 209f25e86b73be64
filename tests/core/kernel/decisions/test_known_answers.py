"""Bounds, limits and exact figures of the questions of decisions, written down by hand: what noise is scaled to.

That no unit moves an answer further is in `test_asked.py`, on tables too small for some of these; here every constant
and every edge has its own line.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.asked import Change
from core.kernel.decisions import best_rules, covers, cuts, values, vertex_order, weighed
from core.kernel.decisions.covers import CoverCost, Degrees, Matching, Presence, RuleCosts
from core.kernel.decisions.cuts import (
    MOST_WEIGHT,
    AllCuts,
    CutWeight,
    Edges,
    PaddedCuts,
    PaddedSides,
    PairWeights,
    SomeCuts,
    extra_edges,
    some_cut_weights,
)
from core.kernel.decisions.rules import Mistakes, OneLabel, RuleMistakes, mistakes
from core.kernel.decisions.values import VALUE, Gains, SetWelfare, Valued, Welfare
from core.kernel.decisions.vertex_order import STEPS, VertexOrder, edge_loss
from core.kernel.decisions.weighed import Weighed
from core.kernel.remembered import Remembered
from core.kernel.tables import LARGEST
from core.privacy.unit import Unit
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells

ROW, REPLACED, PERSON, BOTH = Unit.row(), Unit.row("replace"), Unit.id("w", 3), Unit.id("w", 3, "replace")
ENDS = ("from", "to")
NAMES = tuple("pqr")
GRAPH = Domain(tuple(Categories(name=name, values=NAMES, other="else") for name in ENDS))
EDGES = Edges(ENDS, 3)
HEAVY = Edges(ENDS, 3, "w", 2, 5)
VALUED = Valued(("x", "y"), (5, 2))
COSTS = np.array([2, 7])
COVER = CoverCost(("y",), np.array([0, 1]), COSTS)
RULES = Mistakes(Marginals(order=1, columns=("x",)), "y", (0, 1), 4)
TABLE = np.array([[9, 1, 0, 5], [2, 9, 3, 5], [0, 0, 9, 5], [5, 5, 5, 5]])


def graph() -> Remembered:
    return Remembered(Cells(GRAPH, TABLE))


def test_constants():
    assert (values.VALUE, weighed.EXACT) == (1024, 2**53)
    assert (cuts.MOST_ENUMERATED, covers.MOST_COST) == (22, 2**20)
    assert (best_rules.STEPS, vertex_order.STEPS, vertex_order.FINE) == (1024, 1024, 2**60)
    assert (vertex_order.MOST_EASE, vertex_order.MOST_PADDING, vertex_order.MOST_VERTICES) == (1024, 2**40, 2048)


@pytest.mark.parametrize(
    ("asked", "changes"),
    [
        (Presence(("x",)), [(1, 1), (2, 2), (3, 3), (6, 6)]),
        (Degrees(EDGES), [(2, 2), (4, 4), (6, 12), (12, 24)]),
        (Matching(EDGES), [(1, 1), (1, 1), (3, 9), (3, 9)]),
        (COVER, [(7, 49), (7, 49), (21, 441), (21, 441)]),
        (PairWeights(EDGES), [(1, 1), (2, 2), (3, 9), (6, 18)]),
        (PairWeights(HEAVY), [(5, 25), (10, 50), (15, 225), (30, 450)]),
        (CutWeight(HEAVY, np.array([True, False, False])), [(5, 25), (5, 25), (15, 225), (15, 225)]),
        (Welfare(VALUED, (0,)), [(VALUE, VALUE**2)] * 2 + [(3 * VALUE, 9 * VALUE**2)] * 2),
        (RuleMistakes(RULES, 0), [(4, 16), (4, 16), (12, 144), (12, 144)]),
    ],
)
def test_changes(asked, changes):
    assert [asked.change(unit) for unit in (ROW, REPLACED, PERSON, BOTH)] == [Change(*each) for each in changes]


@pytest.mark.parametrize(
    ("asked", "most", "one_sided"),
    [
        (Weighed(("x",), np.array([[0, -6], [-2, 0]]), np.zeros(2, dtype=int)), 6, True),
        (Weighed(("x",), np.array([[0, 0]]), np.zeros(1, dtype=int)), 1, True),
        (AllCuts(EDGES), 1, True),
        (AllCuts(HEAVY), 5, True),
        (SomeCuts(HEAVY, np.ones((1, 3), dtype=bool)), 5, True),
        (PaddedSides(HEAVY, 0), 5, True),
        (PaddedCuts(HEAVY, 1), 5, False),
        (Gains(VALUED, ()), VALUE, True),
        (SetWelfare(VALUED, ((0,),)), VALUE, True),
        (RULES, 4, True),
        (RuleCosts(("y",), np.array([[0, 1]]), COSTS), 7, True),
        (RuleCosts(("y",), np.array([[0, 0]]), np.array([0])), 1, True),
    ],
)
def test_sensitivities_and_spans(asked, most, one_sided):
    assert [asked.sensitivity(unit) for unit in (ROW, REPLACED, PERSON, BOTH)] == [most, most, 3 * most, 3 * most]
    spans = [1, 2, 3, 6] if one_sided else [2, 2, 6, 6]
    assert [asked.span(unit) for unit in (ROW, REPLACED, PERSON, BOTH)] == [most * each for each in spans]


def test_weights_of_pairs_leave_loops_and_others_out():
    assert EDGES.weights(graph()).tolist() == [[0, 3, 0], [3, 0, 3], [0, 3, 0]]
    assert EDGES.present(graph()).tolist() == [[False, True, False], [True, False, True], [False, True, False]]
    huge = Remembered(Cells(GRAPH, np.full((4, 4), LARGEST)))
    assert EDGES.weights(huge)[0, 1] == 2 * (LARGEST // 9)
    assert PairWeights(EDGES).counts(graph()).tolist() == [3, 0, 3]
    assert Degrees(EDGES).counts(graph()).tolist() == [1, 2, 1]
    assert CutWeight(EDGES, np.array([False, True, False])).counts(graph()).tolist() == [6]


def test_heavy_edges():
    domain = Domain((*GRAPH, Integers(name="w", low=2, high=5, missing=True)))
    cells = np.zeros(domain.shape(), dtype=np.int64)
    cells[0, 1] = [1, 10, 100, 1000, 7]
    assert HEAVY.weights(Cells(domain, cells))[1, 0] == 2 + 30 + 400 + 5000
    light = Edges(ENDS, 3, "w", 2, 3)
    assert light.weights(Cells(domain, cells))[1, 0] == 2 + 30, "beyond the highest weight nothing is weighed"


def test_heavy_edges_of_very_many_rows_do_not_leave_64_bits() -> None:
    domain = Domain((*GRAPH, Integers(name="w", low=0, high=MOST_WEIGHT)))
    cells = np.zeros((4, 4, MOST_WEIGHT + 1), dtype=np.int64)
    cells[0, 1, -1] = 2**54  # 2^54 times a thousand is more than 2^63
    edges = Edges(ENDS, 3, "w", 0, MOST_WEIGHT)
    one = edges.weights(Cells(domain, cells))[0, 1]
    cells[0, 1, -1] += 1
    assert 0 < one <= edges.weights(Cells(domain, cells))[0, 1] <= one + MOST_WEIGHT
    cells[0, 1, -50:] = 2**54  # each is clipped so that all weights together would stay in 64 bits
    each = LARGEST // (MOST_WEIGHT * (MOST_WEIGHT + 1))
    assert edges.weights(Cells(domain, cells))[0, 1] == each * sum(range(MOST_WEIGHT - 49, MOST_WEIGHT + 1))


def test_exact_sums_beyond_floats():
    weights = np.array([[0, 2**53 + 1], [2**53 + 1, 0]])
    assert some_cut_weights(weights, np.array([[False, True]]))[0] == 2**53 + 1
    table = Remembered(Cells(Domain((Booleans(name="b"),)), np.array([1, 2**45 + 1])))
    asked = Weighed(("b",), np.array([[2**10, 2**10 - 1]]), np.array([3]))
    assert asked.scores(table)[0] == 3 + 2**10 + (2**45 + 1) * (2**10 - 1)


def test_present_cells_count_once():
    table = Remembered(Cells(Domain((Booleans(name="b"),)), np.array([0, 7])))
    weights, offsets = np.array([[5, 3]]), np.array([1])
    assert Weighed(("b",), weights, offsets).scores(table).tolist() == [22]
    assert Weighed(("b",), weights, offsets, present=True).scores(table).tolist() == [4]
    assert Presence(("b",)).counts(table).tolist() == [0, 1]


def test_values_of_codes():
    codes = np.array([[0, 0], [1, 1], [4, 2], [5, 1]])
    assert VALUED.values(codes).tolist() == [[0, 0], [256, 1024], [1024, 0], [0, 1024]]
    assert Valued(("x",), (1,)).values(np.array([[0], [1]])).tolist() == [[0], [0]]
    domain = Domain((Integers(name="x", low=0, high=4), Booleans(name="y")))
    cells = np.zeros((5, 2), dtype=np.int64)
    cells[1, 1], cells[4, 0] = 3, 2
    table = Remembered(Cells(domain, cells))
    assert SetWelfare(VALUED, ((0,), (1,), (0, 1))).scores(table).tolist() == [2816, 3072, 5120]
    assert Welfare(VALUED, (0, 1)).counts(table).tolist() == [5120]
    empty = Remembered(Cells(domain, np.zeros((5, 2), dtype=np.int64)))
    assert SetWelfare(VALUED, ((0,),)).scores(empty).tolist() == [0]
    assert Gains(VALUED, ()).scores(empty).tolist() == [0, 0]
    assert Welfare(VALUED, ()).counts(empty).tolist() == [0]


def test_rows_of_one_label():
    domain = Domain((Integers(name="x", low=0, high=2), Booleans(name="y")))
    held = Cells(domain, np.array([[1, 4], [0, 5], [2, 0]]))
    yes = OneLabel(held, "y", 1)
    assert yes.domain.names == ("x",)
    assert yes.marginal(("x",)).tolist() == [4, 5, 0]
    assert int(yes.marginal(())) == 9
    codes, often = yes.combinations(("x",))
    assert (codes.tolist(), often.tolist()) == ([[0], [1]], [4, 5])
    rules = Mistakes(Marginals(order=1, columns=("x",)), "y", (0, 1), 1)
    assert mistakes(rules, held).tolist() == [6, 4, 11, 6, 8, 1]
    with pytest.raises(BadParameter, match="denominator"):
        mistakes(RULES, held)


def test_combinations_of_one_label_keep_all_other_columns():
    domain = Domain((Booleans(name="x"), Integers(name="z", low=0, high=2), Booleans(name="y")))
    held = Cells(domain, np.array([[[1, 4], [0, 0], [3, 2]], [[0, 5], [7, 0], [0, 0]]]))
    codes, often = OneLabel(held, "y", 1).combinations(("x", "z"))
    assert (codes.tolist(), often.tolist()) == ([[0, 0], [0, 2], [1, 0]], [4, 2, 5])


def test_costs_of_rules():
    table = Remembered(Cells(Domain((Booleans(name="y"),)), np.array([0, 3])))
    assert COVER.counts(table).tolist() == [7]
    found = RuleCosts(("y",), np.array([[0, 1], [1, 0], [0, -1]]), COSTS).scores(table)
    assert found.tolist() == [-7, -2, 0]


def test_losses_of_an_edge():
    """Two vertices, one step that looks: ln(1 + 1/w) either way, w = 2."""
    two = edge_loss(np.array([1, 1]), np.array([2 * STEPS, 0]))
    assert float(two) == pytest.approx(math.log(1.5), rel=1e-11)
    assert two > Fraction(math.log(1.5))
    assert two.denominator <= 2**60
    # Three of them: steps with 3 and 2 left, padding 4 and 8: 2/(4 x 3) and 2/(8 x 2).
    three = edge_loss(np.array([1, 1, 1]), np.array([4, 8, 99]) * STEPS)
    assert float(three) == pytest.approx(math.log1p(1 / 6) + math.log1p(1 / 8), rel=1e-11)
    # Eases 1, 2 and 5: the two largest are the ends; with all left 7/(4 x 8), with both ends left 7/(8 x 7).
    uneven = edge_loss(np.array([2, 1, 5]), np.array([4, 8, 99]) * STEPS)
    assert float(uneven) == pytest.approx(math.log1p(7 / 32) + math.log1p(1 / 8), rel=1e-11)
    # One look with large padding later: the first end tells most.
    assert float(edge_loss(np.array([1, 1, 1]), np.array([4, 0, 1]) * STEPS)) == pytest.approx(math.log(2), rel=1e-11)
    assert edge_loss(np.array([1, 1]), np.array([0, 0])) == 0


def test_only_sums_over_rows_make_rules():
    with pytest.raises(BadParameter, match="sums over the rows"):
        Mistakes(Lipschitz(columns=("x",), statistics=(("largest",),)), "y", (0, 1), 1)
    with pytest.raises(TypeError, match="registered"):
        Mistakes(object(), "y", (0, 1), 1)  # type: ignore[arg-type]


def test_every_step_of_an_order_weighs_what_is_left():
    """A path p - q - r with eases 1, 2, 3 and padding 5, blind at last: drawn edges and vertices no longer weigh."""
    path = Remembered(Cells(GRAPH, np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0] * 4, [0] * 4])))
    asked, seen = VertexOrder(EDGES, np.array([1, 2, 3]), np.array([5, 5, 0])), []

    def pick(weights: np.ndarray) -> int:
        seen.append(weights.tolist())
        return (1, 0, 2)[len(seen) - 1]

    assert asked.drawn(path, pick) == (1, 0, 2)
    assert seen == [[STEPS + 5, 2 * (2 * STEPS + 5), 3 * (STEPS + 5)], [5, 0, 15], [0, 0, 3]]


def test_rules_with_weights():
    domain = Domain((Integers(name="x", low=0, high=2), Booleans(name="y")))
    held = Cells(domain, np.array([[1, 4], [0, 5], [2, 0]]))
    halves = Mistakes(Linear(columns=("x",), weights=((1, 0, 2),), whole=2), "y", (0, 1), 2)
    assert mistakes(halves, held).tolist() == [5 + 18 - 4, 4 + 6 - 5]


def test_extra_edges_go_round():
    assert extra_edges(4) == [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)]


def big(vertices: int) -> Edges:
    return Edges(ENDS, vertices)


def test_limits_are_as_far_as_they_say():
    for kind in (AllCuts, lambda edges: PaddedCuts(edges, 1), lambda edges: PaddedSides(edges, 1)):
        kind(big(22))
        with pytest.raises(BadParameter, match="at most 22"):
            kind(big(23))
    ones = np.ones(2048, dtype=np.int64)
    VertexOrder(big(2048), ones, ones)
    with pytest.raises(BadParameter, match="2,048"):
        VertexOrder(big(2049), np.ones(2049, dtype=np.int64), np.ones(2049, dtype=np.int64))
    VertexOrder(big(2), np.array([1, 1024]), np.array([0, 2**40]))
    for ease, padding in (([1, 1025], [1, 1]), ([0, 1], [1, 1]), ([1, 1], [1, 2**40 + 1]), ([1, 1], [-1, 1])):
        with pytest.raises(BadParameter, match="must be from"):
            VertexOrder(big(2), np.array(ease), np.array(padding))
    CoverCost(("y",), np.array([0]), np.array([0, 2**20]))


@pytest.mark.parametrize(
    "made",
    [
        lambda: Edges(("from",), 3),
        lambda: Edges(ENDS, 1),
        lambda: Edges(ENDS, 3, "w", -1, 1),
        lambda: Edges(ENDS, 3, "w", 3, 2),
        lambda: Edges(ENDS, 3, "w", 0, 0),
        lambda: Edges(ENDS, 3, "w", 0, MOST_WEIGHT + 1),
        lambda: Edges(ENDS, 3, "w", 0, np.int64(5)),
        lambda: Edges(ENDS, np.int64(3)),
        lambda: SomeCuts(EDGES, np.ones((1, 2), dtype=bool)),
        lambda: SomeCuts(EDGES, np.ones((0, 3), dtype=bool)),
        lambda: SomeCuts(EDGES, np.ones(3, dtype=bool)),
        lambda: CutWeight(EDGES, np.ones(2, dtype=bool)),
        lambda: CoverCost(("y",), np.array([0]), np.array([], dtype=int)),
        lambda: CoverCost(("y",), np.array([0]), np.array([-1, 1])),
        lambda: CoverCost(("y",), np.array([0]), np.array([1, 2**20 + 1])),
        lambda: CoverCost(("y",), np.array([2]), np.array([1, 1])),
        lambda: CoverCost(("y",), np.array([0.5]), np.array([1, 1])),
        lambda: RuleCosts(("y",), np.array([0, 1]), COSTS),
        lambda: RuleCosts(("y",), np.zeros((0, 2), dtype=int), COSTS),
        lambda: Weighed(("y",), np.array([1, 2]), np.array([0])),
        lambda: Weighed(("y",), np.array([[1, 2]]), np.array([0, 1])),
        lambda: Weighed(("y",), np.array([[1, -2]]), np.array([0])),
        lambda: VertexOrder(EDGES, np.ones(3, dtype=int), np.ones(2, dtype=int)),
    ],
)
def test_what_its_proof_does_not_cover_is_refused(made):
    with pytest.raises(BadParameter):
        made()


def test_tables_of_another_shape_are_refused():
    table = Remembered(Cells(Domain((Booleans(name="y"),)), np.array([0, 3])))
    with pytest.raises(BadParameter, match="weights"):
        Weighed(("y",), np.array([[1, 2, 3]]), np.array([0])).scores(table)
    with pytest.raises(BadParameter, match="covered_by"):
        CoverCost(("y",), np.array([0, 1, 1]), COSTS).counts(table)


@pytest.mark.parametrize(("costs", "most"), [([1, 1], 1), ([2, 7], 7), ([0, 0], 1)])
def test_a_row_brings_at_most_the_largest_cost_into_use(costs: list[int], most: int) -> None:
    asked = CoverCost(("y",), np.array([0, 1]), np.array(costs))
    assert (asked.change(ROW).l1, asked.change(PERSON).l1) == (most, 3 * most)


def test_a_single_cost_is_a_cost() -> None:
    table = Remembered(Cells(Domain((Booleans(name="y"),)), np.array([2, 3])))
    assert CoverCost(("y",), np.array([0, -1]), np.array([4])).counts(table).tolist() == [4]
    assert CoverCost(("y",), np.array([-1, -1]), np.array([4])).counts(table).tolist() == [0]
    with pytest.raises(BadParameter, match="covered_by"):
        CoverCost(("y",), np.array([0, 1]), np.array([4]))


def test_logarithms_are_rounded_up_by_more_than_floats_are_off() -> None:
    for part, whole in ((1, 1), (1, 3), (7, 10**12), (5, 2)):
        exact = vertex_order.log_of_one_more(part, whole)
        about = Fraction(math.log1p(part / whole)) * vertex_order.FINE
        assert about * (1 + Fraction(1, 2**45)) < exact <= about * (1 + Fraction(1, 2**35)) + 1


def test_the_loss_of_an_edge_is_the_sum_of_its_parts_and_no_more() -> None:
    log = vertex_order.log_of_one_more
    three = edge_loss(np.array([1, 1, 1]), np.array([4, 8, 99]) * STEPS)
    assert three == Fraction(log(2 * STEPS, 4 * STEPS * 3) + log(2 * STEPS, 8 * STEPS * 2), vertex_order.FINE)
    # Eases 1 to 5: the ends are 4 and 5, and with all left the others add 6, with one gone at least 3.
    five = edge_loss(np.array([5, 1, 4, 2, 3]), np.array([2, 2, 0, 0, 0]) * STEPS)
    assert five == Fraction(log(9 * STEPS, 2 * STEPS * 15) + log(9 * STEPS, 2 * STEPS * 12), vertex_order.FINE)
