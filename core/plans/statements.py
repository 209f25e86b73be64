"""What the desk shows its curator: the tables it holds, how far a release is, and what a budget was and is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.ledger.ledger import Account, Dataset, Entry, Override
from core.plans.canonical import canonical
from core.privacy.budget import Budget
from core.privacy.privacy_filter import joined
from core.privacy.remaining import remaining_epsilon
from core.privacy.unit import Unit
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class DeskTable:
    """A table the desk holds, as its curator sees it."""

    id: str
    name: str
    domain: Domain
    unit: Unit
    budget: Budget
    added: str
    notes: Mapping[str, Any]
    """Curator-only facts: rows, cells that did not fit the schema, rows dropped by the limit."""

    @classmethod
    def of(cls, dataset: Dataset, account: Account) -> DeskTable:
        details = json.loads(dataset.details_json)
        return cls(
            id=dataset.id,
            name=dataset.name,
            domain=Domain.from_json(dataset.schema_json),
            unit=Unit.from_json(details.pop("unit")),
            budget=Budget.from_json(json.loads(account.budget_json)),
            added=dataset.created_at,
            notes=details,
        )


def current(dataset: Dataset, account: Account) -> bool:
    """Whether this is a table (not only bought suggestions) and was taken in for the unit that is protected now."""
    details = json.loads(dataset.details_json)
    return "kind" not in details and canonical(details["unit"]) == account.unit_json


def source_of(dataset: Dataset) -> str:
    """The fingerprint of the file that a table was made of: that of the account, unless it shares another's."""
    return str(json.loads(dataset.details_json).get("source", dataset.fingerprint))


@dataclass(frozen=True, kw_only=True)
class KeptApart:
    """Another account that seems to be about the same people, and why it does not pay. Curator-only."""

    name: str
    at: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class RunProgress:
    """How far a release is."""

    state: Literal["unpaid", "running", "stopped", "ended", "done"]
    """Stopped can be finished at no cost; ended cannot, because its noise was drawn already."""
    stage: str = ""
    share: float = 0.0
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a table's budget was and is."""

    budget: Budget
    spent_share: float
    left_epsilon: float
    """Largest epsilon that one more release may have, at the budget's own delta or at none."""
    entries: tuple[Entry, ...]
    """Newest first; `units / total` is an entry's share of the budget as it is now."""
    total: int
    left: int
    """Parts of the total that are not spent."""
    changes: tuple[Override, ...]
    """Every change of the total, with its reason."""
    apart: tuple[KeptApart, ...] = ()

    def part_of_left(self, units: int) -> float:
        """How much of what is left this many parts of the total are."""
        return units / self.left if self.left > 0 else float("inf")

    @classmethod
    def of(
        cls,
        account: Account,
        entries: Sequence[Entry],
        changes: Sequence[Override],
        apart: Sequence[KeptApart] = (),
    ) -> Statement:
        budget, sums = Budget.from_json(json.loads(account.budget_json)), json.loads(account.sums)
        return cls(
            budget=budget,
            spent_share=account.spent / account.total if account.total else 1.0,
            left_epsilon=remaining_epsilon(account.filters, sums, budget.delta),
            entries=tuple(by_present_budget(account, entries)),
            total=account.total,
            left=account.left,
            changes=tuple(changes),
            apart=tuple(apart),
        )


def by_present_budget(account: Account, entries: Sequence[Entry]) -> list[Entry]:
    """Entries of an account, newest first, each with the parts that it takes of the budget as it is now.

    A budget that was changed is divided anew: together they always are what is spent.
    """
    filters, sums, spent, found = account.filters, dict[str, int | None](), 0, list[Entry]()
    for entry in reversed(entries):
        sums = joined(sums, json.loads(entry.counted))
        parts = filters.parts(sums)
        assert parts is not None, "a way covers whatever was paid"
        found.append(replace(entry, units=parts - spent))
        spent = parts
    return found[::-1]
