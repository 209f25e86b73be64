"""Accounts without a ledger: how much of a budget a cost takes, and whether one more spend is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from core.base.errors import OutOfBudget
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.privacy_filter import Filters, joined


def part_of(budget: Budget, cost: Cost) -> Fraction:
    """Above 1 where an account with this budget would refuse the cost."""
    filters = Filters.of(budget)
    filled = filters.filled(filters.amounts(cost))
    assert filled is not None, "no way counts this cost"
    return filled


@dataclass(frozen=True)
class Spender:
    """The rule of the ledger: a spend is taken if one way covers the sums with it."""

    filters: Filters
    sums: Mapping[str, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, budget: Budget) -> Spender:
        return cls(Filters.of(budget))

    def fits(self, cost: Cost) -> bool:
        return self.filters.used(joined(self.sums, self.filters.amounts(cost))) is not None

    def spend(self, cost: Cost) -> Spender:
        if not self.fits(cost):
            raise OutOfBudget("No way covers this.")
        return replace(self, sums=joined(self.sums, self.filters.amounts(cost)))

    @property
    def used(self) -> Fraction:
        used = self.filters.used(self.sums)
        assert used is not None
        return used
