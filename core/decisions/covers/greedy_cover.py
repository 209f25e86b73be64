"""The thesis' greedy order of sets, in which every set is chosen privately: what both ways to use it share."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import Refused
from core.base.wording import amount, figure
from core.decisions.covers.set_cover import SetCover
from core.decisions.decision import in_turn
from core.kernel.decisions.covering import NOTHING, STEPS, Round
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost, Greedy, Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain

MOST_SETS = 500
MOST_PATIENCE = 2.0**40


@dataclass(frozen=True, kw_only=True)
class GreedyCover(SetCover):
    """Equal private choices of sets, as many as the public sets can ask for at most; no element is covered twice."""

    name: ClassVar[str]

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        if len(self.sets) > MOST_SETS:
            raise Refused(f"'{self.name}' orders at most {amount(MOST_SETS)} sets; use 'set-cover-presence'.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(self.events(domain))

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        rate = float(self.events(domain)[0].epsilon) / unit.l1
        off, chances = math.log(len(self.sets) ** 3) / rate, len(self.sets) ** 2
        return (
            f"Each choice is within {figure(off)} elements of the best one but for one chance in {chances:,}; every "
            "element is covered in any case."
        )

    def events(self, domain: Domain) -> tuple[Greedy, Laplace]:
        """What all choices are paid with, and the estimate."""
        return in_turn(self.budget, self.most(domain))

    def most(self, domain: Domain) -> int:
        """Choices at most."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SetSystem:
    """Public sets with their costs, for some or all elements of a column."""

    inside: NDArray[np.bool_]
    """One line per set, one number per cell of the column."""
    costs: IntArray

    @property
    def elements(self) -> int:
        """As many as there may be at most."""
        return self.inside.shape[1]

    @property
    def ratio(self) -> float:
        return float(self.costs.max() / self.costs.min())

    @property
    def halvings(self) -> int:
        """How often the price is halved, from n until it is below 1/W; never where all costs are alike."""
        return math.ceil(math.log2(self.elements * self.ratio)) + 1 if self.ratio > 1 else 0

    @property
    def most(self) -> int:
        """Choices at most."""
        return max(1, len(self.inside) - 1 + self.halvings)

    def offers(self, there: IntArray, first: int, price: float, rate: float) -> Round:
        """The sets that are left, for a price for their cost; the last candidate halves the price.

        `first` is the place of the system's first set among those of all systems.
        """
        if self.ratio == 1:
            return Round(first + there, np.zeros(len(there), dtype=np.int64))
        offsets = -np.rint(price * self.costs[there] / self.costs.min() * STEPS).astype(np.int64)
        patience = (math.log(len(self.costs)) + math.log1p(math.log(self.elements * self.ratio))) / rate
        halve = -round(min(patience, MOST_PATIENCE) * STEPS)
        return Round(np.append(first + there, NOTHING), np.append(offsets, halve))


def private_order(
    kernel: Kernel, system: SetSystem, first: int, rate: float, progress: Progress = silent
) -> Generator[Round, int, tuple[int, ...]]:
    """All sets of a system, one after the other by private choices: algorithm 5, or 6 where costs differ."""
    there, order = np.arange(len(system.inside)), list[int]()
    price, halvings = float(system.elements), system.halvings
    while len(there) > 1:
        if halvings == 0 and system.ratio > 1:
            there = kernel.generator().permutation(there)
            break
        chosen = yield system.offers(there, first, price, rate)
        if chosen == len(there):
            price, halvings = price / 2, halvings - 1
            continue
        order.append(int(there[chosen]))
        there = np.delete(there, chosen)
        progress("Choosing sets", len(order) / len(system.inside))
    return (*order, *there.tolist())
