"""A plan: everything a release needs, decided before anything is spent.

A plan is a wish. What it says about its price is what the desk told when it was made; the desk prices it again from its
words when it pays (`pricing.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Expected
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.filters import Amounts
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
    amounts: Amounts = field(compare=False)
    """The price that was told, in each way of the account; a plan that turns out to have another one is refused."""
    units: int = field(compare=False)
    """Parts of the account's total that it would take, as the account was when the plan was made."""
    expected_error: Expected = field(compare=False)

    @cached_property
    def content(self) -> str:
        """Canonical JSON of what was chosen; also what the ledger keeps."""
        return self.written()

    def written(self) -> str:
        """The content from the fields as they are now."""
        return release_content(
            table=self.table,
            queries=self.queries,
            mechanism=self.mechanism,
            budget=self.budget,
            options=self.options,
            records=self.records,
            edition=self.edition,
        )

    @cached_property
    def id(self) -> str:
        return identity(self.content)


def release_content(
    *,
    table: str,
    queries: Sequence[QueryClass],
    mechanism: str,
    budget: Budget,
    options: Mapping[str, Any],
    records: int | None,
    edition: int,
) -> str:
    """The one spelling of a choice of what to release and how."""
    return chosen(
        lambda: {
            "table": table,
            "queries": [query_to_json(query) for query in queries],
            "mechanism": mechanism,
            "budget": budget.to_json(),
            "options": dict(options),
            "records": records,
            "edition": edition,
        }
    )


def chosen(parts: Callable[[], dict[str, Any]]) -> str:
    """Canonical JSON of a plan's parts, or a sentence where one of them is no plain data."""
    try:
        return canonical(parts())
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise BadParameter("plan", "has a part of the wrong kind; make the plan with the desk.") from None


def canonical(data: Any) -> str:
    """One spelling of plain data as JSON."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def identity(content: str) -> str:
    """The id of whatever was chosen; the table's id in it is random, so it tells nothing about the table's content."""
    return hashlib.sha256(content.encode()).hexdigest()[:32]
