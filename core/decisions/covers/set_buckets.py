"""Weighted set cover by private choices among all orders of each class of cost: the thesis' way for a few sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import Refused
from core.base.wording import figure
from core.decisions.covers.set_cover import SetCover
from core.decisions.decision import FAILURE, Decided, choices
from core.kernel.decisions.best_rules import STEPS, BestRules
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.decisions.decision_bounds import bucket_cover_ratio, bucket_cover_surplus

MOST_ORDERED = 6
"""Sets of which all orders, each with every bucket, are compared: at most 5,040."""


@dataclass(frozen=True)
class Arranged:
    """An order of sets: those in the bucket first, then the others; classes of cost come in turn."""

    bucket: tuple[int, ...] = ()
    rest: tuple[int, ...] = ()

    def extended(self, order: tuple[int, ...], kept: int) -> Arranged:
        """With a cheaper class: some of it join the bucket, the others come before all dearer ones that did not."""
        return Arranged(self.bucket + order[:kept], order[kept:] + self.rest)

    @property
    def order(self) -> tuple[int, ...]:
        return self.bucket + self.rest


@dataclass(frozen=True, kw_only=True)
class SetBuckets(SetCover):
    """Order the sets class by class of cost, the dearest first, each by one choice among all orders of the class.

    With its order a class gets a bucket: its first sets, which come before all cheaper ones and are paid for in any
    case. The other sets come after all cheaper ones. An order and a bucket are chosen by what the best way to go on
    would cost, less 2 ln m for every set in the bucket, on the scale of the choice.

    **Privacy** one choice for each class. Costs are powers of 2 here, those of a class equal. An element of which every
    set is dearer than a class is covered by the same set whatever is chosen for it and after it, and no other element
    is covered by that set where this could be otherwise; so these elements are left out. Of the others each adds at
    most the cost of one set of the class (`BestRules`). The choices add up.

    **Accuracy** costs rounded up to powers of 2, at most 2 (1 + 3 unit.l1 ln m/epsilon') OPT + 4 W unit.l1
    ln(classes/beta)/epsilon' with probability 1 - beta, epsilon' that of one choice and W the largest cost.

    **Runtime** O(rules x elements), with up to 5,040 rules: 6 sets.

    Theorem: T 7.7.5 with observation 61 and lemma 23. The thesis adds the losses of an element up to 8 epsilon over any
    number of classes; for the few classes that 6 sets have, plain composition is less.
    """

    name: ClassVar[str] = "set-cover-buckets"
    title: ClassVar[str] = "Orders chosen class by class of cost"
    known_as: ClassVar[tuple[str, ...]] = ("exponential mechanism", "weighted set cover without limits on time")
    prefer: ClassVar[str] = (
        "Choose it to see the thesis' promise for up to 6 sets with different costs; one choice among all orders "
        "mostly costs less."
    )
    for_study: ClassVar[bool] = True

    def check(self, domain: Domain, unit: Unit) -> None:
        super().check(domain, unit)
        if len(self.sets) > MOST_ORDERED:
            raise Refused(f"'set-cover-buckets' compares orders of at most {MOST_ORDERED} sets.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        count = len(self.classes())
        choosing, estimating = choices(self.budget, count)
        return Cost.of([choosing] * count + [estimating])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        classes = self.classes()
        rate = float(choices(self.budget, len(classes))[0].epsilon) / unit.l1
        ratio = bucket_cover_ratio(len(self.sets), rate)
        surplus = bucket_cover_surplus(int(self.cost_of().max()), len(classes), rate, FAILURE)
        return (
            f"At most {figure(ratio)} times the smallest cover plus {figure(surplus)}, {100 * (1 - FAILURE):.0f} % of "
            "the time."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        classes = self.classes()
        choosing, estimating = choices(self.budget, len(classes))
        arranged = Arranged()
        for step in range(len(classes)):
            progress("Comparing orders", step / len(classes))
            candidates = list(_arrangements(arranged, classes[step]))
            asked = self.rules(kernel.domain, kernel.unit, arranged, step, float(choosing.epsilon))
            arranged = candidates[kernel.choose(asked, choosing)]
        return self._ordered(kernel, arranged.order, estimating)

    def classes(self) -> list[tuple[int, ...]]:
        """Sets of equal rounded cost, the dearest first."""
        rounded = self.rounded()
        return [tuple(np.flatnonzero(rounded == each).tolist()) for each in np.unique(rounded)[::-1]]

    def rounded(self) -> IntArray:
        """Costs rounded up to the largest one over a power of 2, in units of the smallest of these."""
        costs = self.cost_of()
        halvings = np.array([math.floor(math.log2(int(costs.max()) / int(each))) for each in costs], dtype=np.int64)
        return np.asarray(2 ** (halvings.max() - halvings))

    def rules(self, domain: Domain, unit: Unit, before: Arranged, step: int, epsilon: float) -> BestRules:
        """All ways to go on after each candidate for a class, with what their buckets cost and how likely they are."""
        inside, costs, classes = self.inside(domain), self.rounded(), self.classes()
        decided = inside[[place for each in classes[step:] for place in each]].any(axis=0)
        span = unit.l1 * STEPS * int(costs[classes[step][0]])
        rules, offsets, groups = [], [], []
        for group, candidate in enumerate(_arrangements(before, classes[step])):
            joined = len(candidate.bucket) - len(before.bucket)
            likely = 2 * joined * math.log(len(inside)) * span / epsilon
            for complete in _complete(candidate, classes[step + 1 :]):
                rules.append(_rule(inside & decided, complete))
                bucket = complete.bucket[len(before.bucket) :]
                offsets.append(-round(likely) - STEPS * int(costs[list(bucket)].sum()))
                groups.append(group)
        return BestRules((self.column,), np.stack(rules), costs, np.array(offsets), np.array(groups))


def _arrangements(before: Arranged, sets: tuple[int, ...]) -> Iterator[Arranged]:
    """Every order of a class with every bucket."""
    for order in permutations(sets):
        for kept in range(len(sets) + 1):
            yield before.extended(order, kept)


def _complete(arranged: Arranged, classes: list[tuple[int, ...]]) -> Iterator[Arranged]:
    """Every way to go on with the classes that are left."""
    if not classes:
        yield arranged
        return
    for longer in _arrangements(arranged, classes[0]):
        yield from _complete(longer, classes[1:])


def _rule(inside: NDArray[np.bool_], arranged: Arranged) -> IntArray:
    """For every element the first set that holds it; -1 where that is in the bucket, which is paid for, or none is."""
    found = np.full(inside.shape[1], -1, dtype=np.int64)
    for place in reversed(arranged.order):
        found = np.where(inside[place], -1 if place in arranged.bucket else place, found)
    return found
