"""The padded order: its exact loss on all small graphs, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from core.base.errors import BadParameter, Undeclared
from core.kernel.decisions.cuts import Edges
from core.kernel.decisions.vertex_order import STEPS, VertexOrder, edge_loss
from core.kernel.kernel import Kernel
from core.privacy.events import Cost, Pure
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain
from core.table.counts import Cells

Edge = tuple[int, int]


def table(vertices: int, edges: tuple[Edge, ...], unit: Unit | None = None) -> Cells:
    names = tuple(f"v{place}" for place in range(vertices))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    cells = np.zeros((vertices, vertices), dtype=np.int64)
    for one, two in edges:
        cells[one, two] += 1
    return Cells(domain, cells, unit or Unit.row())


def log_chance(asked: VertexOrder, counts: Cells, order: tuple[int, ...]) -> float:
    """The exact log-probability of an order, by forcing every draw."""
    total, left = 0.0, list(order)

    def pick(weights: np.ndarray) -> int:
        nonlocal total
        chosen = left.pop(0)
        total += float(np.log(weights[chosen]) - np.log(weights.sum()))
        return chosen

    assert asked.drawn(counts, pick) == order
    return total


def worst_loss(asked: VertexOrder, vertices: int) -> float:
    pairs = list(combinations(range(vertices), 2))
    graphs = [edges for count in range(len(pairs) + 1) for edges in combinations(pairs, count)]
    chances = {
        edges: [log_chance(asked, table(vertices, edges), order) for order in permutations(range(vertices))]
        for edges in graphs
    }
    return max(
        float(np.abs(np.subtract(chances[edges], chances[tuple(each for each in edges if each != gone)])).max())
        for edges in graphs
        for gone in edges
    )


EASES = [(1, 1, 1, 1), (1, 4, 2, 7), (1, 1, 100, 1)]
PADDINGS = [(2.0, 2.5, 3.0, 4.0), (1.5, 1.5, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5)]


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("ease", EASES)
@pytest.mark.parametrize("padding", PADDINGS)
def test_no_edge_of_a_small_graph_tells_more_than_is_proven(ease, padding):
    asked = VertexOrder(Edges(("from", "to"), 4), np.array(ease), np.array([round(each * STEPS) for each in padding]))
    proven = float(edge_loss(asked.ease, asked.padding))
    lost = worst_loss(asked, 4)
    assert lost <= proven
    # A bound that is several times too large would cost accuracy for nothing.
    assert lost > 0.4 * proven


def test_a_unit_of_more_edges_costs_as_many_times_more():
    asked = VertexOrder(Edges(("from", "to"), 3), np.ones(3, dtype=int), np.full(3, 4 * STEPS))
    one = asked.epsilon(Unit.row())
    assert one == edge_loss(asked.ease, asked.padding)
    # Two bounds: ln(1 + 1/4), and ln(1 + 2/(4 3)) + ln(1 + 2/(4 2)) for the two steps that an edge can see.
    assert float(one) == pytest.approx(np.log1p(1 / 6) + np.log1p(1 / 4))
    assert asked.epsilon(Unit.id("who", 5)) == 5 * one
    assert asked.epsilon(Unit.row("replace")) == 2 * one


def test_the_kernel_holds_the_padding_against_the_event():
    asked = VertexOrder(Edges(("from", "to"), 3), np.ones(3, dtype=int), np.full(3, 4 * STEPS))
    enough = asked.epsilon(Unit.row())
    counts = table(3, ((0, 1),))
    kernel = Kernel(counts, Noise(), Cost.of([Pure(enough)]))
    with pytest.raises(BadParameter, match="too small"):
        kernel.order(asked, Pure(enough * Fraction(99, 100)))
    assert sorted(kernel.order(asked, Pure(enough))) == [0, 1, 2]
    with pytest.raises(Undeclared):
        kernel.order(asked, Pure(enough))


def test_rows_that_are_no_edges_do_not_count():
    edges = Edges(("from", "to"), 2)
    domain = Domain(tuple(Categories(name=name, values=("p", "q"), other="else") for name in edges.columns))
    loops = Cells(domain, np.array([[5, 0, 2], [1, 3, 0], [0, 4, 1]]))
    assert edges.weights(loops).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("ease", "padding"), [([0, 1], [1, 1]), ([1, 1], [-1, 1]), ([1, 2**11], [1, 1]), ([1, 1, 1], [1, 1])]
)
def test_bad_orders_are_refused(ease, padding):
    with pytest.raises(BadParameter):
        VertexOrder(Edges(("from", "to"), 2), np.array(ease), np.array(padding))


def test_the_first_of_a_hub_is_likelier_than_of_a_leaf():
    asked = VertexOrder(Edges(("from", "to"), 4), np.ones(4, dtype=int), np.full(4, STEPS))
    star = table(4, ((0, 1), (0, 2), (0, 3)))
    first = [asked.drawn(star, Noise().pick)[0] for _ in range(400)]
    # Weight 4 of 10 against 2 of 10 each: 160 +- 10.
    assert 110 < first.count(0) < 210
