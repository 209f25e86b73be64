"""First where rows crowd, then how many there are: how a table's part of the budget is divided, and what is found.

**Privacy** the search is one pure event (`crowding.py`); it tells boxes, which are public from then on. Counts of
blocks made of them are measured with what is left, and so is whether stretches or boxes are uneven (`uneven.py`,
`box_search.py`): of a pure budget in parts that sum to it, chosen after seeing what was told (`allowance.py`); of a
Gaussian one likewise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.searches.crowding import Crowding, depth_of
from core.kernel.tables import TOTAL
from core.mechanisms.kit.portions import divide
from core.mechanisms.ranges.nested import NestedBlocks
from core.mechanisms.ranges.stretches import stretch_blocks
from core.mechanisms.ranges.uneven import Cut, cut_uneven, part_of
from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Gaussian, Laplace, Pure
from core.privacy.unit import Unit
from core.schema.domain import Domain

SMALLEST = {1: 256, 2: 1_024, 3: 1_024}
"""Up to so many cells, by the number of columns, every cell is counted: there is little to find."""
SHARES = {1: 0.16, 2: 0.3, 3: 0.3}
"""What the search gets, in epsilon. Measured on four public histograms and six kinds of generated columns of 2^12 and
2^16 cells: 0.1 errs 3 to 5 % more, 0.2 from 2 % less to 4 % more; of two columns, on two public tables and four
generated ones, 0.25 errs 4 % more and 0.2 12 %."""
GAUSSIAN_SHARES = {1: 0.1, 2: 0.45, 3: 0.45}
"""What it gets of rho where noise is Gaussian: the search is pure, and costs much there. Of two columns, on the same
tables, 0.1 errs 35 % more, 0.2 13 %, and 0.6 10 %."""
PARTS = 4
"""In how many parts along each of several columns the search begins."""
PARTS_BY_ROOT, MOST_PARTS = 0.4, 64
"""A single column begins with so many parts for each root of its rows, counted in the noise of one look: where rows
times epsilon were 10^3, 10^4 and 10^5 the best were 4, 16 and 32 parts, and four times as many or as few err 5 to 15 %
more. Few parts suit columns whose rows all lie in one place."""
NEARLY_ALL = 0.25
"""Where more stretches than this part of the cells are found, every cell is counted: what is hidden in the others costs
up to 10 % more than the noise of counting them."""
ROWS_SHARE = Fraction(1, 100)
"""What of the counts' part tells the number of rows for that, where it is not public."""


@dataclass(frozen=True)
class Stage:
    """What is spent on one table."""

    columns: Columns
    finding: Pure | None
    """None where every cell is counted."""
    counting: Additive
    """All levels together."""
    found: tuple[Additive, ...] = ()
    """The levels, where they are known beforehand."""

    def crowding(self, domain: Domain, parts: int) -> Crowding:
        return Crowding(self.columns, tuple(min(parts, size) for size in domain.shape(self.columns)))

    def most_hidden(self, domain: Domain, unit: Unit) -> float:
        """The most rows of a part that is left whole, of all parts there can be, except in one case of 40."""
        if self.finding is None:
            return 0.0
        crowding = self.crowding(domain, 1 if len(self.columns) == 1 else PARTS)
        depth = depth_of(domain.shape(self.columns), crowding.parts)
        return crowding.most_left(depth, 0.025 / domain.cells(self.columns), self.finding.epsilon, unit)


def divide_stages(weights: dict[Columns, float], budget: Budget, domain: Domain) -> list[Stage]:
    """The parts of the budget: by the weights of the tables, and for each what its search gets."""
    shares = {}
    for columns, weight in weights.items():
        searched = domain.cells(columns) > SMALLEST[len(columns)]
        part = (SHARES if budget.pure else GAUSSIAN_SHARES)[len(columns)] if searched else 0.0
        shares[("count", *columns)] = weight * (1 - part)
        if searched:
            shares[("find", *columns)] = weight * part
    portions = {each.columns: each.event for each in divide(shares, budget, Laplace if budget.pure else Gaussian)}
    return [Stage(columns, _pure(portions.get(("find", *columns))), portions["count", *columns]) for columns in weights]


def _pure(event: Additive | None) -> Pure | None:
    """The search that costs as much as this event, or a little less.

    Randomised response of a small e is no more than Gaussian noise of rho = (pi/4) e^2 (`allowance.py`), and at an
    order less than that.
    """
    if isinstance(event, Gaussian):
        return Pure(max(Fraction(math.floor(math.sqrt(1.27 * float(event.rho)) * 2**40), 2**40), Fraction(1, 2**40)))
    return None if event is None else Pure(event.epsilon)


def searched_stage(domain: Domain, columns: Columns, event: Additive) -> Stage | None:
    """A pure part of a budget divided between the search of one column and its counts; None where nothing is searched.

    Of Gaussian noise the search, which is pure, would take more than it gives.
    """
    if len(columns) > 1 or domain.cells(columns) <= SMALLEST[1] or not isinstance(event, Laplace):
        return None
    share = Fraction(round(SHARES[1] * 100), 100)
    return Stage(columns, Pure(event.epsilon * share), Laplace(event.epsilon * (1 - share)))


def find_stretches(kernel: Kernel, stage: Stage, branching: int, known: float | None = None) -> NestedBlocks:
    """Stretches of one column in which rows crowd or do not, and blocks of them, from coarse to fine.

    Where about how many rows there are is known already, that is not asked again.
    """
    assert stage.finding is not None
    rows, counting = count_rows(kernel, stage.counting) if known is None else (known, stage.counting)
    rate = float(stage.crowding(kernel.domain, 1).rate(stage.finding.epsilon, kernel.unit))
    wanted = PARTS_BY_ROOT * math.sqrt(max(rows, 0) * rate)
    parts = 2 ** round(math.log2(min(max(wanted, 1.0), MOST_PARTS)))
    last = kernel.halve(stage.crowding(kernel.domain, parts), stage.finding)[-1]
    starts, (size,) = last.low[:, 0], kernel.domain.shape(stage.columns)
    if len(starts) > NEARLY_ALL * size:
        return stretch_blocks(stage.columns, np.arange(size), size, counting, branching)
    whole = stretch_blocks(stage.columns, starts, size, counting, branching)
    sigma = whole.noise(kernel.unit)[-1].sigma
    found, counting = cut_uneven(kernel, Cut(stage.columns, starts, size), counting, sigma)
    return stretch_blocks(stage.columns, found, size, counting, branching)


def count_rows(kernel: Kernel, counting: Additive) -> tuple[float, Additive]:
    """About how many rows there are, and what is left to count with."""
    if kernel.public_rows is not None:
        return kernel.public_rows, counting
    own, left = part_of(counting, ROWS_SHARE), part_of(counting, 1 - ROWS_SHARE)
    return int(kernel.measure(TOTAL, own).values), left


def price_of(stages: list[Stage]) -> Cost:
    """What is reserved: where levels depend on what is found, one pure event that all of them are parts of."""
    pure, events = Fraction(0), list[Event]()
    for stage in stages:
        if stage.finding is None:
            events += stage.found
        elif isinstance(stage.counting, Laplace):
            pure += stage.finding.epsilon + stage.counting.epsilon
        else:
            events += (stage.finding, stage.counting)
    return Cost.of([*([Pure(pure)] if pure else []), *events])
