"""Boxes of several columns: a coarse grid is counted, and each of its boxes searched from as fine as its rows warrant.

The search (`Crowding`) asks for more rows with each halving. Begun with few large boxes it finds what lies smoothly,
and leaves many rows hidden where they lie in single lines or cells; begun with many small ones it is the other way
round. So one number is asked first (`Unevenness`): how much more rows the fullest part of a small box has than the
emptiest. Where that is no more than chance makes it, each coarse box begins as one; where it is more, with a number of
parts that follows from its noisy count. Where nearly all rows lie in single cells all over the table, nothing is
searched, and every cell is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, Measurement, NoiseLevel
from core.kernel.searches.crowding import Boxed, Crowding, cut_boxes
from core.kernel.searches.uneven import Unevenness
from core.kernel.tables import Boxes
from core.mechanisms.kit.portions import GRAIN
from core.mechanisms.ranges.nested import DECAY, BoxTree, NestedBoxes, parts_of
from core.mechanisms.ranges.stages import Stage
from core.mechanisms.ranges.uneven import part_of
from core.privacy.events import Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain

COARSE_SHARE = 0.3
"""What the coarse boxes get of all counts, of epsilon or rho: without them long rectangles err 4 % more."""
GRID, CUT = {2: 32, 3: 10}, {2: 4, 3: 2}
"""Into how many boxes along each column the table is cut for that one number, and each box into how many parts."""
EXACT, MOST_SHARE = 0.02, Fraction(1, 50)
"""The noise of that number, as a share of all rows, and the most that it gets of all counts."""
TOO_LITTLE = 0.3
"""Nothing is asked where the noise would be more than this share of all rows."""
UNEVEN, CHANCE = 0.2, 0.9
"""Rows are uneven from this share on, if chance alone makes less than nine tenths of it."""
SCATTERED, SPREAD, CROWDED = 0.6, 0.4, 10
"""Rows lie in single cells from this share on; all over the table where so many of the coarse boxes have them; and
counting every cell shows them where a coarse box has on average ten times 1/a rows, a the rate of the search."""
RANGE = 3.5
"""By so many standard deviations the largest of 16 equal counts differs from the smallest, on average."""
WIDE_CUT, MOST_CELLS_AT_ONCE = 4, 8
"""Where every cell is counted: 8 x 8 coarse boxes, 32 x 32, and 256 x 256 cells."""
FINER, POWER = 0.7, 0.5
"""A coarse box of c rows begins with 0.7 (a c)^(1/2) parts, a the rate of the search."""


@dataclass(frozen=True, eq=False)
class Coarse:
    """The coarse boxes, counted, and what is left to count others with."""

    boxes: Boxed
    taken: Measurement
    left: Additive

    @property
    def rows(self) -> Floats:
        return np.maximum(self.taken.values.astype(np.float64), 0.0)

    @property
    def spread(self) -> float:
        """What share of the boxes rows fill: all rows squared over the sum of squares, which is 1 if all have alike."""
        values = self.taken.values.astype(np.float64)
        squares = float((values**2).sum()) - len(values) * self.taken.sigma**2
        return values.sum() ** 2 / squares / len(values) if squares > 0 else 1.0


def find_boxes(kernel: Kernel, stage: Stage) -> NestedBoxes:
    """Coarse boxes, and within them boxes in which rows crowd or do not, or every cell."""
    assert stage.finding is not None
    crowding = stage.crowding(kernel.domain)
    coarse = _count_coarse(kernel, crowding, stage.counting)
    rate = float(crowding.rate(stage.finding.epsilon, kernel.unit))
    uneven, counting = _ask_unevenness(kernel, crowding.columns, coarse)
    scattered = uneven > SCATTERED and coarse.spread > SPREAD and rate * coarse.rows.mean() > CROWDED
    if isinstance(counting, Laplace) and scattered:
        boxed = _down_to_cells(coarse.boxes)
        events = parts_of(Laplace(stage.finding.epsilon + counting.epsilon), DECAY, len(boxed) - 1)
    else:
        begun = _begin(crowding, rate * coarse.rows, uneven > 0)
        boxed, events = kernel.halve(begun, stage.finding), (counting,)
    levels = range(len(boxed) - len(events), len(boxed))
    shape = kernel.domain.shape(stage.columns)
    return NestedBoxes(stage.columns, shape, BoxTree(boxed), dict(zip(levels, events, strict=True)), {0: coarse.taken})


def _count_coarse(kernel: Kernel, crowding: Crowding, counting: Additive) -> Coarse:
    (whole,) = crowding.start(kernel.domain)
    ratio = (1 - COARSE_SHARE) / COARSE_SHARE
    own, left = parts_of(counting, ratio if isinstance(counting, Laplace) else math.sqrt(ratio), 2)
    return Coarse(whole, kernel.measure(Boxes(crowding.columns, whole.low, whole.high), own), left)


def _ask_unevenness(kernel: Kernel, columns: Columns, coarse: Coarse) -> tuple[float, Additive]:
    """What share of all rows the fullest parts of boxes have more than the emptiest; and what is left to count with.

    0 where that is not asked, and where noise or chance may have made it.
    """
    asked = _grid(kernel.domain, columns)
    total = float(coarse.taken.values.sum() if kernel.public_rows is None else kernel.public_rows)
    share = _share(asked, coarse.left, total, kernel.unit)
    if share is None:
        return 0.0, coarse.left
    own = part_of(coarse.left, share)
    told = float(kernel.measure(asked, own).values) / total
    noise = NoiseLevel.of(asked, own, kernel.unit).mean_error / total
    boxes, parts = asked.weights.size, math.prod(map(len, asked.begins)) / asked.weights.size
    chance = RANGE * math.sqrt(boxes / (parts * total))
    uneven = told > max(UNEVEN, CHANCE * chance) + noise
    return (told if uneven else 0.0), part_of(coarse.left, 1 - share)


def _share(asked: Unevenness, counting: Additive, total: float, unit: Unit) -> Fraction | None:
    """What of the counts' part is spent on it: enough for a noise of `EXACT`, but no more than `MOST_SHARE`."""
    power = 1 if isinstance(counting, Laplace) else 2
    noise = NoiseLevel.of(asked, counting, unit).mean_error
    needed = noise / (EXACT * max(total, 1.0))
    most = float(MOST_SHARE) ** (1 / power)
    if total <= 0 or noise / most > TOO_LITTLE * total:
        return None
    return Fraction(max(1, round(GRAIN * min(needed, most) ** power)), GRAIN)


def _grid(domain: Domain, columns: Columns) -> Unevenness:
    """The small boxes, each cut into parts, or into cells where it has fewer."""
    boxes, cut = GRID[len(columns)], CUT[len(columns)]
    begins, firsts = [], []
    for size in domain.shape(columns):
        edges = np.arange(min(boxes, size) + 1) * size // min(boxes, size)
        parts = np.unique(edges[:-1, None] + np.diff(edges)[:, None] * np.arange(cut) // cut)
        begins.append(parts)
        firsts.append(np.searchsorted(parts, edges[:-1]))
    return Unevenness(columns, tuple(begins), tuple(firsts), np.ones(tuple(map(len, firsts)), dtype=np.int64))


def _begin(crowding: Crowding, crowds: Floats, uneven: bool) -> Crowding:
    """The search from coarse boxes with so many rows, in units of 1/a: whole ones, or parts where rows are uneven."""
    if not uneven:
        return replace(crowding, finer=np.ones(len(crowds), dtype=np.int64))
    # Powers of two, as the halves of a box are.
    wanted = np.log2(np.maximum(FINER * crowds**POWER, 1.0)) / len(crowding.columns)
    return replace(crowding, finer=(2 ** np.rint(wanted)).astype(np.int64), depth=0)


def _down_to_cells(whole: Boxed) -> tuple[Boxed, ...]:
    """These boxes, cut into 4 parts along each column while they are wider than 8 cells, then into cells."""
    boxed = [whole]
    while (widest := int((boxed[-1].high - boxed[-1].low).max())) > 1:
        parts = WIDE_CUT if widest > MOST_CELLS_AT_ONCE else widest
        boxed.append(cut_boxes(boxed[-1], np.full(len(boxed[-1].low), parts)))
    return tuple(boxed)
