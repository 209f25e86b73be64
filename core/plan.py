"""A plan: everything a release needs, decided before anything is spent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.ledger import Account
from core.mechanisms.protocol import Expected
from core.privacy import Budget, Cost
from core.queries.protocol import QueryClass
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
        chosen = {
            "table": self.table,
            "queries": [query_to_json(query) for query in self.queries],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "records": self.records,
            "edition": self.edition,
        }
        return json.dumps(chosen, sort_keys=True, separators=(",", ":"))

    @cached_property
    def id(self) -> str:
        # The table's id in it is random, so the digest tells nothing about the table's content.
        return hashlib.sha256(self.content.encode()).hexdigest()[:32]
