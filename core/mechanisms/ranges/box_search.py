"""Boxes of several columns: where a search for crowded ones begins, and where every cell is counted instead.

The search (`Crowding`) asks for more rows with each halving. Begun with few large boxes it suits rows that lie
smoothly, and hides many of those that lie in single lines or cells; begun with many small ones it is the other way
round. So one number is asked first (`Unevenness`): how many rows more the fullest part of a small box has than the
emptiest. Where chance may have made it, the search begins with 4 x 4 boxes. Where not, it begins with parts of 8 x 8
coarse boxes, each cut as its noisy count suggests; and where nearly all rows lie in single cells all over the table,
nothing is searched.
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
from core.mechanisms.ranges.stages import PARTS, Stage, count_rows
from core.mechanisms.ranges.uneven import part_of
from core.privacy.events import Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain

COARSE_PARTS, COARSE_SHARE = 8, 0.3
"""In how many parts along each column coarse boxes cut a table, and what they get of all counts, of epsilon or rho:
without them long rectangles err 4 % more."""
GRID, CUT, FEWEST_ROWS = {2: 32, 3: 10}, {2: 4, 3: 2}, 7
"""Into how many boxes along each column the table is cut for that one number, and each box into how many parts; nothing
is asked where a box has less than 7 rows on average, which lie in different parts whatever the table is."""
EXACT, LEAST_SHARE, MOST_SHARE = 0.02, Fraction(1, 300), Fraction(1, 100)
"""The noise of that number, as a share of all rows, and the least and the most that it gets of all counts."""
TOO_LITTLE = 0.3
"""Nothing is asked where the noise would be more than this share of all rows."""
UNEVEN, CHANCE, RANGE = 0.2, 0.9, 3.5
"""Rows are uneven from this share on, or from nine tenths of what chance makes, beside the noise: the largest of 16
equal counts exceeds the smallest by 3.5 of their deviations on average. Of generated tables of 256 x 256 cells, three
smooth ones have .10 to .22 (10,000 rows, where chance makes .28) and .08 to .09 (100,000); round places .19 and .16;
lines .27 to .33; single cells .54 to .92."""
SCATTERED, SPREAD, CROWDED = 0.6, 0.4, 10
"""Rows lie in single cells from this share on; all over the table where so many of the coarse boxes have them; and
counting every cell shows them where a coarse box has on average ten times 1/a rows, a the rate of the search. On three
such tables this errs .77 to .89 of a plain tree, and a search .81 to 1.36; where rows are fewer it is the other way
round, .91 to 1.03 and .75 to .96."""
WIDE_CUT, MOST_CELLS_AT_ONCE = 4, 8
"""Where every cell is counted: 8 x 8 coarse boxes, 32 x 32, and 256 x 256 cells. On the same tables one level more errs
6 % more."""
FINER, POWER = 0.7, 0.5
"""A coarse box of c rows begins with 0.7 (a c)^(1/2) parts. On six tables of lines and cells whole boxes err 9 % more
than factors of 0.5 to 2, which are alike; on four smooth ones factors of 0.5, 1 and 2 err 5, 14 and 29 % more than
whole boxes, which is why it is asked."""


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
    """Boxes in which rows crowd or do not, or every cell, within coarse boxes, which are counted too."""
    rows, counting = count_rows(kernel, stage.counting)
    uneven, counting = _ask_unevenness(kernel, _grid(kernel.domain, stage.columns), float(rows), counting)
    if uneven == 0:
        return _found_evenly(kernel, stage, counting)
    crowding = stage.crowding(kernel.domain, COARSE_PARTS)
    coarse = _count_coarse(kernel, crowding, counting)
    return _found_unevenly(kernel, stage, crowding, coarse, uneven)


def _found_evenly(kernel: Kernel, stage: Stage, counting: Additive) -> NestedBoxes:
    """A search that begins with few boxes; the coarse ones are those after one step."""
    assert stage.finding is not None
    boxed = kernel.halve(stage.crowding(kernel.domain, PARTS), stage.finding)
    tree = BoxTree(boxed[1:] or boxed)
    events = _shared(counting) if tree.levels > 1 else (counting,)
    levels = (0, tree.levels - 1)
    return NestedBoxes(stage.columns, kernel.domain.shape(stage.columns), tree, dict(zip(levels, events, strict=False)))


def _found_unevenly(kernel: Kernel, stage: Stage, crowding: Crowding, coarse: Coarse, uneven: float) -> NestedBoxes:
    """A search that begins with parts of the coarse boxes, or every cell."""
    assert stage.finding is not None
    crowds = float(crowding.rate(stage.finding.epsilon, kernel.unit)) * coarse.rows
    scattered = uneven > SCATTERED and coarse.spread > SPREAD and crowds.mean() > CROWDED
    if scattered and isinstance(coarse.left, Laplace):
        boxed = _down_to_cells(coarse.boxes)
        events = parts_of(Laplace(stage.finding.epsilon + coarse.left.epsilon), DECAY, len(boxed) - 1)
    else:
        # Powers of two, as the halves of a box are.
        parts = 2 ** np.rint(np.log2(np.maximum(FINER * crowds**POWER, 1.0)) / len(stage.columns))
        boxed = kernel.halve(replace(crowding, finer=parts.astype(np.int64)), stage.finding)
        events = (coarse.left,)
    levels = range(len(boxed) - len(events), len(boxed))
    shape = kernel.domain.shape(stage.columns)
    return NestedBoxes(stage.columns, shape, BoxTree(boxed), dict(zip(levels, events, strict=True)), {0: coarse.taken})


def _count_coarse(kernel: Kernel, crowding: Crowding, counting: Additive) -> Coarse:
    (whole,) = crowding.start(kernel.domain)
    own, left = _shared(counting)
    return Coarse(whole, kernel.measure(Boxes(crowding.columns, whole.low, whole.high), own), left)


def _shared(counting: Additive) -> tuple[Additive, ...]:
    """What coarse boxes get of all counts, and what is left."""
    ratio = (1 - COARSE_SHARE) / COARSE_SHARE
    return parts_of(counting, ratio if isinstance(counting, Laplace) else math.sqrt(ratio), 2)


def _ask_unevenness(kernel: Kernel, asked: Unevenness, rows: float, counting: Additive) -> tuple[float, Additive]:
    """What share of all rows the fullest parts of boxes have more than the emptiest; and what is left to count with.

    0 where that is not asked, and where noise or chance may have made it.
    """
    share = _share(asked, counting, rows, kernel.unit)
    if share is None:
        return 0.0, counting
    own = part_of(counting, share)
    told = float(kernel.measure(asked, own).values) / rows
    noise = NoiseLevel.of(asked, own, kernel.unit).mean_error / rows
    boxes, parts = asked.weights.size, math.prod(map(len, asked.begins)) / asked.weights.size
    chance = RANGE * math.sqrt(boxes / (parts * rows))
    uneven = told > max(UNEVEN, CHANCE * chance) + noise
    return (told if uneven else 0.0), part_of(counting, 1 - share)


def _share(asked: Unevenness, counting: Additive, rows: float, unit: Unit) -> Fraction | None:
    """What of the counts' part is spent on it: enough for a noise of `EXACT`, but no more than `MOST_SHARE`."""
    power = 1 if isinstance(counting, Laplace) else 2
    noise = NoiseLevel.of(asked, counting, unit).mean_error
    most = float(MOST_SHARE) ** (1 / power)
    if rows < FEWEST_ROWS * asked.weights.size or noise / most > TOO_LITTLE * rows:
        return None
    wanted = Fraction(round(GRAIN * min(noise / (EXACT * rows), most) ** power), GRAIN)
    return max(wanted, LEAST_SHARE)


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


def _down_to_cells(whole: Boxed) -> tuple[Boxed, ...]:
    """These boxes, cut into 4 parts along each column while they are wider than 8 cells, then into cells."""
    boxed = [whole]
    while (widest := int((boxed[-1].high - boxed[-1].low).max())) > 1:
        parts = WIDE_CUT if widest > MOST_CELLS_AT_ONCE else widest
        boxed.append(cut_boxes(boxed[-1], np.full(len(boxed[-1].low), parts)))
    return tuple(boxed)
