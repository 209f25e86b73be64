"""Crowding: the exact law of what it tells on all small tables, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from core.base.errors import BadParameter, Undeclared
from core.kernel.kernel import Kernel
from core.kernel.searches.crowding import Crowding, depth_of
from core.privacy.events import Cost, Laplace, Pure
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.privacy.kit.recorder import Recorder

ROW = Unit.row()


def table(cells, unit=ROW) -> Cells:
    counts = np.array(cells)
    names = (Integers(name=name, low=0, high=size - 1) for name, size in zip("xyz", counts.shape, strict=False))
    return Cells(Domain(tuple(names)), counts, unit)


class Outcomes:
    """Follows every way in which a halving can go, with the logarithm of its chance."""

    def __init__(self, asked: Crowding, counts: Cells, epsilon: Fraction, rate: float, unit: Unit = ROW) -> None:
        self.found: dict[tuple, float] = {}
        self._ways: list[list[tuple[bool, ...]]] = [[]]
        while self._ways:
            self._script, self._step, self._chance = self._ways.pop(), 0, 0.0
            boxes = asked.drawn(counts, epsilon, unit, lambda levels, **_: self._forced(levels, rate))
            self.found[tuple(map(tuple, np.hstack([boxes[-1].low, boxes[-1].high]).tolist()))] = self._chance

    def _forced(self, levels: np.ndarray, rate: float) -> np.ndarray:
        if self._step == len(self._script):
            first, *others = product((False, True), repeat=levels.size)
            self._ways += [[*self._script, each] for each in others]
            self._script = [*self._script, first]
        halved = np.array(self._script[self._step])
        chances = _halved(levels.astype(float), rate)
        self._chance += float(np.log(np.where(halved, chances, 1 - chances)).sum())
        self._step += 1
        return halved


def _halved(levels: np.ndarray, rate: float) -> np.ndarray:
    """The chance that a level with discrete Laplace noise is at least 1, from its closed form."""
    q = math.exp(-rate)
    return np.where(levels >= 1, 1 - q**levels / (1 + q), q ** (1 - levels) / (1 + q))


def worst_loss(asked: Crowding, shape: tuple[int, ...], epsilon: Fraction, most: int) -> float:
    """The largest change of the logarithm of any outcome's chance when a row is added, over all tables of few rows."""
    rate = float(asked.rate(epsilon, ROW))
    cells = math.prod(shape)
    laws = {
        counts: Outcomes(asked, table(np.reshape(counts, shape)), epsilon, rate).found
        for counts in product(range(most + 2), repeat=cells)
        if sum(counts) <= most + 1
    }
    lost = 0.0
    for counts, law in laws.items():
        for place in range(cells):
            more = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
            if more in laws:
                assert law.keys() == laws[more].keys()
                lost = max(lost, *(abs(law[told] - laws[more][told]) for told in law))
    return lost


@pytest.mark.exhaustive
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(6)])
def test_no_row_of_a_small_column_tells_more_than_is_paid(epsilon):
    lost = worst_loss(Crowding(("x",), (1,)), (4,), epsilon, 5)
    assert lost <= epsilon
    # A bound that is several times too large would cost accuracy for nothing.
    assert lost > 0.2 * epsilon


def test_no_row_of_a_small_table_tells_more_than_is_paid():
    assert worst_loss(Crowding(("x", "y"), (1, 1)), (2, 2), Fraction(2), 4) <= 2


def test_where_a_search_begins_tells_nothing():
    begun = Crowding(("x",), (2,), np.array([1, 2]))
    assert worst_loss(begun, (5,), Fraction(2), 3) <= 2


class Paths:
    """Forces every box of the first cell's path to be halved and no other, and adds up the logarithms of chances."""

    def __init__(self, asked: Crowding, count: int, epsilon: Fraction, size: int = 2**20) -> None:
        cells = np.zeros(size, dtype=np.int64)
        cells[0] = count
        self.chance, self._rate = 0.0, float(asked.rate(epsilon, ROW))
        asked.drawn(table(cells), epsilon, ROW, self._forced)

    def _forced(self, levels: np.ndarray, **_: object) -> np.ndarray:
        halved = np.arange(levels.size) == 0
        chances = _halved(levels.astype(float), self._rate)
        self.chance += float(np.log(np.where(halved, chances, 1 - chances)).sum())
        return halved


def path_loss(epsilon: Fraction) -> float:
    """The largest loss of a row of one crowded cell, when everything down to the cell is told."""
    asked = Crowding(("x",), (1,))
    chances = [Paths(asked, count, epsilon).chance for count in (0, 1, 30, 31, 90, 91, 250, 251)]
    return max(abs(more - fewer) for fewer, more in zip(chances[::2], chances[1::2], strict=True))


@pytest.mark.exhaustive
def test_a_deep_path_of_one_crowded_cell_tells_no_more():
    # Every box of twenty steps holds the same rows: the loss is a sum that the bias keeps from growing.
    assert path_loss(Fraction(1)) <= 1


def test_a_unit_of_more_rows_gets_noise_of_more_rows():
    asked = Crowding(("x",), (1,))
    for unit in (Unit.id("who", 5), Unit.row("replace"), Unit.id("who", 3, "replace")):
        assert asked.rate(Fraction(1), unit) == asked.rate(Fraction(1, unit.l1), ROW)
        spy = Recorder(0)
        Kernel(table([40, 0, 0, 9], unit), spy, Cost((Pure(Fraction(1)),))).halve(asked, Pure(Fraction(1)))
        assert {(call.kind, call.amount / call.sensitivity) for call in spy.calls} == {
            ("exceeds", asked.rate(Fraction(1), unit))
        }


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 7), Fraction(1), Fraction(50)])
def test_rate_and_bias_keep_the_proof(columns, epsilon):
    asked, halves = Crowding(tuple("xyz"[:columns]), (1,) * columns), 2**columns
    rate = asked.rate(epsilon, ROW)
    floor, bias = asked.floor(rate), asked.bias(rate)
    assert math.exp(-float(rate) * floor) <= 1 / halves and math.exp(-float(rate) * (bias - floor)) <= 1 / 2
    # The product itself, of a path whose counts never fall: not the bound that the proof has for it.
    levels = -floor + bias * np.arange(60.0)
    lost = np.log(_halved(levels + 1, float(rate)) / _halved(levels, float(rate))).sum()
    assert lost <= epsilon
    # Little is lost to the bound where epsilon is small; beyond 1 the rate is held at 1.
    assert lost > 0.7 * epsilon or epsilon > 1


def test_rates_and_biases_by_hand():
    """a = 9 e/(13 + 2 e) up to 1, F the next whole number above ln(k)/a, and D that and the next one above ln(2)/a."""
    line, plane = Crowding(("x",), (1,)), Crowding(("x", "y"), (1, 1))
    assert [line.rate(Fraction(e), ROW) for e in (1, 50)] == [Fraction(9, 15), 1]
    assert line.rate(Fraction(2), Unit.id("who", 2)) == plane.rate(Fraction(1), ROW) == Fraction(9, 15)
    assert [each.floor(Fraction(1, 4)) for each in (line, plane)] == [3, 6]
    assert [each.bias(Fraction(1, 4)) for each in (line, plane)] == [6, 9]
    assert [line.bias(Fraction(1)), plane.bias(Fraction(1))] == [2, 3]
    assert 0 <= line.floor(Fraction(1, 2**30)) - 2**30 * math.log(2) <= 2**12
    assert 0 <= plane.bias(Fraction(1, 2**30)) - 3 * 2**30 * math.log(2) <= 2**13
    assert line.most_left(5, 0.5, Fraction(1), ROW) == line.most_left(5, 0.9, Fraction(1), ROW) == 2 + 5 * 4
    assert line.most_left(2, 1 / (2 * math.e), Fraction(1), ROW) == pytest.approx(2 + 2 * 4 + 15 / 9)
    # The widest noise is of scale 2^50: 9 e/(13 + 2 e) = 2^-50.
    smallest = Fraction(13, 9 * 2**50 - 2)
    assert line.rate(smallest, ROW) == Fraction(1, 2**50)
    with pytest.raises(BadParameter, match="epsilon"):
        line.rate(smallest * Fraction(99, 100), ROW)


def slow_cut(sides, parts: tuple[int, ...]) -> list:
    """A box cut into so many parts along each column."""
    edges = [
        [a + place * (b - a) // part for place in range(part + 1)] for (a, b), part in zip(sides, parts, strict=True)
    ]
    return list(product(*(list(pairwise(each)) for each in edges)))


def slow_start(shape: tuple[int, ...], parts: tuple[int, ...], finer: list[int] | None) -> list:
    first = [(box, None, True) for box in slow_cut([(0, size) for size in shape], parts)]
    if finer is None:
        return [first]
    made = []
    for place, ((box, _, _), cut) in enumerate(zip(first, finer, strict=True)):
        made += [(part, place, True) for part in slow_cut(box, tuple(min(cut, b - a) for a, b in box))]
    return [first, sorted(made, key=lambda each: [a for a, _ in each[0]])]


def slow_steps(cells: np.ndarray, start: list, floor: int, bias: int, wanted) -> tuple[list, list]:
    """The boxes after each step and the levels that were asked about, box by box; `wanted` says which are halved."""
    found, asked, boxes, depth = list(start), [], start[-1], 0
    while True:
        open_ = [place for place, (box, _, fresh) in enumerate(boxes) if fresh and any(b - a > 1 for a, b in box)]
        if not open_:
            return found, asked
        rows = [cells[tuple(slice(a, b) for a, b in boxes[place][0])].sum() for place in open_]
        asked.append([max(int(count) - floor - depth * bias, -floor) for count in rows])
        depth += 1
        halved = {place for place, cut in zip(open_, wanted(len(open_)), strict=True) if cut}
        if not halved:
            return found, asked
        made = []
        for place, (box, _, _) in enumerate(boxes):
            if place in halved:
                halves = [[(a, (a + b) // 2), ((a + b) // 2, b)] if b - a > 1 else [(a, b)] for a, b in box]
                made += [(each, place, True) for each in product(*halves)]
            else:
                made.append((box, place, False))
        boxes = sorted(made, key=lambda each: [a for a, _ in each[0]])
        found.append(boxes)


@pytest.mark.parametrize(
    ("shape", "parts", "finer"),
    [
        ((11,), (3,), None),
        ((8,), (8,), None),
        ((13,), (3,), [2, 9, 1]),
        ((3, 6), (1, 2), None),
        ((9, 8), (2, 2), [1, 3, 2, 4]),
        ((2, 3, 5), (1, 1, 2), None),
        ((4, 3, 5), (1, 2, 1), [1, 2]),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_a_slow_search(shape, parts, finer, seed):
    """Every level that is compared, every box and its parent, with the same answers of the noise."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(0, 9, shape)
    asked = Crowding(tuple("xyz"[: len(shape)]), parts, None if finer is None else np.array(finer))
    script = [generator.random(200) < 0.6 for _ in range(9)]
    ours, theirs = iter(script), iter(script)
    seen: list[list[int]] = []

    def exceeds(levels, **_):
        seen.append(levels.tolist())
        return next(ours)[: levels.size]

    found = asked.drawn(table(cells), Fraction(1), ROW, exceeds)
    rate = asked.rate(Fraction(1), ROW)
    start = slow_start(shape, parts, finer)
    boxes, levels = slow_steps(cells, start, asked.floor(rate), asked.bias(rate), lambda n: next(theirs)[:n])
    assert seen == levels and len(found) == len(boxes)
    for step, (one, other) in enumerate(zip(found, boxes, strict=True)):
        assert one.low.tolist() == [[a for a, _ in box] for box, _, _ in other]
        assert one.high.tolist() == [[b for _, b in box] for box, _, _ in other]
        assert one.parents.tolist() == ([parent for _, parent, _ in other] if step else [])


def test_how_often_a_box_can_be_halved():
    assert depth_of((10,), (3,)) == 2 and depth_of((33, 21), (4, 3)) == 4 and depth_of((5,), (5,)) == 0
    assert depth_of((4, 64), (4, 8)) == 3


def test_boxes_cover_the_table_once_and_nest():
    generator = np.random.default_rng(1)
    counts = table(generator.multinomial(5_000, generator.dirichlet(np.full(33 * 21, 0.05))).reshape(33, 21))
    asked = Crowding(("x", "y"), (4, 3))
    found = Kernel(counts, Noise(), Cost((Pure(Fraction(1)),))).halve(asked, Pure(Fraction(1)))
    assert len(found) > 2
    for above, below in pairwise(found):
        covered = np.zeros((33, 21), dtype=int)
        for low, high in zip(below.low, below.high, strict=True):
            covered[low[0] : high[0], low[1] : high[1]] += 1
        assert (covered == 1).all()
        assert (above.low[below.parents] <= below.low).all()
        assert (below.high <= above.high[below.parents]).all()


def test_single_cells_and_empty_stretches():
    cells = np.zeros(2**14, dtype=np.int64)
    cells[777] = 100_000
    asked = Crowding(("x",), (1,))
    found = Kernel(table(cells), Noise(), Cost((Pure(Fraction(1)),))).halve(asked, Pure(Fraction(1)))[-1]
    alone = found.high - found.low == 1
    assert [777] in found.low[alone[:, 0]].tolist()
    # Beside 14 stretches along the path an empty one has less than one more on average.
    assert len(found.low) < 60
    assert depth_of((2**14,), (1,)) == 14


@pytest.mark.exhaustive
def test_what_is_left_whole_is_small():
    asked, generator = Crowding(("x",), (4,)), np.random.default_rng(0)
    beyond = 0
    for _ in range(80):
        cells = generator.integers(0, 60, 64)
        found = Kernel(table(cells), Noise(), Cost((Pure(Fraction(1)),))).halve(asked, Pure(Fraction(1)))[-1]
        sums = np.add.reduceat(cells, found.low[:, 0])
        wide = (found.high - found.low)[:, 0] > 1
        beyond += bool((sums[wide] > asked.most_left(4, 0.05 / 64, Fraction(1), ROW)).any())
    # 4 of 80 are expected at most; 15 have a chance below 1e-4.
    assert beyond < 15


def test_what_is_refused_is_not_paid():
    counts, one = table([3, 0, 1, 7]), Pure(Fraction(1))
    kernel = Kernel(counts, Noise(), Cost((one,)))
    for asked, event in (
        (Crowding(("x",), (5,)), one),
        (Crowding(("x",), (0,)), one),
        (Crowding(("x",), (1, 1)), one),
        (Crowding(("x",), ()), one),
        (Crowding(("x",), (2,), np.array([1])), one),
        (Crowding(("x",), (2,), np.array([1, 0])), one),
        (Crowding(("x",), (1,)), Pure(Fraction(1, 2**60))),
    ):
        with pytest.raises(BadParameter):
            kernel.halve(asked, event)
    with pytest.raises(BadParameter, match="finer"):
        Crowding(("x",), (1,), np.array([0.5]))
    with pytest.raises(TypeError):
        kernel.halve(Crowding(("x",), (1,)), Laplace(Fraction(1)))
    kernel.halve(Crowding(("x",), (2,)), one)
    with pytest.raises(Undeclared):
        kernel.halve(Crowding(("x",), (2,)), one)
