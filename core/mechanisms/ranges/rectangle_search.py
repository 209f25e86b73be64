"""Rectangles by noisy binary search, one axis after the other: the paper's idea for intervals in more columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import Refused
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.tables import Boxes, one_cell
from core.mechanisms.kit.portions import beside_total, count_level, measure_total, share_of, total_events, wanted
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.settings import accuracy_option, settle
from core.models.fitting.simplex import simplex
from core.models.histogram import MOST_CELLS
from core.models.range_tables import Ranges, ranges
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain
from core.theory.intervals import FEWEST, log_box_rows, log_parts, splits_for

MASS_SHARE = Fraction(1, 2)
"""Part of the budget that goes to the final boxes' own counts; they are asked in one draw, so it goes far."""
BAND = 1 / 32
"""A cut is accepted when its noisy share of the box is within this of one half."""
HEAVY = 1 / 8
"""A slice of one cell with more than this share of its box becomes a box of its own."""
MOST_BOXES = 2**16
MOST_COLUMNS = 3
ROUND = 4e-4
"""Seconds for one round of all searches."""


@dataclass(frozen=True)
class SearchTable:
    """One table to be cut into boxes, and what each step costs."""

    columns: Columns
    bits: tuple[int, ...]
    splits: int
    """How often each axis is cut."""
    step: Additive
    """One round of all searches at a depth."""
    final: Additive
    """The counts of the final boxes."""

    @property
    def rounds(self) -> int:
        return self.splits * sum(self.bits)


@dataclass(frozen=True, eq=False)
class Partition:
    """Disjoint boxes of cells, low (inside) to high (outside) along each axis, with an estimated mass each."""

    low: IntArray
    high: IntArray
    mass: Floats


@dataclass(frozen=True, kw_only=True)
class RectangleSearch:
    """Halve boxes by noisy binary search for their median, axis after axis, and count the final boxes once more.

    **Privacy** boxes of one depth are disjoint, so one round of all their searches is one table: L1 sensitivity
    unit.l1 (squared L2: unit.l2_squared). There are splits x (sum of bits) rounds, fixed in advance, which share 48 to
    50 % of the budget; the final boxes are one more table with half of it; a private number of rows costs 1/50. Which
    counts are asked depends on earlier noisy answers only.

    **Accuracy** a side of a rectangle enters only one part of a box that was cut along its axis (a heavy slice of a
    single cell is never cut through), and that part has at most 9/16 of the box, beside noise. After
    k = log(4d/accuracy)/log(16/9) cuts per axis the boxes that the 2d sides cut through hold at most accuracy/2 of all
    rows, beside noise; with `required_rows` the noise of all steps is no more than that, with probability 95 %
    (proved in `theory/intervals.py`). That many rows are rarely there: in practice the noise of the final counts inside
    a rectangle, about (2 unit.l1/epsilon) sqrt(boxes), comes on top.

    **Runtime** O(cells + boxes x rounds).

    Theorem: B theorem 4.2 with its remark on axis-aligned rectangles; parallel composition over the boxes of a depth.
    """

    name: ClassVar[str] = "rectangle-search"
    title: ClassVar[str] = "Rectangles by noisy binary search (the paper's)"
    known_as: ClassVar[tuple[str, ...]] = ("k-d tree",)
    prefer: ClassVar[str] = "Choose it to see the paper's idea at work; 'rectangle-tree' is more accurate."
    for_study: ClassVar[bool] = True

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = accuracy_option(
        "Largest error of a rectangle, as a share of all rows, that the boxes are made for."
    )

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            if query.name != "rectangles":
                raise Refused(
                    f"'rectangle-search' serves rectangles, not '{query.name}'; use 'interval-search' or "
                    "'interval-tree' for ranges of one column, and 'tree' for tables."
                )
        for columns in wanted(self.queries, domain):
            if len(columns) > MOST_COLUMNS:
                raise Refused(
                    f"'rectangle-search' cuts at most {MOST_COLUMNS} columns and a rectangle here has {len(columns)}; "
                    "choose fewer columns, or use 'tree'."
                )
            if (cells := domain.cells(columns)) > MOST_CELLS:
                raise Refused(
                    f"A table of {amount(cells)} cells is too large for 'rectangle-search', which holds "
                    f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins."
                )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        tables = self._tables(domain, unit)
        asked = [event for table in tables for event in [table.step] * table.rounds + [table.final]]
        return Cost.of([*asked, *total_events(self.budget, unit)])

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Noise of the final counts in a rectangle that holds a third of the boxes along each axis."""
        means, worst = [], []
        for table in self._tables(domain, unit):
            boxes = min(2.0 ** (len(table.columns) * table.splits), MOST_BOXES, domain.cells(table.columns))
            level = NoiseLevel(table.final, one_cell(unit))
            means.append(level.sigma * math.sqrt(2 / math.pi * boxes / 3 ** len(table.columns)))
            worst.append(level.tail(0.05) * math.sqrt(boxes))
        about = f"The noise in a rectangle, beside the {self.accuracy / 2:.1%} of all rows that its sides cut through"
        return Expected(mean=sum(means) / len(means), worst=max(worst), about=about)

    def required_rows(self, domain: Domain, unit: Unit) -> float:
        """Rows from which on the accuracy is proven with probability 95 %; infinite where boxes may remain uncut."""
        found = self._tables(domain, unit)
        each = 0.05 / (len(found) + len(total_events(self.budget, unit)))
        total = sum(count_level(event, unit).tail(each) for event in total_events(self.budget, unit))
        needed = 0.0
        for table in found:
            log_sizes = [math.log(size) for size in domain.shape(table.columns)]
            boxes = math.exp(sum(log_parts(log_sizes, table.splits)))
            if boxes > MOST_BOXES // 3:
                return math.inf
            level, counted = NoiseLevel(table.step, one_cell(unit)), NoiseLevel(table.final, one_cell(unit))
            rows = log_box_rows(
                self.accuracy,
                log_sizes,
                search=level.tail(each / (2 * table.rounds * boxes)),
                least=FEWEST * level.sigma,
                final=counted.tail(each / (2 * boxes)),
                total=total,
            )
            needed = max(needed, math.exp(rows))
        return needed

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """Its own proof."""
        return self.accuracy * rows if rows >= self.required_rows(domain, unit) else None

    def seconds(self, domain: Domain, unit: Unit) -> float:
        rounds = sum(table.rounds for table in self._tables(domain, unit))
        return TABLE * (len(wanted(self.queries, domain)) + len(domain)) + ROUND * rounds

    def run(self, kernel: Kernel, progress: Progress = silent) -> Ranges:
        self.check(kernel.domain, kernel.unit)
        total = measure_total(kernel, self.budget)
        tables = self._tables(kernel.domain, kernel.unit)
        released: dict[Columns, Floats] = {}
        for done, table in enumerate(tables):
            progress("Searching for boxes", done / len(tables))
            shape = kernel.domain.shape(table.columns)
            partition = cut(kernel, table, total)
            final = kernel.measure(Boxes(table.columns, partition.low, partition.high), table.final)
            released[table.columns] = _spread(partition, simplex(final.values.astype(np.float64), total), shape)
        return ranges(kernel.domain, released, total, kernel.generator())

    def _tables(self, domain: Domain, unit: Unit) -> tuple[SearchTable, ...]:
        tables = wanted(self.queries, domain)
        left = beside_total(unit)
        whole = sum(map(Fraction, tables.values()))
        found = []
        for columns, weight in tables.items():
            share = left * Fraction(weight) / whole
            bits = tuple(max(1, math.ceil(math.log2(size))) for size in domain.shape(columns))
            splits = splits_for(self.accuracy, len(columns))
            step = share_of(self.budget, share * (1 - MASS_SHARE) / (splits * sum(bits)))
            found.append(SearchTable(columns, bits, splits, step, share_of(self.budget, share * MASS_SHARE)))
        return tuple(found)


def cut(kernel: Kernel, table: SearchTable, total: float) -> Partition:
    """The boxes after all cuts, one axis after the other."""
    partition = _whole(kernel.domain.shape(table.columns), total)
    for depth in range(table.splits * len(table.columns)):
        partition = _halved(kernel, table, partition, depth % len(table.columns))
    return partition


def _whole(shape: tuple[int, ...], total: float) -> Partition:
    return Partition(np.zeros((1, len(shape)), dtype=np.int64), np.array([shape], dtype=np.int64), np.array([total]))


def _halved(kernel: Kernel, table: SearchTable, boxes: Partition, axis: int) -> Partition:
    """Every box that is large enough, cut near its median along one axis."""
    extent = boxes.high[:, axis] - boxes.low[:, axis]
    sigma = NoiseLevel(table.step, one_cell(kernel.unit)).sigma
    searched = (extent > 1) & (boxes.mass >= FEWEST * sigma) & (len(boxes.mass) <= MOST_BOXES // 3)
    low, high, mass = boxes.low[searched], boxes.high[searched], boxes.mass[searched]
    left, right = low[:, axis].copy(), high[:, axis].copy()
    below, above = np.zeros(len(mass)), mass.copy()
    for _ in range(table.bits[axis]):
        open_ = np.flatnonzero(right - left > 1)
        if open_.size == 0:
            break
        middle = (left[open_] + right[open_]) // 2
        ends = high[open_].copy()
        ends[:, axis] = middle
        noisy = kernel.measure(Boxes(table.columns, low[open_], ends), table.step).values
        light = noisy < (1 / 2 - BAND) * mass[open_]
        heavy = noisy > (1 / 2 + BAND) * mass[open_]
        left[open_[~heavy]], below[open_[~heavy]] = middle[~heavy], noisy[~heavy]
        right[open_[~light]], above[open_[~light]] = middle[~light], noisy[~light]
    # One cell is left between the two places: a box of its own if it is heavy, else the nearer place is the cut.
    slim = above - below <= HEAVY * mass
    nearer = slim & (mass / 2 - below <= above - mass / 2)
    right, above = np.where(nearer, left, right), np.where(nearer, below, above)
    left, below = np.where(slim & ~nearer, right, left), np.where(slim & ~nearer, above, below)
    starts, stops = (low[:, axis], left, right), (left, right, high[:, axis])
    parts = [_part(low, high, axis, first, last) for first, last in zip(starts, stops, strict=True)]
    kept = ~searched
    grown = Partition(
        np.concatenate([boxes.low[kept], *(part for part, _ in parts)]),
        np.concatenate([boxes.high[kept], *(part for _, part in parts)]),
        np.concatenate([boxes.mass[kept], below, above - below, mass - above]),
    )
    present = (grown.high > grown.low).all(axis=1)
    return Partition(grown.low[present], grown.high[present], grown.mass[present])


def _part(low: IntArray, high: IntArray, axis: int, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    low, high = low.copy(), high.copy()
    low[:, axis], high[:, axis] = first, last
    return low, high


def _spread(boxes: Partition, mass: Floats, shape: tuple[int, ...]) -> Floats:
    """Each box's mass, evenly over its cells."""
    table = np.zeros(shape)
    share = mass / np.prod(boxes.high - boxes.low, axis=1)
    for low, high, value in zip(boxes.low, boxes.high, share, strict=True):
        table[tuple(slice(first, last) for first, last in zip(low, high, strict=True))] = value
    return table
