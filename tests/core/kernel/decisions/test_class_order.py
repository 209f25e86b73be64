"""The order by classes of cost: its exact loss on small graphs, draw by draw, and what it refuses."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.decisions.class_order import ClassOrder, class_loss
from core.kernel.decisions.cuts import Edges
from core.kernel.decisions.vertex_order import STEPS
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from tests.core.kernel.decisions.test_vertex_order import table


class Followed:
    """Draws as it is told and adds up what that is worth; beyond the list it stops and tells what could come next."""

    def __init__(self, told):
        self.told, self.place, self.total = told, 0, 0.0

    def __call__(self, weights):
        if self.place == len(self.told):
            raise StopIteration(weights)
        chosen = self.told[self.place]
        self.place += 1
        self.total += float(np.log(weights[chosen]) - np.log(weights.sum()))
        return chosen


def chances(asked, counts):
    """The exact log-probability of every list of draws, by following each of them to its end."""
    found, unfinished = {}, [()]
    while unfinished:
        followed = Followed(unfinished.pop())
        try:
            asked.drawn(counts, followed)
            found[followed.told] = followed.total
        except StopIteration as stopped:
            unfinished += [(*followed.told, int(place)) for place in np.flatnonzero(stopped.value)]
    return found


CLASSES = [(0, 0, 0), (0, 1, 1), (0, 0, 2), (1, 0, 3)]


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("padding", [0.5, 3.0])
def test_no_edge_of_a_small_graph_tells_more_than_is_proven(classes, padding):
    asked = ClassOrder(Edges(("from", "to"), 3), np.array(classes), round(padding * STEPS))
    pairs = list(combinations(range(3), 2))
    graphs = [edges for count in range(4) for edges in combinations(pairs, count)]
    laws = {edges: chances(asked, table(3, edges)) for edges in graphs}
    for law in laws.values():
        assert sum(np.exp(list(law.values()))) == pytest.approx(1)
    lost = max(
        abs(laws[edges][draws] - laws[tuple(each for each in edges if each != gone)][draws])
        for edges in graphs
        for gone in edges
        for draws in laws[edges]
    )
    assert lost <= float(asked.epsilon(Unit.row()))
    assert lost > 0.25 * float(asked.epsilon(Unit.row())), "a bound far too large would cost accuracy for nothing"


def test_the_loss_by_hand():
    """Two vertices of each of two classes: eases 2 and 1, sums 6 and 2, one draw on each class."""
    by_class = [np.log1p(4 / (3 * 6)), np.log1p(2 / (3 * 6)) + np.log1p(2 / (3 * 2))]
    assert float(class_loss(2, 1, 3 * STEPS)) == pytest.approx(max(np.log1p(1 / 3), *by_class))
    assert ClassOrder(Edges(("from", "to"), 4), np.array([0, 0, 1, 1]), 3 * STEPS).epsilon(
        Unit.id("who", 4)
    ) == 4 * class_loss(2, 1, 3 * STEPS)


@pytest.mark.parametrize(("size", "top"), [(1, 0), (3, 0), (4, 2), (5, 1), (2, 3)])
def test_the_loss_is_the_largest_sum(size, top):
    """The same sums again, in floating point and as they stand in the proof."""
    ease = 2.0 ** -np.arange(top + 1)
    by_class = [
        sum(
            np.log1p(2 * ease[a] / (1.5 * (ease[j:].sum() * size - k * ease[j])))
            for j in range(a + 1)
            for k in range(size)
            if 2 * k < size
        )
        for a in range(top + 1)
    ]
    found = class_loss(size, top, 3 * STEPS // 2)
    assert float(found) == pytest.approx(max(np.log1p(1 / 1.5), *by_class), rel=1e-9)
    assert float(found) >= max(np.log1p(1 / 1.5), *by_class) * (1 - 1e-15), "never rounded down"


def test_the_weights_of_every_draw():
    """Classes of one and two: one imagined vertex in the first; its draw is half of two, so the class is put out."""
    asked, seen, told = ClassOrder(Edges(("from", "to"), 3), np.array([0, 1, 1]), 5), [], [3, 0, 2, 1]

    def pick(weights):
        seen.append([int(each) for each in weights])
        return told[len(seen) - 1]

    assert asked.drawn(table(3, ((0, 1),)), pick) == (0, 2, 1)
    assert seen == [[2 * (STEPS + 5), STEPS + 5, 5, 10, 0], [1, 0, 0], [0, 5, 5, 0, 0], [0, 1, 0]]


def test_limits():
    two, most = Edges(("from", "to"), 2), (2**62 // 3 - 2 * STEPS) // 2
    assert ClassOrder(two, np.array([0, 0]), most).padding == most
    with pytest.raises(BadParameter, match="too large"):
        ClassOrder(two, np.array([0, 0]), most + 1)
    most = 2**62 // 2 // 4 - 2 * STEPS  # the ease is 2; two vertices and two classes of one
    assert ClassOrder(two, np.array([0, 1]), most).padding == most
    with pytest.raises(BadParameter, match="too large"):
        ClassOrder(two, np.array([0, 1]), most + 1)
    for padding, why in ((2**62, "too large"), (2**62 + 1, "from 1 to")):
        with pytest.raises(BadParameter, match=why):
            ClassOrder(two, np.array([0, 0]), padding)
    assert ClassOrder(two, np.array([0, 20]), 1).top == 20
    assert ClassOrder(Edges(("from", "to"), 2048), np.zeros(2048, dtype=int), 1).size == 2048
    with pytest.raises(BadParameter, match="2,048"):
        ClassOrder(Edges(("from", "to"), 2049), np.zeros(2049, dtype=int), 1)


def test_every_vertex_is_put_out_once_and_cheap_classes_end_first():
    asked = ClassOrder(Edges(("from", "to"), 5), np.array([0, 0, 1, 1, 2]), STEPS)
    orders = [asked.drawn(table(5, ((0, 4), (1, 4))), Noise().pick) for _ in range(200)]
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)
    last = [order[-1] for order in orders]
    assert last.count(4) + last.count(2) + last.count(3) > last.count(0) + last.count(1)


@pytest.mark.parametrize(
    ("classes", "padding"),
    [([0, 1, 2], 1), ([0, -1], 1), ([0, 21], 1), ([0, 0], 0), ([0, 0], 2**63), ([0, 0], np.int64(9))],
)
def test_bad_orders_are_refused(classes, padding):
    with pytest.raises(BadParameter):
        ClassOrder(Edges(("from", "to"), 2), np.array(classes), padding)


def drawn(classes: list[int], told: list[int], edges=()) -> tuple[tuple[int, ...], list[list[int]]]:
    """The order, and the weights of every draw, with padding 5."""
    seen: list[list[int]] = []

    def pick(weights):
        seen.append([int(each) for each in weights])
        return told[len(seen) - 1]

    asked = ClassOrder(Edges(("from", "to"), len(classes)), np.array(classes), 5)
    return asked.drawn(table(len(classes), edges), pick), seen


@pytest.mark.parametrize(("size", "looks"), [(2, 1), (3, 2), (4, 2), (5, 3)])
def test_a_class_is_put_out_after_half_of_its_draws_and_not_before(size, looks):
    order, seen = drawn([0] * size, list(range(size)))
    assert order == tuple(range(size))
    assert [max(weights) for weights in seen] == [5] * looks + [1] * (size - looks)


def test_draws_on_classes_above_count_for_those_below():
    """One draw on the dear class fills both; after it the cheap one is put out whole, and the dear one too."""
    order, seen = drawn([0, 0, 1, 1], [2, 1, 0, 3])
    assert order == (2, 1, 0, 3)
    assert seen == [[10, 10, 5, 5, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_imagined_vertices_are_drawn_once_each_and_count_as_real_ones_do():
    """The cheap class has one real vertex and two imagined; two draws of three fill it, then the dear one."""
    order, seen = drawn([0, 1, 1, 1], [4, 4, 0, 1, 2, 3])
    assert order == (0, 1, 2, 3)
    assert seen[:3] == [[10, 5, 5, 5, 20, 0], [10, 5, 5, 5, 10, 0], [1, 0, 0, 0]]
    assert seen[3:] == [[0, 5, 5, 5, 0, 0], [0, 0, 5, 5, 0, 0], [0, 0, 0, 1]]


def test_an_edge_counts_until_one_of_its_ends_is_out():
    order, seen = drawn([0] * 5, [1, 0, 3, 4, 2], edges=((0, 1), (1, 2), (2, 3)))
    assert order == (1, 0, 3, 4, 2)
    one, two = STEPS + 5, 2 * STEPS + 5
    assert seen[:3] == [[one, two, two, one, 5, 0], [5, 0, one, one, 5, 0], [0, 0, one, one, 5, 0]]


def test_an_edge_to_a_class_that_was_put_out_counts_no_more():
    """The cheap class of one vertex is full after one draw on the dear one, and put out; its edge goes with it."""
    _, seen = drawn([0, 1, 1, 1], [1, 2, 0, 3], edges=((0, 3), (1, 2)))
    assert seen[:3] == [
        [2 * (STEPS + 5), STEPS + 5, STEPS + 5, STEPS + 5, 20, 0],
        [2 * (STEPS + 5), 0, 5, STEPS + 5, 20, 0],
        [1, 0, 0, 0],
    ]
    _, seen = drawn([0, 0, 1, 1], [2, 0, 1, 3], edges=((0, 3), (1, 3)))
    assert [weights[:4] for weights in seen[1:]] == [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
