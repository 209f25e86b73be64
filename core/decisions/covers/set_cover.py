"""Sets in an order that covers every element by the first set that holds it: what both ways to order share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Floats, IntArray
from core.base.errors import BadParameter, Refused, printable
from core.base.options import check_options, option
from core.base.wording import amount
from core.decisions.covers.vertex_cover import read_costs
from core.decisions.decision import Decided, measured
from core.kernel.decisions.covers import CoverCost
from core.kernel.kernel import Kernel
from core.privacy.budget import Budget
from core.privacy.events import Laplace
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

MOST_MEMBERS = 2**23
"""Sets times elements."""
ORDERED = (
    "An order, not a cover: every element finds in it the first set that holds it, and nobody learns which elements "
    "must be covered."
)


@dataclass(frozen=True, kw_only=True)
class SetCover:
    """Sets with their members, and a column whose values are the elements; a row says that its element counts."""

    problem: ClassVar[str] = "set-cover"

    budget: Budget
    members: tuple[tuple[str, str], ...] = option(
        "lines", "Sets and their members", choices=("set", "element"), help="Public; one line for each member of a set."
    )
    column: str = option(
        "column",
        "Column of elements",
        only="categories",
        help="Its values are the elements; those in some row must be covered.",
    )
    costs: tuple[tuple[str, int], ...] = option(
        "lines",
        "Costs of sets",
        default=(),
        choices=("set", "cost"),
        help="Public; a set that is not listed costs 1.",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", _members(self.members))
        object.__setattr__(self, "costs", read_costs(self.costs, "costs"))
        check_options(self)
        limits.column(self.column)

    @cached_property
    def sets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.members))

    def check(self, domain: Domain, unit: Unit) -> None:
        self.inside(domain)
        self.cost_of()

    def cost_of(self) -> IntArray:
        known = dict(self.costs)
        for name in known:
            if name not in self.sets:
                raise BadParameter("costs", f"'{printable(name)}' is no set.")
        return np.array([known.get(name, 1) for name in self.sets], dtype=np.int64)

    def inside(self, domain: Domain) -> NDArray[np.bool_]:
        """Which set holds which element: one line per set, one number per cell of the column."""
        attribute, names = domain[self.column], self.sets
        if attribute.size * len(names) > MOST_MEMBERS:
            raise Refused(f"There are more than {amount(MOST_MEMBERS)} pairs of a set and an element.")
        places = {attribute.label(code): code for code in range(attribute.regular)}
        rows = {name: row for row, name in enumerate(names)}
        found = np.zeros((len(names), attribute.size), dtype=bool)
        for name, element in self.members:
            if element not in places:
                raise BadParameter("members", f"'{printable(element)}' is no value of '{printable(self.column)}'.")
            found[rows[name], places[element]] = True
        held = np.asarray(found.any(axis=0))[: attribute.regular]
        if not held.all():
            label = attribute.label(int(np.argmin(held)))
            raise BadParameter("members", f"'{printable(label)}' is in no set, so nothing could cover it.")
        return found

    def misfits(self, counts: Counts) -> dict[str, int]:
        """Rows that name no element, and elements that are named already; exact."""
        table = np.asarray(counts.marginal((self.column,)))
        named = table[: counts.domain[self.column].regular]
        return {
            "without an element, which are left out": int(table.sum() - named.sum()),
            "that repeat an element, which count once": int((named - np.minimum(named, 1)).sum()),
        }

    def value(self, decided: Decided, counts: Counts) -> float:
        """What the sets in use cost."""
        inside = self.inside(counts.domain)
        covered = covered_by(inside, self._order(decided))
        there = (counts.marginal((self.column,)) > 0) & (covered >= 0)
        return float(self.cost_of()[np.unique(covered[there])].sum())

    def best(self, counts: Counts) -> float:
        """Greedy, which is what polynomial time can promise."""
        inside, costs = self.inside(counts.domain), self.cost_of()
        there = (counts.marginal((self.column,)) > 0).astype(np.float64)
        covered = covered_by(inside, greedy_sets(inside, there, costs))
        return float(costs[np.unique(covered[(there > 0) & (covered >= 0)])].sum())

    def _order(self, decided: Decided) -> tuple[int, ...]:
        places = {name: place for place, name in enumerate(self.sets)}
        return tuple(places[line["set"]] for line in decided.lines)

    def _ordered(self, kernel: Kernel, order: tuple[int, ...], event: Laplace) -> Decided:
        inside, costs = self.inside(kernel.domain), self.cost_of()
        asked = CoverCost((self.column,), covered_by(inside, order), costs)
        estimate = measured(kernel, asked, event, "Cost of the sets in use")
        lines = tuple(
            {"place": place + 1, "set": self.sets[chosen], "cost": int(costs[chosen])}
            for place, chosen in enumerate(order)
        )
        return Decided(sentence=ORDERED, lines=lines, facts={"column": self.column}, estimate=estimate)


def _members(lines: Any) -> tuple[tuple[str, str], ...]:
    found = []
    for line in lines if isinstance(lines, list | tuple) else ():
        if not isinstance(line, list | tuple) or len(line) != 2 or not all(str(part).strip() for part in line):
            raise BadParameter("members", "each line needs a set and one of its elements.")
        found.append((str(line[0]), str(line[1])))
    if not found:
        raise BadParameter("members", "list every set with its elements, one line each.")
    return tuple(dict.fromkeys(found))


def covered_by(inside: NDArray[np.bool_], order: tuple[int, ...]) -> IntArray:
    """For every element the first set of an order that holds it; -1 where none does."""
    places = np.argmax(inside[list(order)], axis=0)
    return np.where(inside.any(axis=0), np.array(order, dtype=np.int64)[places], -1)


def greedy_sets(inside: NDArray[np.bool_], worth: Floats, costs: IntArray) -> tuple[int, ...]:
    """All sets, each time the one that covers the most of what is left for its cost."""
    gains, left = inside @ worth, worth.copy()
    there, order = np.ones(len(inside), dtype=bool), list[int]()
    for _ in range(len(inside)):
        chosen = int(np.argmax(np.where(there, gains / costs, -np.inf)))
        order.append(chosen)
        there[chosen] = False
        gone = np.where(inside[chosen], left, 0.0)
        gains, left = gains - inside @ gone, left - gone
    return tuple(order)
