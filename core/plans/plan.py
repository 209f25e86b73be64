"""A plan: everything a release needs, decided before anything is spent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from core.ledger.ledger import Account
from core.mechanisms.kit.protocol import Expected
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.queries.kit.protocol import QueryClass
from core.registry import query_to_json


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A priced choice of queries, mechanism and budget for one table.

    The id is a digest of the content: the same plan, made again in another process or after a restart, is the same
    plan, so it is paid for once and always gives the same release. `edition` asks for a fresh, separately paid one.
    """

    table: str
    queries: tuple[QueryClass, ...]
    mechanism: str
    budget: Budget
    options: Mapping[str, Any] = field(default_factory=dict)
    records: int | None = None
    """Synthetic records to draw; None draws about as many as the table has, as the release itself estimates it."""
    edition: int = 1
    cost: Cost = field(compare=False)
    units: int = field(compare=False)
    expected_error: Expected = field(compare=False)
    priced_for: Account = field(compare=False, repr=False)

    @cached_property
    def content(self) -> str:
        """Canonical JSON of what was chosen; also what the ledger keeps."""
        return canonical({
            "table": self.table,
            "queries": [query_to_json(query) for query in self.queries],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "records": self.records,
            "edition": self.edition,
        })

    @cached_property
    def id(self) -> str:
        return identity(self.content)


def canonical(data: Any) -> str:
    """One spelling of plain data as JSON."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def identity(content: str) -> str:
    """The id of whatever was chosen; the table's id in it is random, so it tells nothing about the table's content."""
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def order_of(account: Account) -> Fraction | None:
    """The order at which an account counts its units; None for pure epsilon."""
    return None if account.order is None else Fraction(account.order)
